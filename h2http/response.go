package h2http

import (
	"io"
	"net/http"
	"strconv"
	"strings"

	"example.com/h2flow"
)

// respond makes the response from its final head.
func (x *exchange) respond(head h2flow.Head) {
	r := &x.resp
	r.Status, r.StatusCode = statusLine(head.Status), head.Status
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/2.0", 2, 0
	r.Header = makeHeader(head.Fields)
	r.Request = x.req
	r.TLS = x.pc.tls
	r.ContentLength = x.contentLength(head)
	if values, ok := r.Header["Trailer"]; ok {
		r.Trailer = announcedTrailer(values)
		delete(r.Header, "Trailer")
	}
	r.Body = x
	if head.EndStream {
		x.endBody(io.EOF)
		if x.up == nil || x.up.isDone() {
			r.Body = http.NoBody
		}
		return
	}
	if x.msg.gzip && strings.EqualFold(r.Header.Get("Content-Encoding"), "gzip") {
		delete(r.Header, "Content-Encoding")
		delete(r.Header, "Content-Length")
		r.ContentLength = -1
		r.Uncompressed = true
		r.Body = &gunzipBody{x: x}
	}
}

// contentLength is the length of the body that the head declares, or -1.
func (x *exchange) contentLength(head h2flow.Head) int64 {
	switch {
	case x.msg.Method == http.MethodConnect && head.Status/100 == 2:
		// A tunnel has no length, whatever the head says. RFC 9110, Section 9.3.6.
		return -1
	case head.EndStream && head.ContentLength < 0 && x.msg.Method != http.MethodHead:
		return 0
	}
	return head.ContentLength
}

// makeHeader maps received field lines. All values share one array.
func makeHeader(fields []h2flow.Field) http.Header {
	h := make(http.Header, len(fields))
	values := make([]string, len(fields))
	for i, f := range fields {
		if f.Name != "" && f.Name[0] == ':' {
			continue
		}
		key := canonicalName(f.Name)
		if got, ok := h[key]; ok {
			h[key] = append(got, f.Value)
			continue
		}
		values[i] = f.Value
		h[key] = values[i : i+1 : i+1]
	}
	return h
}

// announcedTrailer has a key without values for each field that the head announces. See RFC 9110, Section 6.6.2.
func announcedTrailer(values []string) http.Header {
	trailer := make(http.Header)
	for _, v := range values {
		for name := range tokens(v) {
			if name = http.CanonicalHeaderKey(name); mayBeTrailer(strings.ToLower(name)) {
				trailer[name] = nil
			}
		}
	}
	return trailer
}

// statusLine is a status as http.Response.Status has it.
func statusLine(code int) string {
	switch code {
	case 200:
		return "200 OK"
	case 204:
		return "204 No Content"
	case 206:
		return "206 Partial Content"
	case 304:
		return "304 Not Modified"
	case 404:
		return "404 Not Found"
	}
	return strings.TrimSuffix(strconv.Itoa(code)+" "+http.StatusText(code), " ")
}
