package interop

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/flow"
	"example.com/h2flow/strategy"
)

// Bound by one window per round trip, constant, growing, and without any bound.
var strategies = []string{"fixed:stream=65535:conn=65535", "threshold", "bdp", "unlimited"}

// transferTimeout is far above what any of the transfers takes.
const transferTimeout = 30 * time.Second

// Every client moves a large body down and up, unharmed, to every server, over TLS and in cleartext, whatever decides
// the windows.
func TestTransfers(t *testing.T) {
	o := newOrigin(t)
	for _, s := range servers {
		t.Run(s.name, func(t *testing.T) {
			at := s.start(t, o)
			for _, to := range []target{
				{scheme: "http", addr: at.cleartext, trust: o.trust},
				{scheme: "https", addr: at.tls, trust: o.trust},
			} {
				for _, c := range clients {
					c.eachStrategy(t, to, func(t *testing.T, config flow.Config) {
						transfer := c.dial(t, to, config)
						t.Run("download", func(t *testing.T) { testDownload(t, transfer, o.download) })
						t.Run("upload", func(t *testing.T) { testUpload(t, transfer, s.echoes) })
						t.Run("abandoned", func(t *testing.T) { testAbandoned(t, transfer, o.download) })
						t.Run("parallel", func(t *testing.T) { testParallel(t, transfer, o.download) })
					})
				}
			}
		})
	}
}

// eachStrategy runs f once with each strategy, or once for a client that has none.
func (c client) eachStrategy(t *testing.T, to target, f func(t *testing.T, config flow.Config)) {
	name := to.scheme + "/" + c.name
	if !c.ours {
		t.Run(name, func(t *testing.T) { f(t, nil) })
		return
	}
	for _, text := range strategies {
		config, err := strategy.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name+"/"+text, func(t *testing.T) { f(t, config) })
	}
}

func testDownload(t *testing.T, transfer transfer, want digest) {
	ctx, cancel := context.WithTimeout(t.Context(), transferTimeout)
	defer cancel()
	got, err := download(ctx, transfer)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("downloaded octets (-want +got):\n%s", diff)
	}
}

// download fetches the file whole.
func download(ctx context.Context, transfer transfer) (got digest, err error) {
	err = transfer(ctx, downloadPath, nil, 0, func(body io.Reader) (err error) {
		got, err = digestOf(body)
		return err
	})
	return got, err
}

func testUpload(t *testing.T, transfer transfer, echoes bool) {
	ctx, cancel := context.WithTimeout(t.Context(), transferTimeout)
	defer cancel()
	sent := octets(uploadSize, 2)
	want, err := digestOf(bytes.NewReader(sent))
	if err != nil {
		t.Fatal(err)
	}
	var got digest
	err = transfer(ctx, uploadPath, bytes.NewReader(sent), uploadSize, func(body io.Reader) (err error) {
		if echoes {
			got, err = digestOf(body)
			return err
		}
		text, err := io.ReadAll(body)
		got = digest{Length: uploadSize, SHA256: string(text)}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("octets that the server received (-want +got):\n%s", diff)
	}
}

// What is left of a download that nobody reads to its end gives its credit back to the connection: with 65,535 octets
// for all streams together, a few abandoned ones would otherwise stop the next.
func testAbandoned(t *testing.T, transfer transfer, want digest) {
	ctx, cancel := context.WithTimeout(t.Context(), transferTimeout)
	defer cancel()
	enough := errors.New("read enough")
	for range 8 {
		err := transfer(ctx, downloadPath, nil, 0, func(body io.Reader) error {
			if _, err := io.CopyN(io.Discard, body, 100_000); err != nil {
				return err
			}
			return enough
		})
		if !errors.Is(err, enough) {
			t.Fatalf("reading the first octets: %v", err)
		}
	}
	testDownload(t, transfer, want)
}

// Streams share the connection, and none starves or disturbs another.
func testParallel(t *testing.T, transfer transfer, want digest) {
	ctx, cancel := context.WithTimeout(t.Context(), transferTimeout)
	defer cancel()
	type result struct {
		got digest
		err error
	}
	results := make(chan result)
	const streams = 4
	for range streams {
		go func() {
			got, err := download(ctx, transfer)
			results <- result{got, err}
		}()
	}
	for range streams {
		r := <-results
		if r.err != nil {
			t.Error(r.err)
		} else if diff := cmp.Diff(want, r.got); diff != "" {
			t.Errorf("downloaded octets (-want +got):\n%s", diff)
		}
	}
}
