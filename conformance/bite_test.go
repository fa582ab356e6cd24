package conformance_test

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2/hpack"

	"example.com/h2flow/conformance"
	"example.com/h2flow/frame"
)

// A crudeClient keeps no rule: it asks for everything at once, acknowledges, and otherwise does one of two things.
type crudeClient struct {
	nc      net.Conn
	nervous bool // it ends the connection over the first frame after the greeting; else it takes everything for a success
	wg      sync.WaitGroup

	mu   sync.Mutex
	done []func(status, bodyLength int, err error)
	over bool
	err  error
}

func newCrudeClient(nc net.Conn, c conformance.Case, nervous bool) *crudeClient {
	a := &crudeClient{nc: nc, nervous: nervous}
	out := frame.MakeSettings(frame.Setting{ID: frame.SettingEnablePush}).AppendTo([]byte(frame.ClientPreface))
	for i, r := range c.Requests() {
		var block blockWriter
		enc := hpack.NewEncoder(&block)
		for _, f := range requestFields(r.Method, r.Path) {
			_ = enc.WriteField(hpack.HeaderField{Name: f.Name, Value: f.Value})
		}
		out = frame.Headers{Stream: frame.StreamID(2*i + 1), EndStream: r.Method != "POST", EndHeaders: true,
			Fragment: block}.AppendTo(out)
	}
	a.wg.Go(func() { a.serve(out) })
	return a
}

type blockWriter []byte

func (b *blockWriter) Write(p []byte) (int, error) { *b = append(*b, p...); return len(p), nil }

func (a *crudeClient) serve(out []byte) {
	write := func(p []byte) {
		a.wg.Go(func() { _, _ = a.nc.Write(p) }) // the server need not listen
	}
	_, _ = a.nc.Write(out)
	r := frame.NewReader(a.nc, frame.MaxMaxFrameSize)
	for first := true; ; {
		h, payload, err := r.Next()
		switch {
		case err == io.EOF && !a.nervous:
			a.finish(nil) // what came so far is a response
			return
		case err != nil:
			a.finish(err)
			return
		}
		isSettings := h.Type == frame.TypeSettings
		switch {
		case isSettings && !h.Flags.Has(frame.FlagAck) && (first || !a.nervous):
			first = false
			_, _ = a.nc.Write(frame.AppendSettingsAck(nil))
		case isSettings && h.Flags.Has(frame.FlagAck):
		case a.nervous:
			_, _ = a.nc.Write(frame.AppendGoAway(nil, 0, frame.ConnectError, nil))
			a.nc.Close()
		case h.Type == frame.TypePing && !h.Flags.Has(frame.FlagAck) && h.Length == 8:
			write(frame.AppendPing(nil, true, [8]byte(payload)))
		case h.Flags.Has(frame.FlagEndStream) && (h.Type == frame.TypeData || h.Type == frame.TypeHeaders):
			a.finish(nil)
		}
	}
}

// finish ends all requests.
func (a *crudeClient) finish(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over, a.err = true, err
	for _, done := range a.done {
		done(conformance.Unknown, conformance.Unknown, err)
	}
	a.done = nil
}

func (a *crudeClient) Request(_ int, _ conformance.Request, done func(status, bodyLength int, err error)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		done(conformance.Unknown, conformance.Unknown, a.err)
		return
	}
	a.done = append(a.done, done)
}

func (a *crudeClient) Close() {
	a.nc.Close()
	a.wg.Wait()
	a.finish(errors.New("closed"))
}

// A client that takes everything, and one that takes nothing, fail every case between them.
func TestCasesBite(t *testing.T) {
	for _, c := range conformance.Cases() {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			for _, nervous := range []bool{true, false} {
				server, client := net.Pipe()
				res := conformance.Run(server, newCrudeClient(client, c, nervous), c, 100*time.Millisecond)
				if res.Verdict != conformance.Pass {
					return
				}
			}
			t.Error("both pass")
		})
	}
}
