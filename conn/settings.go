package conn

import (
	"math"
	"time"

	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/stream"
)

// defaultTableSize is the size of both compression tables until it is changed, in octets. RFC 9113, Section 4.3.1.
const defaultTableSize = 4096

// sentSettings is a SETTINGS frame of ours that is not acknowledged yet.
type sentSettings struct {
	at          time.Time // when it was packed; zero before
	settings    []frame.Setting
	lowersTo    int64 // the initial window that holds from the acknowledgement on; -1: none
	tableSize   int64 // -1: not changed
	firstFrames bool  // part of the preface
	question    bool  // only asks for a sign of life
}

// queuePreface prepares the client preface: SETTINGS, then what the strategy wants of the connection window. See
// RFC 9113, Section 3.4.
func (c *Conn) queuePreface() {
	w := c.cfg.Strategy.Open(c.now)
	w.Stream = min(max(w.Stream, 0), flow.MaxWindow)
	w.Conn = min(max(w.Conn, flow.DefaultWindow), flow.MaxWindow)
	s := sentSettings{lowersTo: -1, tableSize: -1, firstFrames: true}
	add := func(id frame.SettingID, v uint32) { s.settings = append(s.settings, frame.Setting{ID: id, Value: v}) }
	if n := c.cfg.HeaderTableSize; n != 0 && n != defaultTableSize {
		s.tableSize = min(max(n, 0), math.MaxUint32)
		add(frame.SettingHeaderTableSize, uint32(s.tableSize))
	}
	add(frame.SettingEnablePush, 0)
	if n := c.cfg.AdvertiseMaxConcurrentStreams; n != 0 {
		add(frame.SettingMaxConcurrentStreams, n)
	}
	if w.Stream != flow.DefaultWindow {
		add(frame.SettingInitialWindowSize, uint32(w.Stream))
	}
	if n := c.cfg.MaxReadFrameSize; n != frame.MinMaxFrameSize {
		add(frame.SettingMaxFrameSize, n)
	}
	if n := c.cfg.MaxHeaderListSize; n != 0 {
		add(frame.SettingMaxHeaderListSize, n)
	}
	// Before the acknowledgement the peer may use either window, so the larger holds. RFC 9113, Section 6.9.3.
	c.recvTarget = w.Stream
	c.recvBase = flow.MakeBase(max(w.Stream, flow.DefaultWindow))
	if w.Stream < flow.DefaultWindow {
		s.lowersTo = w.Stream
	}
	c.ownSettings = append(c.ownSettings, s)
	c.out.add(outSettings)
	if extra := w.Conn - flow.DefaultWindow; extra > 0 {
		c.act(flow.GrantConn(extra))
	}
}

// recvSettings handles a SETTINGS frame or the acknowledgement of ours.
func (c *Conn) recvSettings(h frame.Header, payload []byte) {
	f, err := frame.ParseSettings(h, payload)
	if err != nil {
		c.frameFault(err)
		return
	}
	if f.Ack {
		c.recvSettingsAck()
		return
	}
	if c.peer.seen && !c.glitch(1) {
		return
	}
	// Nothing of the frame is applied unless all of it is valid. RFC 9113, Section 6.5.2.
	for s := range f.All() {
		if err := s.CheckFromServer(); err != nil {
			c.frameFault(err)
			return
		}
	}
	first := !c.peer.seen
	if first {
		c.peer.seen = true
		c.peer.maxStreams = math.MaxUint32 // without the setting there is no limit (9113-6.5.2-6)
		c.clearTimer(timerPreface)
	}
	// Values are applied in order, with no other frame in between. RFC 9113, Section 6.5.3 (9113-6.5.3-1, 9113-6.5.3-2).
	for s := range f.All() {
		c.applySetting(s)
	}
	if c.life < closing {
		c.out.settingsAcks++ // one for each, in order (9113-6.5.3-4)
		c.checkReplies()
	}
	if c.life >= closing {
		return
	}
	c.wakeAll()
	c.events.push(Event{Kind: Settings})
}

func (c *Conn) applySetting(s frame.Setting) {
	switch s.ID {
	case frame.SettingHeaderTableSize:
		// It holds for our encoder from the acknowledgement, which is packed before any further field block. RFC 9113,
		// Section 4.3.1 (9113-4.3.1-2).
		c.cfg.Encoder.SetMaxTableSize(uint32(min(int64(s.Value), c.cfg.MaxEncoderTableSize)))
	case frame.SettingMaxConcurrentStreams:
		c.peer.maxStreams = s.Value
	case frame.SettingInitialWindowSize:
		c.setPeerWindow(int64(s.Value))
	case frame.SettingMaxFrameSize:
		c.peer.maxFrame = s.Value
	case frame.SettingMaxHeaderListSize:
		c.peer.maxHeaderList = s.Value
	case frame.SettingEnableConnectProtocol:
		c.peer.extendedConnect = s.Value == 1
	case frame.SettingNoRFC7540Priorities:
		c.peer.noOldPriorities = s.Value == 1
	}
}

