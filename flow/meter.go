package flow

import "time"

// A Meter is an Observer that measures what a strategy costs. It serves one connection. Its results may be read where
// the strategy is called from, or once the connection is over.
//
// Model: what a window holds is what is unread plus what the peer may still send, that is Granted - Consumed. Grants
// take effect after the observer has seen them, so what they make of the windows is counted at the start of the next
// event, when those refused are known. The streams' part of the sum is kept relative to the initial window, which moves
// all of them at once.
type Meter struct {
	// Series asks for Samples. Set it before the connection opens.
	Series bool
	// Every is the least time between two samples; zero takes one at each event that moves a window.
	Every time.Duration

	// Samples are the connection's offsets over time, if Series asks for them. The last one may be older than Every
	// when the connection ends; Sample takes one more.
	Samples []Sample

	grants, pings          int64
	peakBuffered, peakHeld int64

	conn     Offsets // after the grants made
	initial  int64
	streams  map[uint32]int64 // what each open stream's window holds, less the initial window
	relative int64            // the sum of streams
}

// A Sample is the state of a connection's receive window at one time, in octets.
type Sample struct {
	Now      time.Time
	Consumed int64
	Received int64
	Granted  int64
	Unread   int64
	// Held is what PeakWindowBytes is the peak of.
	Held int64
}

// Metrics are what a Meter measured.
type Metrics struct {
	// WindowUpdates counts the grants carried out, of both levels together.
	WindowUpdates int64
	// Pings counts the PINGs that the strategy asked for and that were packed for sending.
	Pings int64
	// PeakBufferedBytes is the most that was unread at any instant, in octets.
	PeakBufferedBytes int64
	// PeakWindowBytes is the most that at any instant was unread plus what the peer might still send, in octets: the
	// lower of the connection's and the sum of the streams'.
	PeakWindowBytes int64
}

var _ Observer = (*Meter)(nil)

// Opened implements Observer.
func (m *Meter) Opened(now time.Time, w Windows) {
	m.conn = Offsets{Granted: max(w.Conn, DefaultWindow)}
	m.initial = w.Stream
	m.streams = make(map[uint32]int64)
	m.Sample(now)
}

// Decided implements Observer.
func (m *Meter) Decided(now time.Time, ev Event, actions []Action) {
	if ev.Kind == ActionRefused {
		m.grant(ev.Action, -1)
	} else {
		m.settle()
		m.take(ev)
	}
	if m.Series && ev.Kind != FrameStart && (len(m.Samples) == 0 || now.Sub(m.Samples[len(m.Samples)-1].Now) >= m.Every) {
		m.Sample(now)
	}
	for _, a := range actions {
		m.grant(a, 1)
	}
}

// Sample adds the present state to Samples.
func (m *Meter) Sample(now time.Time) {
	if m.Series {
		m.Samples = append(m.Samples, Sample{
			Now: now, Consumed: m.conn.Consumed, Received: m.conn.Received, Granted: m.conn.Granted,
			Unread: m.conn.Unread(), Held: m.held(),
		})
	}
}

// Metrics are the results so far.
func (m *Meter) Metrics() Metrics {
	m.settle()
	return Metrics{
		WindowUpdates: m.grants, Pings: m.pings, PeakBufferedBytes: m.peakBuffered, PeakWindowBytes: m.peakHeld,
	}
}

// Restart begins a new measurement on the same connection: counts start from zero, peaks from the present state, and
// Samples from an empty slice; the slice so far is the caller's.
func (m *Meter) Restart() {
	m.grants, m.pings, m.Samples = 0, 0, nil
	m.peakBuffered, m.peakHeld = m.conn.Unread(), m.held()
}

// take makes the state of ev the present one.
func (m *Meter) take(ev Event) {
	m.conn = ev.ConnWindow
	m.initial = ev.InitialWindow
	m.peakBuffered = max(m.peakBuffered, m.conn.Unread())
	switch ev.Kind {
	case PingSent:
		m.pings++
	case StreamOpened:
		m.setStream(ev.Stream, ev.StreamWindow.Granted-ev.StreamWindow.Consumed-m.initial)
	case StreamClosed:
		m.dropStream(ev.Stream)
	default:
		if _, ok := m.streams[ev.Stream]; ok {
			m.setStream(ev.Stream, ev.StreamWindow.Granted-ev.StreamWindow.Consumed-m.initial)
		}
	}
}

// grant counts what a does to the windows, sign times.
func (m *Meter) grant(a Action, sign int64) {
	switch a.Kind {
	case ActGrantConn:
		m.conn.Granted += sign * a.N
		m.grants += sign
	case ActGrantStream:
		if old, ok := m.streams[a.Stream]; ok {
			m.setStream(a.Stream, old+sign*a.N)
		}
		m.grants += sign
	}
}

// settle counts the present state, which includes the grants that were carried out, into the peak.
func (m *Meter) settle() { m.peakHeld = max(m.peakHeld, m.held()) }

// held is the lower of what the connection's window and the streams' windows hold.
func (m *Meter) held() int64 {
	return min(m.conn.Granted-m.conn.Consumed, m.relative+int64(len(m.streams))*m.initial)
}

func (m *Meter) setStream(id uint32, relative int64) {
	m.relative += relative - m.streams[id]
	m.streams[id] = relative
}

func (m *Meter) dropStream(id uint32) {
	m.relative -= m.streams[id]
	delete(m.streams, id)
}
