package h2http_test

import (
	"context"
	"net"
	"testing"

	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
)

// TestHostsOutsideASCIIAreSentInPunycode, and dialled so; a host that differs from the URL's is mapped on its own.
//
// Contract: R5b.
func TestHostsOutsideASCIIAreSentInPunycode(t *testing.T) {
	tests := []struct{ name, url, host, authority, dialled string }{
		{"URL", "http://bücher.example:8080/", "", "xn--bcher-kva.example:8080", "xn--bcher-kva.example:8080"},
		{"upper case and wide dots", "http://BÜCHER。example/", "", "xn--bcher-kva.example", "xn--bcher-kva.example:80"},
		{"Host", "http://a.example/", "日本語.example", "xn--wgv71a119e.example", "a.example:80"},
		{"both", "http://bücher.example/", "münchen.example:1", "xn--mnchen-3ya.example:1", "xn--bcher-kva.example:80"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
					if got := value(h, ":authority"); got != tt.authority {
						s.Fail(":authority %s, want %s", got, tt.authority)
					}
					s.Send(answer(h.Stream, "200"))
				}))
				dial := tr.DialContext
				tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
					if addr != tt.dialled {
						t.Errorf("dial of %s, want %s", addr, tt.dialled)
					}
					return dial(ctx, network, addr)
				}
				req := newRequest(t, "GET", tt.url, nil)
				if tt.host != "" {
					req.Host = tt.host
				}
				if got := exchange(tr, req); got != "200 OK" {
					t.Error(got)
				}
			})
		})
	}
}
