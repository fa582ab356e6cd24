package peers_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/flow"
	"example.com/h2flow/strategy"
	"example.com/h2flow/strategy/peers"
)

// What String writes is what Parse reads; every model alone is written as its name.
func TestParseReadsWhatStringWrites(t *testing.T) {
	specs := append(peers.Names(),
		"peer:nethttp:stream=65535:conn=65535", "peer:nethttp:conn=32MiB", "peer:grpc-go:fixed=65535:message=1MiB",
		"peer:grpc-go:conn=1MiB:defects=true", "peer:hyper:stream=64KiB", "peer:dotnet:defects=true",
		"peer:nghttp2:stream=1MiB:conn=1MiB", "peer:h2load:bits=16", "peer:curl:old=true",
		"peer:node:stream=32MiB:conn=32MiB",
	)
	for _, spec := range specs {
		cfg := parse(t, spec)
		if got := cfg.String(); got != spec {
			t.Errorf("%s is written as %s", spec, got)
		}
		if again := parse(t, cfg.String()); again != cfg {
			t.Errorf("%s reads as %#v and then as %#v", spec, cfg, again)
		}
	}
}

func TestParseSaysWhatItWants(t *testing.T) {
	tests := []struct{ spec, want string }{
		{"nethttp", `"nethttp" is no model of a client: want peer: and a name`},
		{"peer:undici:stream=1", `strategy peer:undici: unknown option "stream=1": want no option`},
		{"peer:hyper:max=1", `strategy peer:hyper: unknown option "max=1": want one of stream, conn`},
		{"peer:hyper:stream=1:stream=2", "strategy peer:hyper: option stream is given twice"},
		{"peer:hyper:conn=1KiB", "strategy peer:hyper: option conn: a connection window of 1024 octets: want 65535 at least"},
		{"peer:hyper:stream=2GiB",
			`strategy peer:hyper: option stream: "2GiB" is no size of 1 to 2^31-1: want octets such as 65535, or 64KiB, 16MiB, 1GiB`},
		{"peer:dotnet:defects", `strategy peer:dotnet: option defects: "": want true or false`},
	}
	for _, tt := range tests {
		_, err := peers.Parse(tt.spec)
		if err == nil {
			t.Errorf("%s is read", tt.spec)
			continue
		}
		if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.spec, diff)
		}
	}
	if _, err := peers.Parse("peer:nobody"); err == nil {
		t.Error("an unknown model is read")
	}
}

// Lookup reads models and all others.
func TestLookup(t *testing.T) {
	tests := []struct {
		spec string
		want flow.Config
	}{
		{"peer:undici", peers.Undici{}},
		{"bdp:max=1MiB", strategy.BDP{Max: 1 << 20}},
	}
	for _, tt := range tests {
		got, err := peers.Lookup(tt.spec, strategy.Parse)
		if err != nil || got != tt.want {
			t.Errorf("%s: want %#v, got %#v, %v", tt.spec, tt.want, got, err)
		}
	}
}
