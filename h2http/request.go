package h2http

import (
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"example.com/h2flow"
)

// defaultUserAgent is sent where the request has no User-Agent field.
const defaultUserAgent = "h2flow/1"

// A message is a request as the engine takes it. Messages are used again: the slice of fields is what a request
// without a body would otherwise allocate most for.
type message struct {
	h2flow.Request

	length         int64 // of the body in octets; -1: not known
	gzip           bool  // gzip was asked for by the Transport, which has to undo it
	lastOnConn     bool  // the connection takes no request after this one
	expectContinue bool

	// Fields that the request has, whatever the spelling of their names.
	hasUserAgent, hasAcceptEncoding, hasRange bool
}

// maxKeptFields bounds the memory that one odd request leaves behind.
const maxKeptFields = 64

var messages = sync.Pool{New: func() any {
	return &message{Request: h2flow.Request{Header: make([]h2flow.Field, 0, 16)}}
}}

// newMessage checks req and maps it. What is wrong is a *RequestError, before anything is sent.
func (t *Transport) newMessage(req *http.Request) (*message, error) {
	m := messages.Get().(*message)
	if err := m.set(t, req); err != nil {
		m.free()
		return nil, err
	}
	return m, nil
}

// free gives m back; nothing may read it any more.
func (m *message) free() {
	if cap(m.Header) > maxKeptFields {
		return
	}
	clear(m.Header[:cap(m.Header)])
	*m = message{Request: h2flow.Request{Header: m.Header[:0]}}
	messages.Put(m)
}

func (m *message) set(t *Transport, req *http.Request) error {
	if err := m.setTarget(t, req); err != nil {
		return err
	}
	if err := m.setLength(req); err != nil {
		return err
	}
	if err := m.appendHeader(req); err != nil {
		return err
	}
	if err := m.appendTrailerNames(req.Trailer); err != nil {
		return err
	}
	if m.Method == http.MethodTrace && m.length != 0 {
		// A TRACE request has no content. RFC 9110, Section 9.3.8 (9110-9.3.8-1).
		return &RequestError{"TRACE with a Body"}
	}
	m.EndStream = m.length == 0 && len(req.Trailer) == 0
	m.expectContinue = m.expectContinue && m.length != 0
	m.lastOnConn = m.lastOnConn || req.Close

	// A request for a range, or one that says what it accepts, gets what it asked for.
	if !t.DisableCompression && !m.hasAcceptEncoding && !m.hasRange &&
		m.Method != http.MethodHead && m.Method != http.MethodConnect {
		m.gzip = true
		m.add("accept-encoding", "gzip")
	}
	if !m.hasUserAgent {
		m.add("user-agent", defaultUserAgent)
	}
	switch {
	case m.length > 0 && m.Method != http.MethodConnect:
		m.add("content-length", strconv.FormatInt(m.length, 10))
	case m.length == 0 && (m.Method == "POST" || m.Method == "PUT" || m.Method == "PATCH"):
		// It says that there is no content where usually there is. RFC 9110, Section 8.6.
		m.add("content-length", "0")
	}
	return nil
}

func (m *message) add(name, value string) {
	m.Header = append(m.Header, h2flow.Field{Name: name, Value: value})
}

// setTarget sets the pseudo-header fields. See RFC 9113, Sections 8.3.1 and 8.5.
func (m *message) setTarget(t *Transport, req *http.Request) error {
	switch {
	case req.URL == nil:
		return &RequestError{"no URL"}
	case req.Header == nil:
		return &RequestError{"no Header"}
	case req.URL.Scheme == "http" && !t.AllowHTTP:
		return &RequestError{"an http URL means HTTP/2 in cleartext, which only Transport.AllowHTTP permits"}
	case req.URL.Scheme != "http" && req.URL.Scheme != "https":
		return &RequestError{"unsupported scheme " + strconv.Quote(req.URL.Scheme)}
	}
	if m.Method = req.Method; m.Method == "" {
		m.Method = http.MethodGet
	}
	if !isToken(m.Method) {
		return &RequestError{"method " + strconv.Quote(m.Method)}
	}
	var err error
	if m.Authority, err = authority(req); err != nil {
		return err
	}
	if m.Method == http.MethodConnect {
		// The fields :scheme and :path are left out, unless the extension for other protocols asks for them.
		// RFC 9113, Section 8.5, and RFC 8441, Section 4.
		v := req.Header[":protocol"]
		if len(v) != 1 || !isToken(v[0]) {
			return checkPort(m.Authority)
		}
		m.Protocol = v[0]
	}
	m.Scheme = req.URL.Scheme
	m.Path, err = requestPath(req.URL)
	return err
}

