package interop

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	downloadSize = 10 << 20
	uploadSize   = 8 << 20
	downloadPath = "/10m.bin"
	smallSize    = 1 << 10
	smallPath    = "/1k.bin"
	uploadPath   = "/b/upload"
	headPath     = "/b/head"     // answers with the request's fields that begin with X-Big-
	trailersPath = "/b/trailers" // answers with the trailer X-Sum: 42
)

// An origin is what every server under test serves: two files below dir, under one certificate, and a place for requests
// below /b/ to be handed to. Whoever gets an upload answers with its digest, or with the octets themselves.
type origin struct {
	dir      string // holds 10m.bin and 1k.bin
	download digest
	small    digest
	cert     string // path of a PEM file
	key      string // path of a PEM file
	pair     string // path of a PEM file that holds both
	trust    *tls.Config
	backend  string // address of an HTTP/1.1 server with all of it
}

// A digest says which octets a body consists of.
type digest struct {
	Length int64
	SHA256 string
}

// digestOf reads r to its end.
func digestOf(r io.Reader) (digest, error) {
	sum := sha256.New()
	n, err := io.Copy(sum, r)
	return digest{Length: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}

// octets returns n octets that look random and are the same in every run; different seeds give different ones.
func octets(n int, seed byte) []byte {
	p := make([]byte, n)
	if _, err := mathrand.NewChaCha8([32]byte{seed}).Read(p); err != nil {
		panic(err) // it never fails
	}
	return p
}

func newOrigin(t *testing.T) *origin {
	t.Helper()
	o := &origin{dir: publicDir(t)}
	o.download = o.file(t, downloadPath, downloadSize)
	o.small = o.file(t, smallPath, smallSize)
	o.certify(t)
	backend := httptest.NewServer(o.handler())
	t.Cleanup(backend.Close)
	o.backend = backend.Listener.Addr().String()
	return o
}

// file makes a file to serve.
func (o *origin) file(t *testing.T, path string, size int) digest {
	t.Helper()
	content := octets(size, 1)
	sum, err := digestOf(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(o.dir, path), content)
	return sum
}

// handler is the origin as a handler of net/http.
func (o *origin) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServer(http.Dir(o.dir)))
	mux.HandleFunc("POST "+uploadPath, answerUpload)
	mux.HandleFunc("GET "+headPath, func(w http.ResponseWriter, r *http.Request) {
		for name, values := range r.Header {
			if strings.HasPrefix(name, "X-Big-") {
				w.Header()[name] = values
			}
		}
	})
	mux.HandleFunc("GET "+trailersPath, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		io.WriteString(w, "trailers follow")
		w.Header().Set("X-Sum", "42")
	})
	return mux
}

// answerUpload answers a request with the digest of its body, as text.
func answerUpload(w http.ResponseWriter, r *http.Request) {
	sum, err := digestOf(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprint(w, sum.SHA256)
}

// certify makes a certificate for the loopback address and writes it where servers can read it.
func (o *origin) certify(t *testing.T) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "h2flow interop"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	dir := publicDir(t)
	o.cert, o.key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	o.pair = filepath.Join(dir, "pair.pem")
	write(t, o.cert, certPEM)
	write(t, o.key, keyPEM)
	write(t, o.pair, append(certPEM, keyPEM...))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certPEM)
	o.trust = &tls.Config{RootCAs: roots}
}

// write makes a file that the users who servers become can read. The keys are of no use to anybody else.
func write(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

func splitAddr(t *testing.T, addr string) (host, port string) {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}
