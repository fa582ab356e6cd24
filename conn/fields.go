package conn

import (
	"strconv"
	"strings"

	"example.com/h2flow/frame"
)

// The grammar of field names and values, and the fields that HTTP/2 forbids, for both directions.

// nameChars are the octets of a field name: the token characters of RFC 9110, Section 5.6.2, without upper case. That
// excludes 0x00 to 0x20, 'A' to 'Z', 0x7f to 0xff and the colon. RFC 9113, Section 8.2.1 (9113-8.2.1-1 to 3).
var nameChars = makeTable("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz")

// tokenChars are the octets of a method.
var tokenChars = makeTable("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")

func makeTable(chars string) (t [256]bool) {
	for i := range len(chars) {
		t[chars[i]] = true
	}
	return t
}

func allIn(s string, t *[256]bool) bool {
	for i := range len(s) {
		if !t[s[i]] {
			return false
		}
	}
	return s != ""
}

// validValue reports whether s may be a field value: no NUL, CR, LF or other control character but HTAB, and neither
// SP nor HTAB at its ends. RFC 9113, Section 8.2.1 (9113-8.2.1-4, 9113-8.2.1-5); RFC 9110, Section 5.5.
func validValue(s string) bool {
	if s == "" {
		return true
	}
	if first, last := s[0], s[len(s)-1]; first == ' ' || first == '\t' || last == ' ' || last == '\t' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// connectionSpecific reports whether HTTP/2 forbids the field in any message. RFC 9113, Section 8.2.2.
func connectionSpecific(name string) bool {
	switch name {
	case "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade":
		return true
	}
	return false
}

// fieldSize is what a field line counts against SETTINGS_MAX_HEADER_LIST_SIZE. RFC 9113, Section 6.5.2
// (9113-6.5.2-10).
func fieldSize(f frame.Field) int { return len(f.Name) + len(f.Value) + 32 }

// parseStatus reads a status code: three digits and nothing else; 101 has no place in HTTP/2. RFC 9110, Section 15;
// RFC 9113, Section 8.6 (9110-15-3, 9113-8.6-1).
func parseStatus(s string) (code int, ok bool) {
	if len(s) != 3 {
		return 0, false
	}
	for i := range 3 {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		code = code*10 + int(s[i]-'0')
	}
	return code, code >= 100 && code != 101
}

// parseContentLength reads a content-length: digits alone, within int64. RFC 9110, Section 8.6 (9110-8.6-3,
// 9110-8.6-4).
func parseContentLength(s string) (n int64, ok bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// A FieldError is a field of a request that may not be sent; nothing of the request was sent.
type FieldError struct {
	Name   string // of the field
	Reason string
}

// Error names the field and what is wrong with it.
func (e *FieldError) Error() string {
	return "invalid request: field " + strconv.Quote(e.Name) + " " + e.Reason
}

// requestHead is what the connection needs to know of a request.
type requestHead struct {
	method          string
	extendedConnect bool
	size            int
}

// checkRequest applies the rules for a request head to fields.
func checkRequest(fields []frame.Field) (requestHead, error) {
	var h requestHead
	pseudo := requestPseudo{}
	regular := false
	for _, f := range fields {
		h.size += fieldSize(f)
		if !strings.HasPrefix(f.Name, ":") {
			regular = true
			if err := checkSentField(f); err != nil {
				return h, err
			}
			continue
		}
		// Pseudo-header fields come before regular ones, each at most once. RFC 9113, Section 8.3 (9113-8.3-4).
		if regular {
			return h, &FieldError{f.Name, "comes after a regular field"}
		}
		if err := pseudo.set(f); err != nil {
			return h, err
		}
	}
	h.method = pseudo.method
	h.extendedConnect = pseudo.has[pseudoProtocol]
	return h, pseudo.check()
}

const (
	pseudoMethod = iota
	pseudoScheme
	pseudoAuthority
	pseudoPath
	pseudoProtocol
	numPseudo
)

var pseudoNames = [numPseudo]string{":method", ":scheme", ":authority", ":path", ":protocol"}

// requestPseudo collects the pseudo-header fields of a request.
type requestPseudo struct {
	has               [numPseudo]bool
	method, authority string
}

func (p *requestPseudo) set(f frame.Field) error {
	for i, name := range pseudoNames {
		if f.Name != name {
			continue
		}
		switch {
		case p.has[i]:
			return &FieldError{f.Name, "is there twice"}
		case i == pseudoMethod && !allIn(f.Value, &tokenChars):
			return &FieldError{f.Name, "is not a token"}
		case i != pseudoMethod && !validTarget(f.Value):
			return &FieldError{f.Name, "is empty or holds a space or a control character"}
		}
		switch i {
		case pseudoMethod:
			p.method = f.Value
		case pseudoAuthority:
			p.authority = f.Value
		}
		p.has[i] = true
		return nil
	}
	return &FieldError{f.Name, "is not a pseudo-header field of a request"}
}

// validTarget keeps octets out of pseudo-header fields that would break a request line built from them. RFC 9113,
// Section 10.3 (9113-10.3-1).
func validTarget(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f {
			return false
		}
	}
	return s != ""
}

// check demands :method, :scheme and :path, and of CONNECT :authority alone, unless it is an extended one. RFC 9113,
// Sections 8.3.1, 8.5 (9113-8.3.1-1, 9113-8.5-1); RFC 8441, Section 4.
func (p *requestPseudo) check() error {
	need := [numPseudo]bool{pseudoMethod: true, pseudoScheme: true, pseudoPath: true}
	connect := p.method == "CONNECT"
	switch {
	case p.has[pseudoProtocol] && !connect:
		return &FieldError{":protocol", "needs the method CONNECT"}
	case p.has[pseudoProtocol]:
		need[pseudoAuthority] = true
	case connect:
		need = [numPseudo]bool{pseudoMethod: true, pseudoAuthority: true}
		for _, i := range []int{pseudoScheme, pseudoPath} {
			if p.has[i] {
				return &FieldError{pseudoNames[i], "may not be in a CONNECT request"}
			}
		}
	}
	for i, needed := range need {
		if needed && !p.has[i] {
			return &FieldError{pseudoNames[i], "is missing"}
		}
	}
	if connect && !p.has[pseudoProtocol] && !hasPort(p.authority) {
		return &FieldError{":authority", "names no port, which CONNECT needs"}
	}
	return nil
}

// hasPort reports whether the target of a CONNECT request names a port; there is no default one. RFC 9110,
// Section 9.3.6 (9110-9.3.6-1).
func hasPort(target string) bool {
	i := strings.LastIndexByte(target, ':')
	return i > 0 && i < len(target)-1 && target[len(target)-1] != ']'
}

// checkSentField applies the rules for a regular field that this side sends. RFC 9113, Sections 8.2.1, 8.2.2
// (9113-8.2.1-6, 9113-8.2.2-1, 9113-8.2.2-3).
func checkSentField(f frame.Field) error {
	switch {
	case !allIn(f.Name, &nameChars):
		return &FieldError{f.Name, "is not a lower-case token"}
	case !validValue(f.Value):
		return &FieldError{f.Name, "has a value with a control character, or with a space at an end"}
	case connectionSpecific(f.Name):
		return &FieldError{f.Name, "is specific to a connection of HTTP/1.1"}
	case f.Name == "te" && f.Value != "trailers":
		return &FieldError{f.Name, "may only be \"trailers\""}
	}
	return nil
}

// checkTrailers applies the rules for request trailers: no pseudo-header fields (9113-8.1-3), and none that frames or
// routes the message (9110-6.5.1-2).
func checkTrailers(fields []frame.Field) error {
	for _, f := range fields {
		switch f.Name {
		case "content-length", "host", "authorization", "te", "trailer", "content-encoding", "content-type", "content-range":
			return &FieldError{f.Name, "may not be a trailer"}
		}
		if err := checkSentField(f); err != nil {
			return err
		}
	}
	return nil
}
