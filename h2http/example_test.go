package h2http_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"example.com/h2flow/h2http"
	"example.com/h2flow/strategy"
)

// A Transport goes into an http.Client like any other; what it adds is the choice of the flow control.
func ExampleTransport() {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "hello over %s", r.Proto)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()

	transport := &h2http.Transport{
		Flow:            strategy.Threshold{},
		TLSClientConfig: server.Client().Transport.(*http.Transport).TLSClientConfig,
	}
	defer transport.CloseIdleConnections()

	client := &http.Client{Transport: transport}
	resp, err := client.Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Println(resp.Status, string(body), err)
	// Output: 200 OK hello over HTTP/2.0 <nil>
}
