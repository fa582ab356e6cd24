package cli

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"log"
	"math/big"
	chacha "math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"
)

// blockSize is the size of the block that a body repeats, in octets.
const blockSize = 8 << 20

// An origin is Go's own HTTP server in this process: HTTP/1.1 and HTTP/2, in cleartext or over TLS, with one body.
type origin struct {
	size   int64
	block  []byte // the body is this, repeated and cut to size
	sum    [sha256.Size]byte
	roots  *x509.CertPool // nil without TLS
	server http.Server

	// direct is the address for clients without a relay, behind the one for a relay: there the server's socket buffers
	// are small, so that what waits for the path waits in the relay's queue and not in the kernel.
	direct, behind string
}

func startOrigin(size int64, useTLS bool) (*origin, error) {
	o := &origin{size: size, block: make([]byte, min(size, blockSize))}
	chacha.NewChaCha8([32]byte([]byte("the body of every download is it"))).Read(o.block)
	hash := sha256.New()
	if _, err := io.Copy(hash, o.body()); err != nil {
		return nil, err
	}
	hash.Sum(o.sum[:0])

	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	o.server = http.Server{
		Handler: http.HandlerFunc(o.serve), Protocols: &protocols, ErrorLog: log.New(io.Discard, "", 0),
	}
	if useTLS {
		cert, err := makeCertificate()
		if err != nil {
			return nil, err
		}
		o.server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}}
		o.roots = x509.NewCertPool()
		o.roots.AddCert(cert.Leaf)
	}
	for _, l := range []struct {
		addr   *string
		buffer int
	}{{&o.direct, 0}, {&o.behind, 128 << 10}} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			o.close()
			return nil, err
		}
		*l.addr = listener.Addr().String()
		listener = &bufferListener{listener, l.buffer}
		if useTLS {
			go o.server.ServeTLS(listener, "", "")
		} else {
			go o.server.Serve(listener)
		}
	}
	return o, nil
}

func (o *origin) close() { o.server.Close() }

// body reads the whole body.
func (o *origin) body() io.Reader {
	return io.LimitReader(&repeater{block: o.block}, o.size)
}

func (o *origin) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(o.size, 10))
	const piece = 256 << 10
	for left := o.size; left > 0; {
		block := o.block[:min(left, int64(len(o.block)))]
		left -= int64(len(block))
		for len(block) > 0 {
			n, err := w.Write(block[:min(len(block), piece)])
			if err != nil {
				return
			}
			block = block[n:]
		}
	}
}

// check says whether the downloaded octets, given in order to the hash, are the body.
func (o *origin) check(n int64, sum []byte) error {
	if n != o.size {
		return fmt.Errorf("%d octets came, of a body of %d", n, o.size)
	}
	if !bytes.Equal(sum, o.sum[:]) {
		return fmt.Errorf("the body's SHA-256 is %x, want %x", sum, o.sum)
	}
	return nil
}

// tls is the configuration of a client that trusts this origin, with the protocols to offer; nil without TLS.
func (o *origin) tls(protocols ...string) *tls.Config {
	if o.roots == nil {
		return nil
	}
	return &tls.Config{RootCAs: o.roots, NextProtos: protocols}
}

func (o *origin) url(addr string) string {
	if o.roots != nil {
		return "https://" + addr + "/"
	}
	return "http://" + addr + "/"
}

// A repeater reads block over and over.
type repeater struct {
	block []byte
	at    int
}

func (r *repeater) Read(p []byte) (int, error) {
	n := copy(p, r.block[r.at:])
	r.at = (r.at + n) % len(r.block)
	return n, nil
}

// A bufferListener sets the size of the send buffer of what it accepts, unless it is 0.
type bufferListener struct {
	net.Listener
	size int
}

func (l *bufferListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok && l.size > 0 {
		tcp.SetWriteBuffer(l.size)
	}
	return c, err
}

// makeCertificate makes a certificate for loopback that signs itself.
func makeCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "h2flow demo"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}