// checkPort refuses the target of a CONNECT request that names no port; there is no default one. RFC 9110, Section 9.3.6
// (9110-9.3.6-1).
func checkPort(target string) error {
	if i := strings.LastIndexByte(target, ':'); i < 1 || i == len(target)-1 || strings.HasSuffix(target, "]") {
		return &RequestError{"CONNECT to " + strconv.Quote(target) + ", which names no port"}
	}
	return nil
}

// authority is the value of :authority: the host without userinfo, zone, or a colon that no port follows.
func authority(req *http.Request) (string, error) {
	host := req.Host
	if host == "" {
		host = req.URL.Host
	}
	if host == "" {
		return "", &RequestError{"no host"}
	}
	host, err := asciiHost(host)
	if err != nil {
		return "", err
	}
	// The zone of an IPv6 address means something on this machine only. RFC 6874, Section 4.
	if i, j := strings.IndexByte(host, '%'), strings.LastIndexByte(host, ']'); host[0] == '[' && 0 < i && i < j {
		host = host[:i] + host[j:]
	}
	return strings.TrimSuffix(host, ":"), nil
}

// requestPath is the value of :path.
func requestPath(u *url.URL) (string, error) {
	path := u.RequestURI()
	if u.Opaque != "" && path[0] != '/' {
		path = strings.TrimPrefix(path, u.Scheme+"://"+u.Host)
	}
	if path != "*" && (path == "" || path[0] != '/') {
		return "", &RequestError{"path " + strconv.Quote(path)}
	}
	for i := range len(path) {
		if path[i] <= ' ' || path[i] == 0x7f {
			return "", &RequestError{"path or query with a space or control character: " + strconv.Quote(path)}
		}
	}
	return path, nil
}

// setLength finds out how long the body is. A body whose length is given as 0 has a length that is not known.
func (m *message) setLength(req *http.Request) error {
	switch {
	case hasBody(req) && req.ContentLength > 0:
		m.length = req.ContentLength
	case hasBody(req):
		m.length = -1
	case req.ContentLength > 0:
		return &RequestError{"ContentLength " + strconv.FormatInt(req.ContentLength, 10) + " without a Body"}
	}
	return nil
}

func hasBody(req *http.Request) bool { return req.Body != nil && req.Body != http.NoBody }

// appendHeader maps the fields of the request, less those that belong to an HTTP/1 connection.
func (m *message) appendHeader(req *http.Request) error {
	for key, values := range req.Header {
		if key == ":protocol" && m.Protocol != "" {
			continue
		}
		name, ok := lowerName(key)
		if !ok {
			return &RequestError{"field name " + strconv.Quote(key)}
		}
		for _, v := range values {
			if !isFieldValue(v) {
				return &RequestError{"value of field " + name + ": a control character"}
			}
		}
		if err := m.appendField(req, name, values); err != nil {
			return err
		}
	}
	return nil
}

