package h2flow_test

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"

	h2flow "example.com/h2flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/internal/rows"
)

// In cleartext the connection preface comes first: no request of HTTP/1.1 asks for an upgrade.
func TestCleartextBeginsWithThePreface(t *testing.T) {
	rows.Cover(t, "9113-3.3-2", "9113-3.4-1", "9113-3.4-2")
	client, server := net.Pipe()
	defer server.Close()
	octets := make(chan string, 1)
	go func() {
		buf := make([]byte, len(frame.ClientPreface)+frame.HeaderLen)
		if _, err := io.ReadFull(server, buf); err != nil {
			t.Error(err)
		}
		octets <- string(buf)
		_, _ = io.Copy(io.Discard, server)
	}()
	cc, err := h2flow.DialCleartext(t.Context(), "a.example:80", &h2flow.Config{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return client, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer cc.Close()
	got := <-octets
	rest, ok := strings.CutPrefix(got, frame.ClientPreface)
	h, _ := frame.ParseHeader([]byte(rest))
	if !ok || h.Type != frame.TypeSettings || h.Flags != 0 || h.Stream != 0 {
		t.Errorf("the first octets are %q", got)
	}
}
