package peers

import (
	"time"

	"example.com/h2flow/flow"
)

// DotNet is SocketsHttpHandler of .NET (dotnet/runtime 32eab2c9 and d005261b).
//
// The connection has 64 MiB, credited on receipt and given back at an eighth. Streams start at 65,535; whenever an
// eighth was read, the window doubles if that came faster than a window in the least round-trip time. So it follows the
// rate of a train of packets, or of a reader that drains what has gathered. Streams do not learn from each other. PINGs:
// four at the start, then one every 2 s while data arrives, each with a grant of the connection before it.
type DotNet struct {
	// Defects leaves padding and its length octet uncredited on both levels.
	Defects bool
}

const (
	dotNetStream   = 65535
	dotNetMax      = 16 << 20
	dotNetConn     = 64 << 20
	dotNetRatio    = 8
	dotNetBurst    = 4
	dotNetInterval = 2 * time.Second
)

var _ flow.Config = DotNet{}

// New makes the strategy of one connection.
func (p DotNet) New() flow.Strategy {
	eighth := func(v view) int64 {
		if v.due > 0 && v.due >= v.size/dotNetRatio {
			return v.due
		}
		return 0
	}
	d := &dotNet{burst: dotNetBurst}
	d.client = newClient(side{size: dotNetStream, give: eighth}, side{size: dotNetConn, onReceipt: true, give: eighth})
	d.forgetsPads = p.Defects
	return d
}

// String describes p so that Parse reads it back.
func (p DotNet) String() string { return describe("dotnet", flag("defects", p.Defects)) }

type dotNet struct {
	*client
	lifted
	least    time.Duration
	burst    int
	asked    bool
	off      bool
	lastPing time.Time
}

func (d *dotNet) Decide(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	b := d.track(now, ev)
	switch ev.Kind {
	case flow.RTTSample:
		if ev.Source == flow.SourcePing || ev.Source == flow.SourceSettings {
			if d.least == 0 || ev.RTT < d.least {
				d.least = ev.RTT
			}
			d.asked = d.asked && ev.Source != flow.SourcePing
		}
	case flow.GoAway:
		d.off = true
	case flow.ActionRefused:
		if ev.Action.Kind == flow.ActPing {
			d.asked, d.off = false, true // it can only be that the connection closes
		}
	case flow.Consumed:
		if b != nil && !b.ended {
			d.widen(now, b, ev.StreamWindow)
		}
	}
	dst = d.grant(now, ev, dst)
	head := ev.Kind == flow.ResponseHead || ev.Kind == flow.Received && d.frame > 0
	if head && b != nil && !b.ended {
		dst = d.probe(now, ev, dst)
	}
	return dst
}

// widen doubles the window of a stream that is given back, if what was read came faster than the window allows.
func (d *dotNet) widen(now time.Time, b *book, o flow.Offsets) {
	v := d.streamView(now, b, o)
	if v.due <= 0 || v.due < v.size/dotNetRatio || d.least == 0 || b.size >= dotNetMax {
		return
	}
	if v.due*int64(d.least) > b.size*int64(v.idle) {
		b.size = min(2*b.size, dotNetMax)
	}
}

// probe asks for a PING in the burst, and later at intervals if there is a grant to send before it.
func (d *dotNet) probe(now time.Time, ev flow.Event, dst []flow.Action) []flow.Action {
	if d.off || d.asked || d.least == 0 || d.burst == 0 && now.Sub(d.lastPing) <= dotNetInterval {
		return dst
	}
	flushed := len(dst) > 0 && dst[len(dst)-1].Kind == flow.ActGrantConn
	if v := d.connView(now, ev.ConnWindow); !flushed && v.due > 0 {
		dst = append(dst, flow.GrantConn(v.due))
		flushed = true
	}
	if !flushed && d.burst == 0 {
		return dst
	}
	d.burst = max(0, d.burst-1)
	d.asked, d.lastPing = true, now
	return append(dst, flow.Ping())
}
