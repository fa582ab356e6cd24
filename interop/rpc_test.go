package interop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"example.com/h2flow/h2http"
)

// The service that is called: Say answers a text with itself, Chat each of many, and texts that are "fail" with an error.
const (
	sayProcedure  = "/interop.Echo/Say"
	chatProcedure = "/interop.Echo/Chat"
)

type text = wrapperspb.StringValue

// rpcProtocols are the three that connect's clients speak.
var rpcProtocols = []struct {
	name    string
	options []connect.ClientOption
}{
	{name: "connect"},
	{name: "grpc", options: []connect.ClientOption{connect.WithGRPC()}},
	{name: "grpc-web", options: []connect.ClientOption{connect.WithGRPCWeb()}},
}

// connect's clients work over our Transport with connect's own server, over TLS and in cleartext.
func TestConnect(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle(sayProcedure, connect.NewUnaryHandler(sayProcedure,
		func(_ context.Context, req *connect.Request[text]) (*connect.Response[text], error) {
			if req.Msg.Value == "fail" {
				return nil, connect.NewError(connect.CodeNotFound, errors.New("as asked"))
			}
			return connect.NewResponse(req.Msg), nil
		}))
	mux.Handle(chatProcedure, connect.NewBidiStreamHandler(chatProcedure,
		func(_ context.Context, stream *connect.BidiStream[text, text]) error {
			for {
				msg, err := stream.Receive()
				switch {
				case errors.Is(err, io.EOF):
					return nil
				case err != nil:
					return err
				case msg.Value == "fail":
					return connect.NewError(connect.CodeNotFound, errors.New("as asked"))
				}
				if err := stream.Send(msg); err != nil {
					return err
				}
			}
		}))
	secure := httptest.NewUnstartedServer(mux)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	t.Cleanup(secure.Close)
	cleartext := httptest.NewUnstartedServer(mux)
	cleartext.Config.Protocols = new(http.Protocols)
	cleartext.Config.Protocols.SetUnencryptedHTTP2(true)
	cleartext.Start()
	t.Cleanup(cleartext.Close)
	for _, server := range []*httptest.Server{secure, cleartext} {
		transport := &h2http.Transport{AllowHTTP: true}
		if tr, ok := server.Client().Transport.(*http.Transport); ok && server.TLS != nil {
			transport.TLSClientConfig = tr.TLSClientConfig
		}
		t.Cleanup(transport.CloseIdleConnections)
		for _, p := range rpcProtocols {
			t.Run(server.URL[:5]+p.name, func(t *testing.T) {
				testRPC(t, &http.Client{Transport: transport}, server.URL, p.options)
			})
		}
	}
}

// connect's gRPC client works over our Transport with grpc-go's server, which strikes those who send too many PINGs.
func TestGRPCServer(t *testing.T) {
	server := grpc.NewServer()
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "interop.Echo",
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{
			MethodName: "Say",
			Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				msg := new(text)
				if err := decode(msg); err != nil {
					return nil, err
				}
				if msg.Value == "fail" {
					return nil, status.Error(codes.NotFound, "as asked")
				}
				return msg, nil
			},
		}},
		Streams: []grpc.StreamDesc{{StreamName: "Chat", ServerStreams: true, ClientStreams: true, Handler: grpcChat}},
	}, nil)
	l := listen(t)
	go server.Serve(l)
	t.Cleanup(server.Stop)
	transport := &h2http.Transport{AllowHTTP: true}
	t.Cleanup(transport.CloseIdleConnections)
	testRPC(t, &http.Client{Transport: transport}, "http://"+l.Addr().String(), []connect.ClientOption{connect.WithGRPC()})
}

// grpcChat is Chat for grpc-go.
func grpcChat(_ any, stream grpc.ServerStream) error {
	for {
		msg := new(text)
		switch err := stream.RecvMsg(msg); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case msg.Value == "fail":
			return status.Error(codes.NotFound, "as asked")
		}
		if err := stream.SendMsg(msg); err != nil {
			return err
		}
	}
}

// testRPC makes calls of each kind that the protocols differ in.
func testRPC(t *testing.T, client *http.Client, url string, options []connect.ClientOption) {
	ctx, cancel := context.WithTimeout(t.Context(), transferTimeout)
	defer cancel()
	say := connect.NewClient[text, text](client, url+sayProcedure, options...)
	for _, size := range []int{0, 10, 2 << 20} {
		want := fmt.Sprintf("%x", octets(size/2, 3))
		resp, err := say.CallUnary(ctx, connect.NewRequest(wrapperspb.String(want)))
		if err != nil {
			t.Fatal(err)
		}
		if resp.Msg.Value != want {
			t.Errorf("%d octets came back of %d, or others", len(resp.Msg.Value), len(want))
		}
	}
	if _, err := say.CallUnary(ctx, connect.NewRequest(wrapperspb.String("fail"))); connect.CodeOf(err) != connect.CodeNotFound {
		t.Errorf("error %v, want not_found", err)
	}
	testChat(t, connect.NewClient[text, text](client, url+chatProcedure, options...).CallBidiStream(ctx))
	failing := connect.NewClient[text, text](client, url+chatProcedure, options...).CallBidiStream(ctx)
	if err := failing.Send(wrapperspb.String("fail")); err != nil {
		t.Error(err)
	}
	if _, err := failing.Receive(); connect.CodeOf(err) != connect.CodeNotFound {
		t.Errorf("error %v, want not_found", err)
	}
	failing.CloseResponse()
}

// testChat sends each message only when the last was answered, so both directions must be open at once.
func testChat(t *testing.T, chat *connect.BidiStreamForClient[text, text]) {
	for i := range 100 {
		want := fmt.Sprint("message ", i)
		if err := chat.Send(wrapperspb.String(want)); err != nil {
			t.Fatal(err)
		}
		got, err := chat.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if got.Value != want {
			t.Errorf("got %q, want %q", got.Value, want)
		}
	}
	if err := chat.CloseRequest(); err != nil {
		t.Error(err)
	}
	if _, err := chat.Receive(); !errors.Is(err, io.EOF) {
		t.Errorf("error %v after the end, want EOF", err)
	}
	if err := chat.CloseResponse(); err != nil {
		t.Error(err)
	}
}
