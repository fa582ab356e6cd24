package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"example.com/h2flow/cmd/h2flow/cli"
	"example.com/h2flow/flow"
	"example.com/h2flow/strategy"
)

// mine is a strategy of somebody else: a window of 1 MiB under another name.
type mine struct{ flow.Config }

func (mine) String() string { return "mine" }

// A program of your own has every verb for a strategy of your own.
func ExampleMain() {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "hello over "+r.Proto+"\n")
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()

	own := mine{strategy.Fixed{Stream: 1 << 20, Conn: 1 << 20}}
	status := cli.Main([]string{"get", "--strategy", "mine", server.URL}, own)
	fmt.Println("status", status)
	// Output:
	// hello over HTTP/2.0
	// status 0
}
