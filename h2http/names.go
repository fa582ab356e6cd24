package h2http

import (
	"net/textproto"
	"strings"
)

// commonNames are field names that are worth no allocation, as net/http spells them.
var commonNames = [...]string{
	"Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Accept-Ranges", "Age",
	"Access-Control-Allow-Credentials", "Access-Control-Allow-Headers", "Access-Control-Allow-Methods",
	"Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Access-Control-Max-Age",
	"Access-Control-Request-Headers", "Access-Control-Request-Method", "Allow", "Alt-Svc", "Authorization",
	"Cache-Control", "Connect-Protocol-Version", "Connect-Timeout-Ms", "Connection", "Content-Disposition",
	"Content-Encoding", "Content-Language", "Content-Length", "Content-Location", "Content-Range",
	"Content-Security-Policy", "Content-Type", "Cookie", "Cross-Origin-Opener-Policy",
	"Cross-Origin-Resource-Policy", "Date", "Dnt", "Etag", "Expect", "Expires", "Forwarded", "From",
	"Grpc-Accept-Encoding", "Grpc-Encoding", "Grpc-Message", "Grpc-Status", "Grpc-Status-Details-Bin",
	"Grpc-Timeout", "Host", "Http2-Settings", "Idempotency-Key", "If-Match", "If-Modified-Since", "If-None-Match",
	"If-Range", "If-Unmodified-Since", "Keep-Alive", "Last-Modified", "Link", "Location", "Max-Forwards", "Origin",
	"Permissions-Policy", "Pragma", "Priority", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection",
	"Range", "Referer", "Referrer-Policy", "Refresh", "Retry-After", "Server", "Server-Timing", "Set-Cookie",
	"Strict-Transport-Security", "Te", "Traceparent", "Tracestate", "Trailer", "Transfer-Encoding", "Upgrade",
	"Upgrade-Insecure-Requests", "User-Agent", "Vary", "Via", "Warning", "Www-Authenticate",
	"X-Content-Type-Options", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Frame-Options",
	"X-Powered-By", "X-Real-Ip", "X-Request-Id", "X-Xss-Protection",
}

// lowerNames and canonicalNames map the spelling of net/http to that of the wire, and back.
var lowerNames, canonicalNames = makeNames()

func makeNames() (lower, canonical map[string]string) {
	lower = make(map[string]string, len(commonNames))
	canonical = make(map[string]string, len(commonNames))
	for _, name := range commonNames {
		l := strings.ToLower(name)
		lower[name], canonical[l] = l, name
	}
	return lower, canonical
}

// canonicalName is a field name from the wire as http.Header has it.
func canonicalName(lower string) string {
	if name, ok := canonicalNames[lower]; ok {
		return name
	}
	return textproto.CanonicalMIMEHeaderKey(lower)
}

// lowerName is a key of an http.Header as the wire has it; ok is false if it is no field name.
func lowerName(key string) (name string, ok bool) {
	if name, ok := lowerNames[key]; ok {
		return name, true
	}
	if !isToken(key) {
		return "", false
	}
	// Names are lower case on the wire. RFC 9113, Section 8.2.
	return strings.ToLower(key), true
}

// isToken says whether s is a token: a method or a field name. See RFC 9110, Section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		if !isTokenChar(s[i]) {
			return false
		}
	}
	return s != ""
}

func isTokenChar(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return c < 0x80 && strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

// isFieldValue says whether s may stand in a field value: no control characters but HTAB.
// See RFC 9110, Section 5.5, and RFC 9113, Section 8.2.1.
func isFieldValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// tokens yields the elements of a comma-separated field value, without the whitespace around them.
func tokens(value string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for value != "" {
			token, rest, _ := strings.Cut(value, ",")
			if token = textproto.TrimString(token); token != "" && !yield(token) {
				return
			}
			value = rest
		}
	}
}

// hasToken says whether one of the values has token as an element, in any case.
func hasToken(values []string, token string) bool {
	for _, v := range values {
		for t := range tokens(v) {
			if strings.EqualFold(t, token) {
				return true
			}
		}
	}
	return false
}
