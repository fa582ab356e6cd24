package peer

import (
	"slices"

	"example.com/h2flow/frame"
)

// FromServer takes octets that the server sent, in any chunks. Legal or not, they are only noted. The octets are
// copied.
func (s *Shadow) FromServer(octets []byte) {
	s.serverIn = append(s.serverIn, octets...)
	rest := s.serverIn
	for {
		h, payload, next, ok := frame.Cut(rest)
		if !ok {
			break
		}
		rest = next
		s.sent++
		s.serverFrame(h, payload)
	}
	s.serverIn = append(s.serverIn[:0], rest...)
}

// serverFrame notes one frame of the server. One that cannot be parsed has no effect but on the windows.
func (s *Shadow) serverFrame(h frame.Header, payload []byte) {
	st := s.streams[h.Stream]
	// The whole payload counts, padding included, whatever else is wrong with the frame. RFC 9113, Section 6.9
	// (9113-6.9-5).
	if h.Type == frame.TypeData {
		s.recv -= int64(h.Length)
		if st != nil {
			st.recv -= int64(h.Length)
		}
	}
	f, err := frame.Parse(h, payload)
	if err != nil {
		return
	}
	switch f := f.(type) {
	case frame.Data:
		s.serverEnd(st, f.EndStream)
	case frame.Headers:
		// END_STREAM counts when the field block has come to its end. RFC 9113, Section 6.2 (9113-6.2-6).
		s.serverBlockEnds = f.EndStream && !f.EndHeaders
		s.serverEnd(st, f.EndStream && f.EndHeaders)
	case frame.Continuation:
		s.serverEnd(st, s.serverBlockEnds && f.EndHeaders)
	case frame.RSTStream:
		if st != nil && st.serverReset == 0 {
			st.serverReset = s.sent
		}
	case frame.WindowUpdate:
		switch {
		case f.Stream == 0:
			s.send += int64(f.Increment)
		case st != nil:
			st.send += int64(f.Increment)
		}
	case frame.Settings:
		s.serverSettings(f)
	case frame.Ping:
		if !f.Ack {
			s.pings = append(s.pings, pendingPing{s.sent, f.Data})
		}
	case frame.PushPromise:
		// The client may refuse what was promised. RFC 9113, Section 6.6.
		if s.streams[f.Promised] == nil {
			s.streams[f.Promised] = &shadowStream{recv: s.recvInitial, promised: true, clientEnded: true}
		}
	case frame.GoAway:
		s.goAway = s.sent
	}
}

func (s *Shadow) serverEnd(st *shadowStream, end bool) {
	if st != nil && end && st.serverEnded == 0 {
		st.serverEnded = s.sent
	}
}

func (s *Shadow) serverSettings(f frame.Settings) {
	if !f.Ack {
		s.unackedByClient = append(s.unackedByClient, pendingSettings{s.sent, slices.Collect(f.All())})
		return
	}
	if len(s.unackedByServer) == 0 {
		return
	}
	// The client's INITIAL_WINDOW_SIZE moves the windows of its streams. RFC 9113, Section 6.9.2.
	for _, x := range s.unackedByServer[0] {
		if x.ID == frame.SettingInitialWindowSize {
			delta := int64(x.Value) - s.recvInitial
			s.recvInitial += delta
			for _, st := range s.streams {
				st.recv += delta
			}
		}
	}
	s.unackedByServer = s.unackedByServer[1:]
}
