//go:build !386 && !s390x

package h2flow

import (
	"net"
	"path/filepath"
	"testing"
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/strategy"
)

// kernelTimes keeps the first event of a connection and the round-trip times of the kernel's.
type kernelTimes struct {
	first flow.EventKind
	times []time.Duration
}

func (k *kernelTimes) Opened(time.Time, flow.Windows) {}

func (k *kernelTimes) Decided(_ time.Time, ev flow.Event, _ []flow.Action) {
	if k.first == 0 {
		k.first = ev.Kind
	}
	if ev.Kind == flow.RTTSample && ev.Source == flow.SourceKernel {
		k.times = append(k.times, ev.RTT)
	}
}

// The strategy knows the round-trip time that TCP has measured before anything else happens; of other sockets there is
// none.
func TestKernelRoundTrip(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		address := "127.0.0.1:0"
		if network == "unix" {
			address = filepath.Join(t.TempDir(), "s")
		}
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		nc, err := net.Dial(network, l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		var k kernelTimes
		c, err := NewClientConn(nc, &Config{Flow: flow.Observe(strategy.Auto{}, func() flow.Observer { return &k })})
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		<-c.Done()
		switch {
		case network == "unix" && len(k.times) > 0:
			t.Errorf("unix: the kernel told %v", k.times)
		case network == "unix":
		case k.first != flow.RTTSample || len(k.times) != 1 || k.times[0] <= 0 || k.times[0] > time.Second:
			t.Errorf("tcp: want one time below a second as the first event, got %v, first %v", k.times, k.first)
		}
	}
}

// A connection without a socket has no such time.
func TestNoSocketNoRoundTrip(t *testing.T) {
	var s *socket
	if rtt := s.roundTrip(); rtt != 0 {
		t.Errorf("want 0, got %v", rtt)
	}
}
