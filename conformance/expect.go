package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
)

// want reads up to what the step asks for. Of what comes before, frames that a client may send at any time are passed
// over; a request that the script has not come to is kept for later; anything else fails.
func (r *run) want(s step) {
	deadline := r.deadline()
	defer deadline.Stop()
	if s.alts[0][0] == "HEADERS" && r.takeHead(s.alts[0]) {
		return
	}
	for {
		v, err := r.next(deadline.C)
		if err != nil {
			r.noMore(s, err)
			return
		}
		if r.take(s, v) {
			return
		}
	}
}

// take says whether v settles the step.
func (r *run) take(s step, v fmt.Stringer) bool {
	if h, ok := v.(peer.Headers); ok && r.arrive(h) {
		r.heads = append(r.heads, h)
		return s.alts[0][0] == "HEADERS" && r.takeHead(s.alts[0])
	}
	if r.secondReset(v) {
		return false
	}
	for i, a := range s.alts {
		if r.matches(a, v) {
			r.settle(i, s.equal[i], v)
			return true
		}
	}
	if r.takeGeneral(s, v) {
		return true
	}
	if slices.ContainsFunc(r.may, func(a alternative) bool { return r.mayBe(a, v) }) {
		if r.ends(v) {
			r.end(v)
		}
		return r.ended
	}
	if !r.passOver(s, v) {
		failf("%s\n  got  %v", s.line, v)
	}
	return false
}

// secondReset says whether v is RST_STREAM for a stream that the client has reset before, which the RFC advises
// against, in Section 5.4.2 (9113-5.4.2-2). It fails a case that is about that.
func (r *run) secondReset(v fmt.Stringer) bool {
	f, ok := v.(frame.RSTStream)
	if !ok {
		return false
	}
	if !slices.Contains(r.reset, f.Stream) {
		r.reset = append(r.reset, f.Stream)
		return false
	}
	if slices.Contains(r.c.Requirements, "9113-5.4.2-2") {
		failf("%v for the second time", v)
	}
	r.lower(Allowed, "%v for the second time", v)
	return true
}

// settle notes that the client did alternative i of a step with v.
func (r *run) settle(i int, equal bool, v fmt.Stringer) {
	_, isGoAway := v.(frame.GoAway)
	r.gone = r.gone || isGoAway && r.ends(v)
	if !equal {
		r.lower(Allowed, "%v", v)
	}
	if i > 0 && r.ends(v) {
		r.end(v)
	}
}

// ends says whether v ends the connection for an error, or a request.
func (r *run) ends(v fmt.Stringer) bool {
	switch f := v.(type) {
	case frame.GoAway:
		return f.Code != frame.NoError
	case frame.RSTStream:
		return f.Code != frame.NoError && slices.Contains(r.arrived, f.Stream)
	}
	return false
}

// end notes that the rest of the script is moot, since the client ended the stream or the connection with v.
func (r *run) end(v fmt.Stringer) {
	_, isGoAway := v.(frame.GoAway)
	r.ended, r.gone = true, r.gone || isGoAway
}

// general are the codes that may stand for any other. RFC 9113, Section 5.4.
var general = []string{"code=PROTOCOL_ERROR", "code=INTERNAL_ERROR"}

// takeGeneral accepts, where the step asks for an error, the less exact ones that the RFC permits in its place: one of
// the connection for one of a stream, RFC 9113, Section 5.4.1, and a general code.
func (r *run) takeGeneral(s step, v fmt.Stringer) bool {
	for _, a := range s.alts {
		if !a.isError() {
			continue
		}
		codes := append([]string{}, general...)
		for _, w := range a {
			if strings.HasPrefix(w, "code=") {
				codes = append(codes, w)
			}
		}
		types := []alternative{slices.DeleteFunc(slices.Clone(a), func(w string) bool {
			return strings.HasPrefix(w, "code=")
		})}
		if a[0] == "RST_STREAM" {
			types = append(types, alternative{"GOAWAY"})
		}
		for _, typ := range types {
			for _, code := range codes {
				if !r.matches(append(slices.Clone(typ), code), v) {
					continue
				}
				r.lower(Allowed, "%v", v)
				_, isGoAway := v.(frame.GoAway)
				r.gone = r.gone || isGoAway
				if typ[0] != a[0] {
					r.end(v)
				}
				return true
			}
		}
	}
	return false
}

// mayBe says whether v is a, or the same error by a general code.
func (r *run) mayBe(a alternative, v fmt.Stringer) bool {
	if r.matches(a, v) {
		return true
	}
	code := slices.IndexFunc(a, func(w string) bool { return strings.HasPrefix(w, "code=") })
	if !a.isError() || code < 0 {
		return false
	}
	return slices.ContainsFunc(general, func(other string) bool {
		b := slices.Clone(a)
		b[code] = other
		return r.matches(b, v)
	})
}

