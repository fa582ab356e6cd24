package rows_test

// A mutant turns one rule off, or for a row that accepts something, refuses it. In old, what stands before "@@" is a
// text after which the rest is to be found; old has to be there once, so that a mutant cannot go stale in silence.
type mutant struct {
	rows string // those that the mutant breaks
	file string
	old  string
	new  string
}

const (
	input    = "conn/input.go"
	data     = "conn/data.go"
	settings = "conn/settings.go"
	response = "conn/response.go"
	block    = "conn/block.go"
	fields   = "conn/fields.go"
	window   = "conn/window.go"
	record   = "conn/record.go"
	fail     = "conn/fail.go"
	goaway   = "conn/goaway.go"
	table    = "stream/table.go"
	header   = "frame/header.go"
	adapter  = "hpack_adapter.go"
	walk     = "hpack_walk.go"
)

var mutants = []mutant{
	// Starting a connection.
	{"9113-3.4-3", input, "if !c.peer.seen && (h.Type != frame.TypeSettings || h.Flags.Has(frame.FlagAck)) {", "if false {"},
	{"9113-3.4-3", input, "|| h.Flags.Has(frame.FlagAck)) {", ") {"},
	{"9113-3.4-6", settings, "	for s := range f.All() {\n		c.applySetting(s)", "	for s := range f.All() {\n		if first {\n			break\n		}\n		c.applySetting(s)"},
	{"9113-3.4-7", fail, `string(octets[:5]) == "HTTP/"`, `string(octets[:5]) == "LPD"`},

	// Frames and field blocks.
	{"9113-4.1-2 9113-5.1-21", input, "default:\n		// Frames of unknown type@@c.skipFrame(h)", `c.fail(frame.ProtocolError, "unknown")`},
	{"9113-4.1-3", header, "func CheckHeader(h Header, maxFrameSize uint32) error {\n", "func CheckHeader(h Header, maxFrameSize uint32) error {\n	if h.Flags&0x40 != 0 {\n		return &Error{Code: ProtocolError}\n	}\n"},
	{"9113-4.1-6", header, "StreamID(binary.BigEndian.Uint32(p[5:])) & MaxStreamID", "StreamID(binary.BigEndian.Uint32(p[5:]))"},
	{"9113-4.2-1 9113-4.2-5", input, "frame.CheckHeader(h, c.cfg.MaxReadFrameSize)", "frame.CheckHeader(h, c.cfg.MaxReadFrameSize-1)"},
	{"9113-4.2-2", header, "if h.Length > maxFrameSize || h.Length < n", "if h.Length < n"},
	{"9113-4.2-3", header, "h.Length > maxFrameSize || h.Length < n || r.fixed", "h.Length > maxFrameSize || r.fixed"},
	{"9113-4.2-4", header, "if !frameRules[h.Type].sizeConn {", "if true {"},
	{"9113-4.3-2 9113-5.1-15", block, "	c.beginBlock(h, s)\n	c.decode(f.Fragment, f.EndHeaders)", "	c.beginBlock(h, s)\n	if s == nil {\n		c.block.active = !f.EndHeaders\n		return\n	}\n	c.decode(f.Fragment, f.EndHeaders)"},
	{"9113-4.3-3", block, "Code: frame.CompressionError, Scope", "Code: frame.ProtocolError, Scope"},
	{"9113-4.3.1-1", adapter, "hpack.NewDecoder(initialHeaderTableSize, d.onField)", "hpack.NewDecoder(0, d.onField)"},
	{"9113-4.3.1-4", adapter, "	if d.due {\n", "	if false {\n"},
	{"9113-4.3.1-4", adapter, "case d.due && n > d.dueMax:", "case false:"},
	{"9113-4.3.1-5", settings, "if n := c.cfg.HeaderTableSize; n != 0 && n != defaultTableSize {", "if n := c.cfg.HeaderTableSize; n != 0 && n != defaultTableSize {\n		c.cfg.Decoder.SetMaxTableSize(uint32(min(max(n, 0), math.MaxUint32)))"},

	// Streams.
	{"9113-5.1-1", table, "Idle: {@@RecvData:         {protocol, 0}", "RecvData:         {ignore, 0}"},
	{"9113-5.1-1", table, "Idle: {@@RecvWindowUpdate: {protocol, 0}", "RecvWindowUpdate: {ignore, 0}"},
	{"9113-5.1-1 9113-6.4-3", table, "Idle: {@@RecvReset:        {protocol, 0}", "RecvReset:        {ignore, 0}"},
	{"9113-5.1-2 9113-5.1.1-3", table, "Idle: {@@RecvHeaders:      {protocol, 0}", "RecvHeaders:      {ignore, 0}"},
	{"9113-5.1-5", table, "ReservedRemote: {@@RecvData:         {protocol, 0}", "RecvData:         {ignore, 0}"},
	{"9113-5.1-7", table, "HalfClosedLocal: {@@RecvData:         {ok, HalfClosedLocal}", "RecvData:         {lateFrame, 0}"},
	{"9113-5.1-8", table, "HalfClosedLocal: {@@RecvWindowUpdate: {ok, HalfClosedLocal}", "RecvWindowUpdate: {protocol, 0}"},
	{"9113-5.1-9 9113-6.1-2", table, "HalfClosedRemote: {@@RecvData:         {lateFrame, 0}", "RecvData:         {ignore, 0}"},
	{"9113-5.1-9", table, "HalfClosedRemote: {@@RecvHeaders:      {lateFrame, 0}", "RecvHeaders:      {ignore, 0}"},
	{"9113-5.1-12", table, "ClosedEnded: {@@RecvData:         {afterClose, 0}", "RecvData:         {protocol, 0}"},
	{"9113-5.1-13", table, "ClosedEnded: {@@RecvReset:        {ignore, 0}", "RecvReset:        {protocol, 0}"},
	{"9113-5.1-13 9113-6.9-4", table, "ClosedEnded: {@@RecvWindowUpdate: {ignore, 0}", "RecvWindowUpdate: {protocol, 0}"},
	{"9113-5.1-14 9113-5.4.2-1", table, "ClosedSentReset: {@@RecvData:         {ignore, 0}", "RecvData:         {afterClose, 0}"},
	{"9113-5.1-14 9113-5.4.2-1 9113-5.1-18", table, "ClosedSentReset: {@@RecvHeaders:      {ignore, 0}", "RecvHeaders:      {afterClose, 0}"},
	{"9113-5.1-16 9113-6.9-5", data, "	c.recv.Receive(n)\n	c.recv.Consume(n)\n	c.tell(nil, flow.Event{Kind: flow.Discarded, N: n})\n}\n\n// chargeEmpty", "	c.recv.Receive(n)\n	c.recv.Consume(n)\n}\n\n// chargeEmpty"},
	{"9113-5.1-17 9113-6.6-6", table, "ClosedSentReset: {@@RecvPushPromise:  {ignore, 0}", "RecvPushPromise:  {protocol, 0}"},
	{"9113-5.1-19", table, "HalfClosedRemote: {@@RecvPushPromise:  {protocol, 0}", "RecvPushPromise:  {ignore, 0}"},
	{"9113-5.1-20 9113-6.3-3 9113-5.3.2-1", input, "c.glitch(1) // obsolete", `c.fail(frame.ProtocolError, "priority") // obsolete`},
	{"9113-5.2.1-2", "flow/strategy.go", "DefaultWindow = 65535", "DefaultWindow = 65534"},
	{"9113-5.2.2-1", input, "case frame.TypePing:\n		c.recvPing(h, payload)", "case frame.TypePing:\n		if c.recv.Unread() == 0 {\n			c.recvPing(h, payload)\n		}"},
	{"9113-6.9-3", "frame/window_update.go", "incrementError(h.Stream)", "incrementError(1)"},
	{"9113-5.4-3", fail, "c.out.goAway, c.out.goAwayCode, c.wroteBye = true, e.Code, false", "c.out.goAway, c.out.goAwayCode = !c.wroteBye, e.Code"},
	{"9113-5.4-1 9113-5.4.1-4", input, "		return // whatever follows a connection error is not processed (9113-5.4.1-4)\n", "		c.life = alive\n"},
	{"9113-5.5-2 9113-6.3-4 9113-6.2-1 9113-6.10-1 9113-6.6-4", input, "if c.block.active && (h.Type != frame.TypeContinuation || h.Stream != c.block.id) {", "if false {"},
	{"9113-6.2-1 9113-6.10-1", input, "(h.Type != frame.TypeContinuation || h.Stream != c.block.id) {", "h.Type != frame.TypeContinuation {"},

	// Frame types.
	{"9113-6.1-1", input, "\tif err := frame.CheckHeader(h,", "\tif h.Type == frame.TypeData && h.Stream == 0 {\n\t\tc.skipFrame(h)\n\t\treturn\n\t}\n\tif err := frame.CheckHeader(h,"},
	{"9113-6.1-4", data, "if pad >= d.length {", "if pad > d.length {"},
	{"9113-6.1-5", data, "n := int64(pad) + 1\n", "n := int64(pad)\n"},
	{"9113-6.1-8", data, "if pad >= d.length {", "if pad == 0 || pad >= d.length {"},
	{"9113-6.1-7", data, "n := min(d.padding, uint32(len(in.p)))\n", "n := min(d.padding, uint32(len(in.p)))\n		if in.p[0] != 0 {\n			c.fail(frame.ProtocolError, \"padding\")\n			break\n		}\n"},
	{"9113-6.1-9", data, "	if h.Length == 0 {\n		c.chargeEmpty()", "	if h.Length == 0 {\n		c.fail(frame.ProtocolError, \"empty\")\n		return\n		c.chargeEmpty()"},
	{"9113-6.2-3", input, "\tif err := frame.CheckHeader(h,", "\tif h.Type == frame.TypeHeaders && h.Stream == 0 {\n\t\tc.skipFrame(h)\n\t\treturn\n\t}\n\tif err := frame.CheckHeader(h,"},
	{"9113-6.2-4 9113-6.6-8", "frame/padding.go", "if end < 1+keep {", "if end < 0 {"},
	{"9113-6.2-5", "frame/headers.go", "parsePriorityParam(f.Fragment), f.Fragment[priorityLen:]", "parsePriorityParam(f.Fragment), f.Fragment"},
	{"9113-6.2-6", block, "endStream: h.Flags.Has(frame.FlagEndStream)", "endStream: h.Flags.Has(frame.FlagEndStream|frame.FlagEndHeaders)"},
	{"9113-6.3-1", header, "TypePriority:  {min: 5, fixed: true, stream: nonZeroStream}", "TypePriority:  {min: 5, fixed: true}"},
	{"9113-6.3-2", header, "TypePriority:  {min: 5, fixed: true,", "TypePriority:  {"},
	{"9113-6.4-2", input, "\tif err := frame.CheckHeader(h,", "\tif h.Type == frame.TypeRSTStream && h.Stream == 0 {\n\t\tc.skipFrame(h)\n\t\treturn\n\t}\n\tif err := frame.CheckHeader(h,"},
	{"9113-6.4-5", header, "TypeRSTStream: {min: 4, fixed: true, stream: nonZeroStream, sizeConn: true}", "TypeRSTStream: {min: 4, fixed: true, stream: nonZeroStream}"},
	{"9113-6.5-2", settings, "if c.peer.seen && !c.glitch(1) {", "if c.peer.seen {\n		c.fail(frame.ProtocolError, \"again\")"},
	{"9113-6.5-5", header, " || h.Flags&FlagAck != 0 && h.Length != 0) {", ") {"},
	{"9113-6.5-7", header, "TypeSettings:  {stream: zeroStream, sizeConn: true,", "TypeSettings:  {sizeConn: true,"},
	{"9113-6.5-8 9113-6.5.2-3 9113-6.5.2-4 9113-6.5.2-7 9113-6.5.2-9 8441-3-2", settings, "if err := s.CheckFromServer(); err != nil {", "if err := s.CheckFromServer(); false {"},
	{"9113-6.5-9", header, "(h.Length%settingLen != 0 || h.Flags", "(h.Flags"},
	{"9113-6.5-10", settings, "		c.applySetting(s)\n	}\n	if c.life < closing {", "		c.applySetting(s)\n		break\n	}\n	if c.life < closing {"},
	{"9113-6.5.2-2 9113-6.6-1", settings, "if !c.pushAllowed() {", "if false {"},
	{"9113-6.5.2-4", "frame/settings.go", "if s.ID == SettingEnablePush && s.Value == 1 {", "if false {"},
	{"9113-6.5.2-5", settings, "c.peer.maxStreams = s.Value", "c.peer.maxStreams = max(s.Value, 1)"},
	{"9113-6.5.2-10", fields, "len(f.Value) + 32 }", "len(f.Value) + 31 }"},
	{"9113-6.5.2-12 9113-5.5-1", settings, "	switch s.ID {\n	case frame.SettingHeaderTableSize:", "	switch s.ID {\n	default:\n		c.fail(frame.ProtocolError, \"unknown\")\n	case frame.SettingHeaderTableSize:"},
	{"9113-6.5.3-1", settings, "c.setPeerWindow(int64(s.Value))", "_ = s"},
	{"9113-6.5.3-2", settings, "		c.fail(frame.FlowControlError, \"SETTINGS_INITIAL_WINDOW_SIZE takes", "		return\n		c.fail(frame.FlowControlError, \"SETTINGS_INITIAL_WINDOW_SIZE takes"},
	{"9113-6.5.3-5", "conn/timers.go", "case timerSettings:@@c.fail(frame.SettingsTimeout,", "c.fail(frame.InternalError,"},
	{"9113-6.5.3-6", "conn/grant.go", "|| len(c.ownSettings) > 0 {", "{"},
	{"9113-6.6-2", settings, "c.queueReset(id, frame.Cancel)", "_ = id"},
	{"9113-6.6-3", input, "\tif err := frame.CheckHeader(h,", "\tif h.Type == frame.TypePushPromise && h.Stream == 0 {\n\t\tc.skipFrame(h)\n\t\treturn\n\t}\n\tif err := frame.CheckHeader(h,"},
	{"9113-6.6-5", settings, "if v.Kind == stream.ConnFault {", "if v.Kind == stream.ConnFault && false {"},
	{"9113-6.6-7", settings, "f.Promised%2 != 0 || f.Promised <= c.maxPromise {", "f.Promised%2 != 0 {"},
	{"9113-6.7-5", header, "TypePing:         {min: 8, fixed: true, stream: zeroStream,", "TypePing:         {min: 8, fixed: true,"},
	{"9113-6.7-6", header, "TypePing:         {min: 8, fixed: true,", "TypePing:         {min: 8,"},
	{"9113-6.8-2 9113-8.7-2", goaway, "if s.id > last || s.state == stream.Idle {", "if s.state == stream.Idle {"},
	{"9113-6.8-3", goaway, "if s.id > last || s.state == stream.Idle {", "if s.id >= last || s.state == stream.Idle {"},
	{"9113-6.8-4", goaway, "if g.received && last > g.last {", "if g.received {"},
	{"9113-6.8-7", header, "TypeGoAway:       {min: 8, stream: zeroStream,", "TypeGoAway:       {min: 8,"},
	{"9113-6.8-10", input, "	if c.life >= closing {\n		return // whatever", "	if c.life >= draining {\n		return // whatever"},
	{"9113-6.8-12 9113-6.8-13 9110-9.2.2-1 9113-5.4.3-1", fail, "e.NotProcessed = !s.answered && (e.NotProcessed || c.neverLeft(s))", "e.NotProcessed = !s.answered"},
	{"9113-6.9-1", input, "case frame.TypePing:\n		c.recvPing(h, payload)", "case frame.TypePing:\n		if c.send.Available(65535) > 0 {\n			c.recvPing(h, payload)\n		}"},
	{"9113-6.9-2 9113-6.9-3", "frame/window_update.go", "if n == 0 {", "if false {"},
	{"9113-6.9-6", header, "TypeWindowUpdate: {min: 4, fixed: true,", "TypeWindowUpdate: {min: 4,"},
	{"9113-5.4-2", "frame/padding.go", "return &Error{Code: ProtocolError, Reason", "return &Error{Code: ProtocolError, Stream: h.Stream, Reason"},
	{"9113-6.9.1-3", window, "if !c.sendBase.Update(&s.send, int64(f.Increment)) {", "if !c.sendBase.Update(&s.send, int64(f.Increment)) && false {"},
	{"9113-6.9.1-4", window, "if !c.send.Update(flow.DefaultWindow, int64(f.Increment)) {", "if !c.send.Update(flow.DefaultWindow, int64(f.Increment)) && false {"},
	{"9113-6.9.1-8", data, "if !s.recv.ChargeOver(c.recvBase.Initial(), int64(h.Length)) {", "if !s.recv.ChargeOver(c.recvBase.Initial(), int64(h.Length)) && false {"},
	{"9113-6.9.1-8", data, "if !c.recv.Charge(length) {", "if !c.recv.Charge(length) && false {"},
	{"9113-6.9.2-2", settings, "	if c.sendBase.Set(n) {\n		return\n	}", "	return"},
	{"9113-6.9.2-3", "conn/send.go", "s.send.Available(c.sendBase.Initial())", "max(1, s.send.Available(c.sendBase.Initial()))"},
	{"9113-6.9.2-5", settings, "c.setPeerWindow(int64(s.Value))", "c.setPeerWindow(int64(s.Value))\n		c.send.Update(0, int64(s.Value))"},
	{"9113-6.9.2-6", settings, "	if !c.sendBase.Set(n) {\n		c.fail(", "	if !c.sendBase.Set(n) && false {\n		c.fail("},
	{"9113-6.9.3-1", settings, "c.recvBase = flow.MakeBase(max(w.Stream, flow.DefaultWindow))", "c.recvBase = flow.MakeBase(w.Stream)"},
	{"9113-6.10-2", input, "\tif err := frame.CheckHeader(h,", "\tif h.Type == frame.TypeContinuation && h.Stream == 0 {\n\t\tc.skipFrame(h)\n\t\treturn\n\t}\n\tif err := frame.CheckHeader(h,"},
	{"9113-6.10-3", block, "	if !c.block.active {\n", "	if !c.block.active {\n		return\n"},
	{"9113-6.10-4", block, "case empty > maxEmptyBlockFrames:", "case empty > 0:"},
	{"9113-7-1 9113-7-2 9113-8.5-6", window, "e := &Error{Code: f.Code, Origin: Peer, Stream: s.id, Answered: s.answered}", "e := &Error{Code: frame.InternalError, Origin: Peer, Stream: s.id, Answered: s.answered}\n	if f.Code > frame.Cancel {\n		c.fail(f.Code, \"code\")\n		return\n	}"},

	// Messages.
	{"9113-8.1-4", response, "case b.hasStatus:", "case false:"},
	{"9113-8.1-5", "stream/phase.go", "		TrailersWithEnd: {true, Complete},\n", "		TrailersWithEnd: {true, Complete}, TrailersWithoutEnd: {true, InBody},\n"},
	{"9113-8.1-6", response, "	if b.endStream {\n		c.malformed(s, \"an interim", "	if false {\n		c.malformed(s, \"an interim"},
	{"9113-8.1-7 9110-15.2-1", "conn/limits.go", "maxInterim = 20", "maxInterim = 1"},
	{"9113-8.1-8", window, "if s.phase == stream.Complete {", "if false {"},
	{"9113-8.1-11 9110-15.2-2", "stream/phase.go", "AwaitingHead: {\n", "AwaitingHead: {\n		Body: {true, AwaitingHead}, BodyWithEnd: {true, Complete},\n"},
	{"9113-8.1-12", response, "if b.endStream {\n		part = stream.TrailersWithEnd", "if false {\n		part = stream.TrailersWithEnd"},
	{"9113-8.1-13 9110-6.1-1", goaway, "e := &Error{Code: frame.InternalError, Scope: ScopeConnection, Reason: \"the transport failed\", Err: err}", "for _, s := range c.sortedStreams() {\n		if s.phase == stream.InBody {\n			c.endResponse(s, Event{Kind: Data, Stream: s.id, End: true})\n		}\n	}\n	e := &Error{Code: frame.InternalError, Scope: ScopeConnection, Reason: \"the transport failed\", Err: err}"},
	{"9113-8.1.1-1", response, "	if s.contentLeft > 0 {\n		c.malformed(", "	if false {\n		c.malformed("},
	{"9113-8.1.1-1", data, "(s.noContent || s.contentLeft == 0)", "s.noContent"},
	{"9113-8.1.1-2 9110-15.4.5-1", response, "case !s.noContent:", "default:"},
	{"9113-8.1.1-3", fail, "c.streamFault(s, frame.ProtocolError, \"malformed response: \"+reason)", "c.fail(frame.ProtocolError, \"malformed response: \"+reason)"},
	{"9113-8.1.1-4 9113-8.2.1-1", response, "case b.malformed != \"\":", "case false:"},
	{"9113-8.2.1-2 9113-8.2.1-3 9113-8.2.1-1", block, "case !allIn(f.Name, &nameChars):", "case false:"},
	{"9113-8.2.1-2", fields, "0123456789abcdefghijklmnopqrstuvwxyz\")\n\n// tokenChars", "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ\")\n\n// tokenChars"},
	{"9113-8.2.1-3", fields, "nameChars = makeTable(\"!#", "nameChars = makeTable(\":!#"},
	{"9113-8.2.1-4 9110-5.5-1", fields, "c < ' ' && c != '\\t' || c == 0x7f", "false && c == 0"},
	{"9113-8.2.1-5", fields, "first == ' ' || first == '\\t' || last == ' ' || last == '\\t'", "false && first == last"},
	{"9113-8.2.1-7", block, "case f.Name == \"content-length\":", "case f.Name == \"date\" && f.Value == \"nonsense\":\n		return \"date\"\n	case f.Name == \"content-length\":"},
	{"9113-8.2.2-2", block, "case connectionSpecific(f.Name), f.Name == \"te\":", "case f.Name == \"te\":"},
	{"9113-8.2.2-4", block, "case connectionSpecific(f.Name), f.Name == \"te\":", "case connectionSpecific(f.Name):"},
	{"9113-8.3-2 9113-8.3-3", block, "case f.Name != \":status\":", "case f.Name != \":status\":\n		return \"\"\n	case false:"},
	{"9113-8.3-5", block, "case len(b.fields) > 0:", "case false:"},
	{"9113-8.3-6", block, "	case b.hasStatus:\n		return", "	case false:\n		return"},
	{"9113-8.3.2-1 9110-15-3", response, "	if !ok {\n		c.malformed(s, \"no valid", "	if !ok {\n		status = 200\n	}\n	if false {\n		c.malformed(s, \"no valid"},
	{"9113-8.3.2-2", "h2http/response.go", "\"HTTP/2.0\", 2, 0", "\"HTTP/1.1\", 1, 1"},
	{"9113-8.5-4", response, "case s.tunnel:\n		// A tunnel", "case false:\n		// A tunnel"},
	{"9113-8.6-1", fields, "code >= 100 && code != 101", "code >= 100"},
	{"9113-8.7-1", window, "e.NotProcessed = f.Code == frame.RefusedStream && !s.answered", "e.NotProcessed = false"},
	{"9113-10.5-1", settings, "c.promises > maxPromises", "false"},
	{"9113-10.5-2 9113-10.5-3", input, "!c.glitches.spend(c.now, cost)", "false"},
	{"9113-10.5.1-1 9113-10.5.1-2", response, "case b.tooLarge:", "case false:"},
	{"9110-2.3-1", input, "if h.Length > maxSettings*6 {", "if false {"},
	{"9110-5.1-1", block, "case f.Name == \"content-length\":", "case strings.HasPrefix(f.Name, \"x-\"):\n		return \"unknown\"\n	case f.Name == \"content-length\":"},
	{"9110-6.4.1-1 9110-15.3.5-1", response, "s.head || status == 204 || status == 304", "s.head"},
	{"9110-6.4.1-2", response, "s.head || status == 204 || status == 304", "status == 204 || status == 304"},
	{"9110-7.5-1", response, "	s.phase = stream.Complete\n", "	s.phase = stream.Complete\n	if s.state.CanSend() {\n		c.queueReset(s.id, frame.NoError)\n	}\n"},
	{"9110-8.6-3", fields, "return n, err == nil", "return n, err == nil || n > 0"},
	{"9110-8.6-4", fields, "		if s[i] < '0' || s[i] > '9' {\n			return 0, false\n		}\n	}\n	n, err", "		if s[i] == '-' {\n			return 0, false\n		}\n	}\n	n, err"},
	{"9110-8.6-4", block, "if b.hasLength {", "if false {"},
	{"9110-9.3.6-2", response, "length = -1 // a content-length", "s.contentLeft = length // a content-length"},
	{"9110-9.3.6-3", response, "s.tunnel = s.connect && status < 300", "s.tunnel = s.connect"},
	{"9110-15-1", fields, "code >= 100 && code != 101", "code >= 100 && code != 101 && code != 299 && code != 499 && code != 599"},
	{"9110-15-2", fields, "code >= 100 && code != 101", "code >= 100 && code != 101 && code < 600"},
	{"9110-15-3", fields, "if len(s) != 3 {", "if len(s) < 3 {"},
	{"8441-3-3", settings, "c.peer.extendedConnect = s.Value == 1", "c.peer.extendedConnect = true"},

	// HPACK. What x/net checks is turned off by dropping its verdict.
	{"7541-2.3.3-1 7541-5.2-1 7541-5.2-2 7541-5.2-3 7541-6.1-1", adapter, "if _, err := d.hpack.Write(p); err != nil {", "if _, err := d.hpack.Write(p); false {"},
	{"7541-2.1-2", block, "b.fields = append(b.fields, f)", "b.fields = append([]frame.Field{f}, b.fields...)"},
	{"7541-3.2-1 7541-2.3.2-2 7541-2.3.2-1 7541-4.1-1 7541-4.4-1", adapter, "d.hpack = hpack.NewDecoder(initialHeaderTableSize, d.onField)", "d.hpack = hpack.NewDecoder(64, d.onField)"},
	{"7541-4.2-4", adapter, "case d.fields:", "case false:"},
	{"7541-4.2-5", adapter, "case d.updates > 2:", "case false:"},
	{"7541-4.3-1 7541-4.1-1", adapter, "d.hpack.SetMaxDynamicTableSize(n)", "_ = n"},
	{"7541-5.1-1 7541-7.4-1", walk, "if v > maxHPACKInteger {", "if false {"},
	{"7541-5.1-1", walk, "if w.octets == maxHPACKContinuation {", "if false {"},
	{"7541-5.1-2", walk, "return indexedField, 7", "return indexedField, 6"},
	{"7541-5.2-4 7541-6.2-1", walk, "case w.state == inValueLength && w.integer > 0:", "case w.state == inValueLength:"},
	{"7541-6.2-1", walk, "w.kind == literalField && w.integer == 0:", "false:"},
	{"7541-6.2.3-1", adapter, "Sensitive: f.Sensitive}) {", "Sensitive: false}) {"},
	{"7541-6.3-1", adapter, "case n > d.limit:", "case false:"},
	{"7541-A-1", adapter, "if !d.walk.atStart() {", "if false {"},

	// Extensions.
	{"7838-4-1 8336-2-1", input, "if !c.glitch(1) || kind == Origins && h.Stream != 0 {", "if h.Stream != 0 {\n		c.fail(frame.ProtocolError, \"extension\")"},
	{"9218-7-1", input, "case frame.TypeData:\n		c.traceRecv(h, nil)", "case frame.TypePriorityUpdate:\n		c.fail(frame.ProtocolError, \"extension\")\n		return\n	case frame.TypeData:\n		c.traceRecv(h, nil)"},

	// The round tripper.
	{"9110-6.5.1-1", "h2http/body.go", "x.resp.Trailer[key] = values", "x.resp.Header[key] = values"},
}

// immutable are rows for what is received that have no mutant, each with the reason.
var immutable = map[string]string{
	"7541-2.2-1":    "one table for both directions would be another design, not another condition",
	"7541-2.3.1-1":  "the static table is x/net's",
	"7541-4.4-2":    "eviction is x/net's",
	"7541-4.4-3":    "eviction is x/net's",
	"9110-9.2.2-2":  "a number of retries, not a condition: TestB20RetriesAreBounded counts them",
	"9110-10.1.1-4": "nothing in the code looks at 417",
	"9110-10.1.1-5": "nothing in the code looks at the status of an answer that comes instead of 100",
	"9110-15.3.6-1": "nothing in the code looks at 205",
	"9113-9.1.1-2":  "nothing in the code looks at 421",
	"9113-10.3-1":   "the one pseudo-header field of a response is :status: 9110-15-3",
	"9113-9.2.2-2":  "a list of constants, each of which TestPermittedCipherSuites tries",
}
