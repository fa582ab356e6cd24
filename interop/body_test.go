package interop

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// transferTimeout is far above what any of the transfers takes.
const transferTimeout = 30 * time.Second

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
