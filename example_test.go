package h2flow_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"example.com/h2flow"
	"example.com/h2flow/strategy"
)

// A request and its response over one connection, without net/http on the client's side.
func Example() {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(w, r.Body)
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()

	ctx := context.Background()
	c, err := h2flow.DialCleartext(ctx, server.Listener.Addr().String(), &h2flow.Config{Flow: strategy.Threshold{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	s, err := c.OpenStream(ctx, &h2flow.Request{
		Method: "POST", Scheme: "http", Authority: "localhost", Path: "/",
		Header: []h2flow.Field{{Name: "content-type", Value: "text/plain"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	io.WriteString(s, "hello, stream")
	s.CloseWrite()

	head, err := s.ReadHead()
	if err != nil {
		fmt.Println(err)
		return
	}
	body, err := io.ReadAll(s)
	fmt.Println(head.Status, string(body), err)
	// Output: 200 hello, stream <nil>
}
