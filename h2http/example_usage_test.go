package h2http_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
)

// exampleServer is a server in cleartext for the examples.
func exampleServer(handler http.HandlerFunc) *httptest.Server {
	server := httptest.NewUnstartedServer(handler)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	return server
}

// A halfway strategy keeps both windows at a size and grants when half of a window has been read.
type halfway struct{ size int64 }

func (h halfway) New() flow.Strategy { return h }
func (h halfway) String() string     { return "halfway" }

func (h halfway) Open(time.Time) flow.Windows { return flow.Windows{Stream: h.size, Conn: 2 * h.size} }
func (h halfway) Deadline() time.Time         { return time.Time{} }

func (h halfway) Decide(_ time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	if n := ev.StreamWindow.Due(h.size); ev.Kind == flow.Consumed && n >= h.size/2 {
		dst = append(dst, flow.GrantStream(ev.Stream, n))
	}
	if n := ev.ConnWindow.Due(2 * h.size); n >= h.size {
		dst = append(dst, flow.GrantConn(n))
	}
	return dst
}

// Flow control of one's own: a type that decides each WINDOW_UPDATE. Try it with flow/flowtest before you use it.
func ExampleTransport_customStrategy() {
	server := exampleServer(func(w http.ResponseWriter, r *http.Request) { w.Write(make([]byte, 10<<20)) })
	defer server.Close()

	transport := &h2http.Transport{AllowHTTP: true, Flow: halfway{size: 1 << 20}}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	fmt.Println(n, err)
	// Output: 10485760 <nil>
}

// youngest prefers the connection that was made last.
type youngest struct{}

func (youngest) Choose(h h2http.HostState) h2http.Choice {
	for i := len(h.Conns) - 1; i >= 0; i-- {
		if h.Conns[i].Room > 0 {
			return h2http.Choice(i)
		}
	}
	return h2http.Dial
}

// A policy of one's own chooses the connection of each request; the fields of the Transport limit it.
func ExamplePolicy() {
	server := exampleServer(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") })
	defer server.Close()

	transport := &h2http.Transport{
		AllowHTTP:       true,
		Policy:          youngest{}, // or h2http.MostConns{Conns: 4}
		MaxConnsPerHost: 4,
		MaxConnAge:      10 * time.Minute,
	}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	resp.Body.Close()
	host := transport.Stats().Hosts[0]
	fmt.Println(resp.Status, len(host.Conns), "connection,", host.Waited, "requests had to wait")
	// Output: 200 OK 1 connection, 0 requests had to wait
}

// A pool of one's own: connections are made, counted, and used one by one.
func ExampleClientConn() {
	server := exampleServer(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") })
	defer server.Close()

	transport := &h2http.Transport{AllowHTTP: true}
	conn, err := transport.NewClientConn(context.Background(), "http", server.Listener.Addr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	if err := conn.Reserve(); err != nil { // a place that nobody else gets
		fmt.Println(err)
		return
	}
	req, err := http.NewRequest("GET", server.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	resp, err := conn.RoundTrip(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Println(string(body), err, conn.Err())
	// Output: hello <nil> <nil>
}

// An upload can be sent again if GetBody is set, which http.NewRequest does for buffers and strings.
func ExampleTransport_upload() {
	server := exampleServer(func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n, " ", r.ContentLength, " ", err)
	})
	defer server.Close()

	transport := &h2http.Transport{
		AllowHTTP:       true,
		WriteBufferSize: 256 << 10, // many frames a write make a fast path cheaper
	}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Post(server.URL, "application/octet-stream",
		bytes.NewReader(make([]byte, 1<<20)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Println(string(body), err)
	// Output: 1048576 1048576 <nil> <nil>
}

// Trailers both ways: those of the request are announced, and filled in when its body has ended; those of the response
// are there when its body has ended.
func ExampleTransport_trailers() {
	server := exampleServer(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Checked")
		io.Copy(w, r.Body)
		w.Header().Set("X-Checked", r.Trailer.Get("X-Sum"))
	})
	defer server.Close()

	transport := &h2http.Transport{AllowHTTP: true}
	defer transport.CloseIdleConnections()
	sum := sha256.New()
	req, err := http.NewRequest("POST", server.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	req.Trailer = http.Header{"X-Sum": nil}
	req.Body = io.NopCloser(io.MultiReader(io.TeeReader(strings.NewReader("hello"), sum), whenRead(func() {
		req.Trailer.Set("X-Sum", hex.EncodeToString(sum.Sum(nil))[:8])
	})))
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Println(string(body), err, resp.Trailer.Get("X-Checked"))
	// Output: hello <nil> 2cf24dba
}

// whenRead is a reader that is empty, and calls a function when that is found out.
type whenRead func()

func (f whenRead) Read([]byte) (int, error) { f(); return 0, io.EOF }

// What happens can be seen request by request with net/http/httptrace, and connection by connection with OnEvent; see
// package trace for log/slog and qlog.
func ExampleTransport_tracing() {
	server := exampleServer(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") })
	defer server.Close()

	var mu sync.Mutex
	var heads []int
	transport := &h2http.Transport{
		AllowHTTP: true,
		OnEvent: func(ev h2flow.Event) { // called from several goroutines
			if ev.Kind == h2flow.StreamHead {
				mu.Lock()
				defer mu.Unlock()
				heads = append(heads, ev.Status)
			}
		},
	}
	defer transport.CloseIdleConnections()
	ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) { fmt.Println("reused:", i.Reused) },
	})
	for range 2 {
		req, err := http.NewRequestWithContext(ctx, "GET", server.URL, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		resp, err := transport.RoundTrip(req)
		if err != nil {
			fmt.Println(err)
			return
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	mu.Lock()
	defer mu.Unlock()
	fmt.Println("heads:", heads)
	// Output:
	// reused: false
	// reused: true
	// heads: [200 200]
}

// WebSocket over HTTP/2 (RFC 8441), up to the messages, which are for a package about them: the tunnel is a net.Conn.
func ExampleTransport_OpenTunnel() {
	server := webSocketEcho()

	transport := &h2http.Transport{AllowHTTP: true, DialContext: server}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequest(http.MethodConnect, "http://a.example/chat", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	req.Header[":protocol"] = []string{"websocket"}
	req.Header.Set("Sec-WebSocket-Version", "13")
	conn, err := transport.OpenTunnel(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	fmt.Fprint(conn, "hello")
	buf := make([]byte, 5)
	_, err = io.ReadFull(conn, buf)
	fmt.Println(string(buf), err)
	// Output: hello <nil>
}

// webSocketEcho is a server that allows other protocols and sends everything back.
func webSocketEcho() func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		peer.Serve(server, peer.HPACK, func(s *peer.Server) {
			s.Ignore = peer.IgnoreWindowUpdates
			s.Greet(frame.Setting{ID: frame.SettingEnableConnectProtocol, Value: 1})
			h := s.WantHeaders("CONNECT")
			s.Send(peer.Headers{Stream: h.Stream, Fields: []frame.Field{{Name: ":status", Value: "200"}}})
			for {
				switch v := s.Read().(type) {
				case frame.Data:
					s.Send(frame.Data{Stream: v.Stream, Data: v.Data, EndStream: v.EndStream})
				case frame.GoAway:
					return
				}
			}
		})
		return client, nil
	}
}