func (m *message) appendField(req *http.Request, name string, values []string) error {
	switch name {
	case "host", "content-length", "keep-alive", "proxy-connection", "http2-settings":
		// Fields about a connection must not be sent; the host is in :authority, and the length is what Request
		// says. RFC 9113, Section 8.2.2.
	case "connection", "transfer-encoding", "upgrade":
		return m.checkConnectionField(name, values)
	case "te":
		// The only value that TE may have. RFC 9113, Section 8.2.2.
		if hasToken(values, "trailers") {
			m.add("te", "trailers")
		}
	case "trailer":
		if len(req.Trailer) == 0 {
			m.addAll(name, values, false)
		}
	case "expect":
		// Without content there is nothing to wait with. RFC 9110, Section 10.1.1 (9110-10.1.1-1).
		if m.expectContinue = hasToken(values, "100-continue"); !m.expectContinue || m.length != 0 {
			m.addAll(name, values, false)
		}
	case "accept-encoding":
		m.hasAcceptEncoding = len(values) > 0
		m.addAll(name, values, false)
	case "range":
		m.hasRange = len(values) > 0
		m.addAll(name, values, false)
	case "user-agent":
		m.hasUserAgent = true
		if len(values) > 0 && values[0] != "" {
			m.addAll(name, values[:1], false)
		}
	case "cookie":
		m.addCookies(values)
	default:
		m.addAll(name, values, name == "authorization" || name == "proxy-authorization")
	}
	return nil
}

func (m *message) addAll(name string, values []string, sensitive bool) {
	for _, v := range values {
		// A value has no whitespace around it. RFC 9113, Section 8.2.1.
		m.Header = append(m.Header, h2flow.Field{Name: name, Value: textproto.TrimString(v), Sensitive: sensitive})
	}
}

// shortCookie is the length below which a cookie could be guessed octet by octet from its compressed size, so that it
// is kept out of the table. See RFC 7541, Section 7.1.3.
const shortCookie = 20

// addCookies splits cookies into fields of their own, which compress better. See RFC 9113, Section 8.2.3.
func (m *message) addCookies(values []string) {
	for _, v := range values {
		for v != "" {
			crumb, rest, _ := strings.Cut(v, ";")
			if crumb = textproto.TrimString(crumb); crumb != "" {
				m.Header = append(m.Header,
					h2flow.Field{Name: "cookie", Value: crumb, Sensitive: len(crumb) < shortCookie})
			}
			v = rest
		}
	}
}

// checkConnectionField lets pass what means nothing in HTTP/2 or what Request has another name for. The rest asks for
// something that HTTP/2 cannot do, and would be lost silently. See RFC 9113, Section 8.2.2.
func (m *message) checkConnectionField(name string, values []string) error {
	for _, v := range values {
		for t := range tokens(v) {
			switch {
			case name == "connection" && strings.EqualFold(t, "close"):
				m.lastOnConn = true
			case name == "connection" && strings.EqualFold(t, "keep-alive"):
			case name == "transfer-encoding" && strings.EqualFold(t, "chunked"):
			default:
				return &RequestError{"field " + name + ": " + strconv.Quote(v) + " has no meaning in HTTP/2"}
			}
		}
	}
	return nil
}

// appendTrailerNames announces the trailer fields. See RFC 9110, Section 6.6.2.
func (m *message) appendTrailerNames(trailer http.Header) error {
	if len(trailer) == 0 {
		return nil
	}
	names := make([]string, 0, len(trailer))
	for key := range trailer {
		name, ok := lowerName(key)
		if !ok || !mayBeTrailer(name) {
			return &RequestError{"trailer field name " + strconv.Quote(key)}
		}
		names = append(names, name)
	}
	slices.Sort(names)
	m.add("trailer", strings.Join(names, ","))
	return nil
}

// mayBeTrailer keeps fields that frame the message, or its connection, out of trailers. See RFC 9110, Section 6.5.1.
func mayBeTrailer(name string) bool {
	switch name {
	case "transfer-encoding", "trailer", "content-length", "host", "te", "connection", "keep-alive",
		"proxy-connection", "upgrade":
		return false
	}
	return true
}

// trailerFields maps the trailers, whose values may be filled in until the body has ended.
func trailerFields(trailer http.Header) ([]h2flow.Field, error) {
	var fields []h2flow.Field
	for key, values := range trailer {
		name, ok := lowerName(key)
		if !ok || !mayBeTrailer(name) {
			return nil, &RequestError{"trailer field name " + strconv.Quote(key)}
		}
		for _, v := range values {
			if !isFieldValue(v) {
				return nil, &RequestError{"value of trailer field " + name + ": a control character"}
			}
			fields = append(fields, h2flow.Field{Name: name, Value: textproto.TrimString(v)})
		}
	}
	return fields, nil
}