// setPeerWindow moves the send windows of all streams by the difference; the connection's stays. A window that would
// exceed 2^31-1 is an error of the connection. RFC 9113, Section 6.9.2 (9113-6.9.2-2, 9113-6.9.2-5, 9113-6.9.2-6).
func (c *Conn) setPeerWindow(n int64) {
	if c.sendBase.Set(n) {
		return
	}
	var highest int64
	for _, s := range c.streams {
		if s.state.Counts() { // any window, also of a stream on which nothing is sent any more
			highest = max(highest, s.send.Relative())
		}
	}
	c.sendBase.Tighten(highest)
	if !c.sendBase.Set(n) {
		c.fail(frame.FlowControlError, "SETTINGS_INITIAL_WINDOW_SIZE takes a stream window above 2^31-1")
	}
}

// recvSettingsAck handles the acknowledgement of our oldest SETTINGS. RFC 9113, Section 6.5.3 (9113-6.5.3-6).
func (c *Conn) recvSettingsAck() {
	if len(c.ownSettings) == 0 || c.ownSettings[0].at.IsZero() {
		c.glitch(1)
		return
	}
	s := c.ownSettings[0]
	c.ownSettings = append(c.ownSettings[:0], c.ownSettings[1:]...)
	if s.tableSize >= 0 {
		c.cfg.Decoder.SetMaxTableSize(uint32(s.tableSize))
	}
	if s.lowersTo >= 0 {
		c.recvBase.Set(s.lowersTo)
	}
	c.clearTimer(timerSettings)
	if len(c.ownSettings) > 0 && !c.ownSettings[0].at.IsZero() {
		c.setTimerAt(timerSettings, c.ownSettings[0].at, c.cfg.SettingsTimeout)
	}
	rtt := c.now.Sub(s.at)
	if !s.question {
		c.tell(nil, flow.Event{Kind: flow.SettingsAcked})
	}
	c.tell(nil, flow.Event{Kind: flow.RTTSample, Source: flow.SourceSettings, RTT: rtt})
	c.events.push(Event{Kind: SettingsAcked, RTT: rtt})
}

// pushAllowed reports whether the peer may not know yet that push is off.
func (c *Conn) pushAllowed() bool { return len(c.ownSettings) > 0 && c.ownSettings[0].firstFrames }

// recvPushPromise handles a PUSH_PROMISE frame, which is legal only until the peer has acknowledged that push is off.
// RFC 9113, Sections 6.5.2, 6.6 (9113-6.5.2-2, 9113-6.6-1, 9113-6.6-2).
func (c *Conn) recvPushPromise(h frame.Header, payload []byte) {
	f, err := frame.ParsePushPromise(h, payload)
	if err != nil {
		c.frameFault(err)
		return
	}
	if !c.pushAllowed() {
		c.fail(frame.ProtocolError, "PUSH_PROMISE though push is off")
		return
	}
	s, state := c.lookup(h.Stream)
	_, v := stream.Next(state, stream.RecvPushPromise)
	if v.Kind == stream.ConnFault {
		c.admit(s, state, stream.RecvPushPromise, h)
		return
	}
	// Streams of the peer's own promise nothing. RFC 9113, Section 6.6: PUSH_PROMISE is on a stream that we opened.
	if h.Stream%2 == 0 {
		c.fail(frame.ProtocolError, "PUSH_PROMISE on a stream that the peer opened")
		return
	}
	// The promised stream has to be idle: even, and above all before it (9113-6.6-7).
	if f.Promised == 0 || f.Promised%2 != 0 || f.Promised <= c.maxPromise {
		c.fail(frame.ProtocolError, "PUSH_PROMISE of a stream that is not idle")
		return
	}
	c.maxPromise = f.Promised
	if c.promises++; c.promises > maxPromises {
		c.fail(frame.EnhanceYourCalm, "too many promised streams")
		return
	}
	c.beginBlock(h, nil)
	c.block.promised, c.block.endStream = f.Promised, false
	c.decode(f.Fragment, f.EndHeaders)
}

// refusePromise resets a promised stream.
func (c *Conn) refusePromise(id frame.StreamID) {
	c.queueReset(id, frame.Cancel)
}
