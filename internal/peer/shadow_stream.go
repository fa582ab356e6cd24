package peer

import "example.com/h2flow/frame"

// A shadowStream is what the octets of both directions tell about one stream of the client.
type shadowStream struct {
	send, recv int64 // windows of the client, in octets

	promised    bool // reserved by PUSH_PROMISE, which does not count as open
	clientEnded bool // END_STREAM sent
	clientReset bool
	serverEnded int // number of the frame with END_STREAM; 0: none
	serverReset int // number of the first RST_STREAM; 0: none
}

// closed reports whether the stream is over as the server sees it.
func (st *shadowStream) closed() bool {
	return st.clientReset || st.serverReset != 0 || st.clientEnded && st.serverEnded != 0
}

// overFor reports whether the client knows that the stream is over.
func (s *Shadow) overFor(st *shadowStream) bool {
	return st.clientReset || s.processed(st.serverReset) || st.clientEnded && s.processed(st.serverEnded)
}

// known returns the stream that the client's frame f is for, or notes that it is idle.
func (s *Shadow) known(f value, id frame.StreamID) *shadowStream {
	st := s.streams[id]
	// On an idle stream there is nothing but HEADERS and PRIORITY. RFC 9113, Section 5.1, Section 6.4 (9113-6.4-4).
	if st == nil {
		s.violate("%v on a stream that was never opened", f)
	}
	return st
}

// canSend checks that the client may still send HEADERS or DATA on st.
func (s *Shadow) canSend(f value, st *shadowStream) {
	switch {
	// END_STREAM is the end of HEADERS and DATA. RFC 9113, Section 5.1.
	case st.clientEnded:
		s.violate("%v after END_STREAM", f)
	// RST_STREAM is the last frame on a stream. RFC 9113, Section 5.4.2 (9113-5.4.2-4).
	case st.clientReset:
		s.violate("%v after RST_STREAM", f)
	// RFC 9113, Section 6.4 (9113-6.4-1).
	case s.processed(st.serverReset):
		s.violate("%v after RST_STREAM from the server", f)
	}
}

func (s *Shadow) clientData(f frame.Data, length uint32) {
	st := s.known(f, f.Stream)
	if st == nil {
		return
	}
	s.canSend(f, st)
	s.send -= int64(length)
	st.send -= int64(length)
	// DATA stays within both windows; an empty frame always does. RFC 9113, Section 6.9.1 (9113-6.9.1-1,
	// 9113-6.9.1-2).
	if length > 0 && (s.send < 0 || st.send < 0) {
		s.violate("%v leaves a window of %d on the stream and %d on the connection", f, st.send, s.send)
	}
	st.clientEnded = st.clientEnded || f.EndStream
}

func (s *Shadow) clientReset(f frame.RSTStream) {
	st := s.known(f, f.Stream)
	if st == nil {
		return
	}
	switch {
	// One RST_STREAM per stream. RFC 9113, Section 5.4.2 (9113-5.4.2-2).
	case st.clientReset && !s.Lenient:
		s.violate("%v for the second time", f)
	// RST_STREAM is not answered in kind. RFC 9113, Section 5.4.2 (9113-5.4.2-3).
	case s.processed(st.serverReset):
		s.violate("%v after RST_STREAM from the server", f)
	}
	st.clientReset = true
}

// beginBlock takes a HEADERS frame; it returns the whole field section if the block ends here.
func (s *Shadow) beginBlock(f frame.Headers) value {
	s.block = &openBlock{
		headers: Headers{
			Stream: f.Stream, EndStream: f.EndStream, Padded: f.Padded, PadLength: f.PadLength,
			HasPriority: f.HasPriority, Priority: f.Priority,
		},
		fragment: f.Fragment,
	}
	return s.endBlock(f.EndHeaders)
}

func (s *Shadow) continueBlock(f frame.Continuation) value {
	if s.block == nil {
		s.violate("%v without a field block", f)
		return f
	}
	s.block.headers.Continuations++
	s.block.fragment = append(s.block.fragment, f.Fragment...)
	return s.endBlock(f.EndHeaders)
}

func (s *Shadow) endBlock(end bool) value {
	if !end {
		return nil
	}
	h := s.block.headers
	fields, err := s.dec.decode(s.block.fragment)
	s.block = nil
	if err != nil {
		s.violate("the field block on stream %d: %v", h.Stream, err)
	}
	h.Fields = fields
	if st := s.streams[h.Stream]; st != nil {
		s.clientTrailers(h, st)
	} else {
		s.clientRequest(h)
	}
	return h
}

// clientRequest opens a stream.
func (s *Shadow) clientRequest(h Headers) {
	switch {
	// Odd and rising. RFC 9113, Section 5.1.1 (9113-5.1.1-1, 9113-5.1.1-2).
	case h.Stream%2 == 0:
		s.violate("%v: a client's stream is odd", h)
	case h.Stream <= s.lastID:
		s.violate("%v: not above stream %d", h, s.lastID)
	}
	s.lastID = max(s.lastID, h.Stream)
	// No new stream after GOAWAY. RFC 9113, Section 6.8 (9113-6.8-1).
	if s.processed(s.goAway) {
		s.violate("%v after GOAWAY from the server", h)
	}
	s.streams[h.Stream] = &shadowStream{
		send: s.limits.initialWindow, recv: s.recvInitial, clientEnded: h.EndStream,
	}
	// RFC 9113, Section 5.1.2 (9113-5.1.2-1): open and half-closed streams count. A raised limit may be used before it
	// is acknowledged.
	limit := s.limits.maxStreams
	for _, p := range s.unackedByClient {
		for _, x := range p.settings {
			if x.ID == frame.SettingMaxConcurrentStreams {
				limit = max(limit, x.Value)
			}
		}
	}
	if n := s.OpenStreams(); uint32(n) > limit {
		s.violate("%v is the open stream number %d of %d (9113-5.1.2-1)", h, n, limit)
	}
	s.checkFields(h, true)
}

// clientTrailers takes the second field section of a stream.
func (s *Shadow) clientTrailers(h Headers, st *shadowStream) {
	s.canSend(h, st)
	// Trailers end the stream. RFC 9113, Section 8.1.
	if !h.EndStream {
		s.violate("%v: trailers without END_STREAM", h)
	}
	st.clientEnded = true
	s.checkFields(h, false)
}
