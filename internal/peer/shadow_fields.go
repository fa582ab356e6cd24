package peer

import (
	"strings"

	"example.com/h2flow/frame"
)

// requestPseudo are the pseudo-header fields of a request. See RFC 9113, Section 8.3.1, RFC 8441, Section 4.
var requestPseudo = map[string]bool{
	":method": true, ":scheme": true, ":authority": true, ":path": true, ":protocol": true,
}

// connectionFields are never sent in HTTP/2. See RFC 9113, Section 8.2.2 (9113-8.2.2-1).
var connectionFields = map[string]bool{
	"connection": true, "proxy-connection": true, "keep-alive": true, "transfer-encoding": true, "upgrade": true,
}

// checkFields checks the field section of a request or, without pseudo-header fields, of trailers.
func (s *Shadow) checkFields(h Headers, request bool) {
	seen := map[string]string{}
	regular := false
	for _, f := range h.Fields {
		if !strings.HasPrefix(f.Name, ":") {
			regular = true
			s.checkRegular(h.Stream, f)
			continue
		}
		_, twice := seen[f.Name]
		switch {
		// RFC 9113, Section 8.1: trailers have no pseudo-header fields.
		case !request:
			s.violate("stream %d: %s in trailers", h.Stream, f.Name)
		// RFC 9113, Section 8.3: each at most once, defined ones only, ahead of the rest.
		case twice:
			s.violate("stream %d: %s twice", h.Stream, f.Name)
		case !requestPseudo[f.Name]:
			s.violate("stream %d: %s in a request", h.Stream, f.Name)
		case regular:
			s.violate("stream %d: %s after a regular field", h.Stream, f.Name)
		}
		seen[f.Name] = f.Value
		s.checkValue(h.Stream, f)
	}
	if request {
		s.checkPseudo(h.Stream, seen)
	}
}

// checkPseudo checks that what a request needs is there. RFC 9113, Sections 8.3.1 and 8.5.
func (s *Shadow) checkPseudo(stream frame.StreamID, seen map[string]string) {
	_, scheme := seen[":scheme"]
	_, path := seen[":path"]
	_, protocol := seen[":protocol"]
	switch connect := seen[":method"] == "CONNECT"; {
	case seen[":method"] == "":
		s.violate("stream %d: no :method", stream)
	case connect && !protocol && (scheme || path):
		s.violate("stream %d: CONNECT with :scheme or :path", stream)
	case connect && seen[":authority"] == "":
		s.violate("stream %d: CONNECT without :authority", stream)
	case !connect && protocol:
		s.violate("stream %d: :protocol without CONNECT", stream)
	case (!connect || protocol) && (!scheme || seen[":path"] == ""):
		s.violate("stream %d: no :scheme or no :path", stream)
	}
}

// checkRegular checks a field that is no pseudo-header field.
func (s *Shadow) checkRegular(stream frame.StreamID, f frame.Field) {
	switch {
	// Names are lower-case tokens. RFC 9113, Section 8.2 (9113-8.2-1), Section 8.2.1 (9113-8.2.1-6).
	case f.Name == "" || strings.ContainsFunc(f.Name, notInName):
		s.violate("stream %d: field name %q", stream, f.Name)
	case connectionFields[f.Name]:
		s.violate("stream %d: field %s (9113-8.2.2-1)", stream, f.Name)
	// RFC 9113, Section 8.2.2 (9113-8.2.2-3).
	case f.Name == "te" && f.Value != "trailers":
		s.violate("stream %d: te with the value %q", stream, f.Value)
	}
	s.checkValue(stream, f)
}

// checkValue checks a value. RFC 9113, Section 8.2.1 (9113-8.2.1-6).
func (s *Shadow) checkValue(stream frame.StreamID, f frame.Field) {
	if strings.ContainsAny(f.Value, "\x00\r\n") || strings.Trim(f.Value, " \t") != f.Value {
		s.violate("stream %d: field %s has the value %q", stream, f.Name, f.Value)
	}
}

func notInName(c rune) bool {
	return c <= ' ' || c >= 0x7f || 'A' <= c && c <= 'Z' || c == ':'
}
