package interop

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow"
)

// Hundreds of requests at once on one connection, more than most servers allow, all get their answer.
func testMany(t *testing.T, transfer transfer, want digest) {
	ctx, cancel := context.WithTimeout(t.Context(), transferTimeout)
	defer cancel()
	get := func() (got digest, err error) {
		err = transfer(ctx, smallPath, nil, 0, func(body io.Reader) (err error) {
			got, err = digestOf(body)
			return err
		})
		return got, err
	}
	var wg sync.WaitGroup
	for range 300 {
		wg.Go(func() {
			got, err := get()
			for h2flow.Retryable(err) && ctx.Err() == nil {
				got, err = get() // some servers refuse streams that overtook their SETTINGS
			}
			if err != nil {
				t.Error(err)
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("downloaded octets (-want +got):\n%s", diff)
			}
		})
	}
	wg.Wait()
}

// bigFields are fields that do not fit in one frame of 16,384 octets, however well they are compressed: 30 random
// hexadecimal values of 1,000 octets.
func bigFields() http.Header {
	fields := http.Header{}
	for i := range 30 {
		fields.Set(fmt.Sprintf("X-Big-%d", i), fmt.Sprintf("%x", octets(500, byte(i+1))))
	}
	return fields
}

// A head of many frames arrives, and one comes back.
func (s server) testHead(t *testing.T, to target) {
	ctx, cancel := context.WithTimeout(t.Context(), transferTimeout)
	defer cancel()
	path := headPath
	if !s.heads {
		path = smallPath
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to.scheme+"://"+to.addr+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = bigFields()
	resp, err := oneConnection(t, to, options{}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("status %s, want 200", resp.Status)
	}
	if !s.heads {
		return
	}
	got := http.Header{}
	for name := range bigFields() {
		got[name] = resp.Header.Values(name)
	}
	if diff := cmp.Diff(bigFields(), got); diff != "" {
		t.Errorf("fields that came back (-want +got):\n%s", diff)
	}
}

// Trailers arrive after the body, where the server lets them through. Where it does not, the body is whole all the same.
func (s server) testTrailers(t *testing.T, to target) {
	want := http.Header{"X-Sum": {"42"}}
	switch {
	case s.noTrailers != "":
		t.Skip(s.noTrailers)
	case !s.trailers:
		want = http.Header{}
	}
	ctx, cancel := context.WithTimeout(t.Context(), transferTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to.scheme+"://"+to.addr+trailersPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("TE", "trailers")
	resp, err := oneConnection(t, to, options{}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if wantBody := "trailers follow"; string(body) != wantBody {
		t.Errorf("body %q, want %q", body, wantBody)
	}
	got := http.Header{}
	for name, values := range resp.Trailer {
		if values != nil { // announced, and sent
			got[name] = values
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("trailers (-want +got):\n%s", diff)
	}
}
