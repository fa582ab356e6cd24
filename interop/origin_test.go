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
	"testing"
	"time"
)

const (
	downloadSize = 10 << 20
	uploadSize   = 8 << 20
	downloadPath = "/10m.bin"
	uploadPath   = "/upload"
)

// An origin is what every server under test serves: one file below dir, under one certificate, and a place for uploads
// to be handed to. Whoever gets an upload answers with its digest, or with the octets themselves.
type origin struct {
	dir      string // holds 10m.bin
	download digest
	cert     string // path of a PEM file
	key      string // path of a PEM file
	trust    *tls.Config
	backend  string // address of an HTTP/1.1 server that answers an upload with its digest
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
	o := &origin{dir: t.TempDir()}
	file := octets(downloadSize, 1)
	var err error
	if o.download, err = digestOf(bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(o.dir, downloadPath), file)
	o.certify(t)
	backend := httptest.NewServer(http.HandlerFunc(answerUpload))
	t.Cleanup(backend.Close)
	o.backend = backend.Listener.Addr().String()
	return o
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
	dir := t.TempDir()
	o.cert, o.key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write(t, o.cert, certPEM)
	write(t, o.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certPEM)
	o.trust = &tls.Config{RootCAs: roots}
}

func write(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
