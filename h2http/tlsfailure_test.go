package h2http_test

import (
	"strings"
	"testing"

	"example.com/h2flow/h2http"
)

// TestAFailedHandshakeSaysThatItIsOne: a server that does not speak TLS drops the connection, and "EOF" or "connection
// reset by peer" alone would leave the user guessing.
func TestAFailedHandshakeSaysThatItIsOne(t *testing.T) {
	l := listen(t)
	go func() {
		if nc, err := l.Accept(); err == nil {
			nc.Read(make([]byte, 1)) // it has begun
			nc.Close()
		}
	}()
	_, err := (&h2http.Transport{}).RoundTrip(newRequest(t, "GET", "https://"+l.Addr().String()+"/", nil))
	if err == nil || !strings.Contains(err.Error(), "TLS handshake with "+l.Addr().String()) {
		t.Errorf("error %v", err)
	}
}