// matches says whether v has all the words of a, of which the streams are those of the script.
func (r *run) matches(a alternative, v fmt.Stringer) bool {
	got := strings.Fields(v.String())
	for _, w := range a {
		if text, ok := strings.CutPrefix(w, "stream="); ok {
			id, err := strconv.ParseUint(text, 10, 31)
			if err != nil {
				failf("no stream %q", text)
			}
			w = fmt.Sprint("stream=", r.actual(frame.StreamID(id)))
		}
		if !slices.Contains(got, w) {
			return false
		}
	}
	return true
}

// passOver says whether the client may send v at any time, so that the step goes on waiting.
func (r *run) passOver(s step, v fmt.Stringer) bool {
	wanted := s.alts[0][0]
	switch f := v.(type) {
	case frame.WindowUpdate, frame.Priority, frame.PriorityUpdate:
		return strings.Fields(v.String())[0] != wanted
	case frame.Settings, frame.Ping:
		return true // acknowledgements; the shadow counts them
	case frame.Data:
		if s.kind == 'b' || wanted == "DATA" || !r.uploading(f.Stream) {
			return false
		}
		r.passed += len(f.Data)
		return true
	case peer.Headers:
		return s.kind != 'b' && r.uploading(f.Stream)
	case frame.GoAway:
		// The client may be leaving in good order, which the end of the connection will tell.
		return f.Code == frame.NoError
	}
	return false
}

// uploading says whether the request on the stream has a body.
func (r *run) uploading(id frame.StreamID) bool {
	return slices.ContainsFunc(r.results, func(res *result) bool { return res.id == id && res.request.Method == "POST" })
}

// arrive notes a request that arrives; false for what is none.
func (r *run) arrive(h peer.Headers) bool {
	if slices.Contains(r.arrived, h.Stream) {
		return false
	}
	path := ""
	for _, f := range h.Fields {
		if f.Name == ":path" {
			path = f.Value
		}
	}
	r.arrived = append(r.arrived, h.Stream)
	for _, res := range r.results {
		if res.id == 0 && res.request.Path == path {
			res.id = h.Stream
			return true
		}
	}
	failf("a request for %q, which nobody asked for: %v", path, h)
	return false
}

// takeHead takes a request that has arrived.
func (r *run) takeHead(a alternative) bool {
	for i, h := range r.heads {
		if r.matches(a[:min(len(a), 2)], h) {
			if !r.matches(a, h) {
				failf("> %v\n  got  %v", a, h)
			}
			r.heads = slices.Delete(r.heads, i, i+1)
			return true
		}
	}
	return false
}

func isClosed(a alternative) bool { return a[0] == "closed" }

// noMore ends a step after which nothing more comes.
func (r *run) noMore(s step, err error) {
	if errors.Is(err, errTimeout) {
		failf("%s\n  got  nothing in %v", s.line, r.timeout)
	}
	if slices.ContainsFunc(s.alts, isClosed) {
		if i := slices.IndexFunc(s.alts, isClosed); !s.equal[i] {
			r.lower(Allowed, "the connection is closed")
		}
		r.ended, r.gone = true, true
		return
	}
	may := s.kind == 'b' && slices.ContainsFunc(r.may, func(a alternative) bool { return a[0] == "GOAWAY" })
	if !s.alts[0].isError() && !may {
		failf("%s\n  got  the end of the connection: %v", s.line, err)
	}
	r.lower(GaveUp, "%s\n  got  the end of the connection: %v", s.line, err)
	r.ended = true
}

// wantTotal reads DATA, in frames of any size, until there are as many octets as the step says, with those that came
// before anybody asked.
func (r *run) wantTotal(s step) {
	deadline := r.deadline()
	defer deadline.Stop()
	left := s.total - r.passed
	r.passed = 0
	if left < 0 && s.total != toTheEnd {
		failf("%s\n  got  %d octets already", s.line, s.total-left)
	}
	for left != 0 {
		v, err := r.next(deadline.C)
		if err != nil {
			failf("%s, of which %d are to come\n  got  %v", s.line, max(left, 0), err)
		}
		d, ok := v.(frame.Data)
		switch {
		case ok && s.total == toTheEnd && r.matches(s.alts[0][:2], v):
			if d.EndStream {
				return
			}
		case ok && len(d.Data) <= left && r.matches(s.alts[0][:2], v):
			left -= len(d.Data)
		case ok || !r.passOver(s, v):
			failf("%s, of which %d are to come\n  got  %v", s.line, max(left, 0), v)
		}
	}
}
