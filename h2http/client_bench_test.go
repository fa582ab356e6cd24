package h2http_test

import (
	"testing"

	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/httpbench"
)

func init() { httpbench.ServeIfAsked() }

// These measure the Transport beside net/http; those of package h2flow measure the low-level API.

func BenchmarkGet(b *testing.B)         { httpbench.Get(b, openTransport) }
func BenchmarkParallelGet(b *testing.B) { httpbench.ParallelGet(b, openTransport) }
func BenchmarkDownload(b *testing.B)    { httpbench.Download(b, openTransport) }
func BenchmarkUpload(b *testing.B)      { httpbench.Upload(b, openTransport) }

func openTransport(base string) (httpbench.Client, error) {
	return httpbench.RoundTripper(&h2http.Transport{AllowHTTP: true, DisableCompression: true}, base), nil
}
