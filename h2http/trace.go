package h2http

import (
	"net/http/httptrace"
	"net/textproto"

	"example.com/h2flow"
)

// The hooks of an httptrace.ClientTrace. Those of the upload's goroutine are not called any more once RoundTrip has
// failed or the response body is closed; all others are called by RoundTrip, or by the dial while it waits for it.

func (x *exchange) traceGetConn() {
	if x.trace != nil && x.trace.GetConn != nil {
		addr, _ := dialAddress(x.req.URL) // acquire finds the error
		x.trace.GetConn(addr)
	}
}

func (x *exchange) traceGotConn(pc *poolConn, info httptrace.GotConnInfo) {
	if x.trace != nil && x.trace.GotConn != nil {
		info.Conn = pc.cc.NetConn()
		x.trace.GotConn(info)
	}
}

// traceWroteHeaders tells the fields and that they were handed to the connection.
func (x *exchange) traceWroteHeaders() {
	if x.trace == nil {
		return
	}
	if wrote := x.trace.WroteHeaderField; wrote != nil {
		m := &x.msg.Request
		for _, f := range [...]h2flow.Field{
			{Name: ":authority", Value: m.Authority}, {Name: ":method", Value: m.Method},
			{Name: ":path", Value: m.Path}, {Name: ":scheme", Value: m.Scheme}, {Name: ":protocol", Value: m.Protocol},
		} {
			if f.Value != "" {
				wrote(f.Name, []string{f.Value})
			}
		}
		for _, f := range m.Header {
			wrote(f.Name, []string{f.Value})
		}
	}
	if x.trace.WroteHeaders != nil {
		x.trace.WroteHeaders()
	}
}

func (x *exchange) traceWroteRequest(err error) {
	if x.trace != nil && x.trace.WroteRequest != nil {
		x.trace.WroteRequest(httptrace.WroteRequestInfo{Err: err})
	}
}

func (x *exchange) traceFirstByte() {
	if x.trace != nil && x.trace.GotFirstResponseByte != nil {
		x.trace.GotFirstResponseByte()
	}
}

func (x *exchange) traceContinue() {
	if x.trace != nil && x.trace.Got100Continue != nil {
		x.trace.Got100Continue()
	}
}

// traceInterim tells an interim head; the hook's error ends the request.
func (x *exchange) traceInterim(head h2flow.Head) error {
	if x.trace == nil || x.trace.Got1xxResponse == nil {
		return nil
	}
	return x.trace.Got1xxResponse(head.Status, textproto.MIMEHeader(makeHeader(head.Fields)))
}

func (u *upload) traceWait100Continue() {
	u.traceMu.Lock()
	defer u.traceMu.Unlock()
	if u.trace != nil && u.trace.Wait100Continue != nil && !u.gone {
		u.trace.Wait100Continue()
	}
}

// wroteRequest tells that the body was sent, or why not.
func (u *upload) wroteRequest(err error) {
	u.traceMu.Lock()
	defer u.traceMu.Unlock()
	if u.trace != nil && u.trace.WroteRequest != nil && !u.gone {
		u.trace.WroteRequest(httptrace.WroteRequestInfo{Err: err})
	}
}
