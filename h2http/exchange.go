package h2http

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"sync/atomic"
	"time"

	"example.com/h2flow"
)

// An exchange is one request, over all its attempts, and the response and its body in the end. They are one value so
// that a request costs one allocation here.
//
// Model: RoundTrip owns the exchange until it returns. Then the reader of the body owns readErr and the trailers;
// closed and over are for Close, which may come from anywhere. What an attempt sends in the background is in up, a
// value of its own, so that an upload left behind can disturb no later attempt.
type exchange struct {
	resp http.Response

	t      *Transport
	single *ClientConn // the only connection to use; nil: the pool chooses
	req    *http.Request
	msg    *message
	trace  *httptrace.ClientTrace

	// ctx ends with the request's context or its Cancel channel; unwatch, if not nil, stops looking at the latter.
	ctx     context.Context
	unwatch context.CancelFunc

	tunnel  *Tunnel       // what CONNECT is to open, if that is what is asked for
	body    io.ReadCloser // of the request; nil once an upload has it, or if there is none
	retries int

	pc     *poolConn
	stream *h2flow.ClientStream
	sent   time.Time // when the head went to the connection
	up     *upload

	readErr error // what every further Read gives
	closed  atomic.Bool
	over    atomic.Bool // the response side is done with
}

// newExchange checks req and maps it. The body is closed if that fails.
func (t *Transport) newExchange(req *http.Request) (*exchange, error) {
	x := &exchange{t: t, req: req, ctx: req.Context()}
	if hasBody(req) {
		x.body = req.Body
	}
	var err error
	if x.msg, err = t.newMessage(req); err != nil {
		x.closeRequestBody()
		return nil, err
	}
	x.trace = httptrace.ContextClientTrace(x.ctx)
	return x, nil
}

// run makes attempts until one gives a response or an error that is final.
func (x *exchange) run() (*http.Response, error) {
	x.watchCancel()
	for {
		err := x.attempt()
		if err == nil {
			return &x.resp, nil
		}
		x.t.countError(err)
		if err = x.prepareRetry(err); err != nil {
			x.closeRequestBody()
			if x.unwatch != nil {
				x.unwatch()
			}
			return nil, err
		}
	}
}

// watchCancel makes the deprecated Request.Cancel end the context. An http.Client with a Timeout sets it.
func (x *exchange) watchCancel() {
	//lint:ignore SA1019 deprecated for those who make requests, and still set for those who serve them
	canceled := x.req.Cancel
	if canceled == nil {
		return
	}
	ctx, cancel := context.WithCancelCause(x.ctx)
	x.ctx, x.unwatch = ctx, func() { cancel(nil) }
	go func() {
		select {
		case <-canceled:
			if d, ok := ctx.Deadline(); ok && !time.Now().Before(d) {
				<-ctx.Done() // a Client's timeout does both, and the context's own error says more
			}
			cancel(errRequestCanceled)
		case <-ctx.Done():
		}
	}()
}

func (x *exchange) closeRequestBody() {
	if x.body != nil {
		x.body.Close()
		x.body = nil
	}
}

// attempt sends the request on one connection and waits for the response head.
func (x *exchange) attempt() error {
	if x.ctx.Err() != nil {
		return contextFailure(x.ctx)
	}
	x.pc, x.stream, x.up = nil, nil, nil
	pc, err := x.acquire()
	if err != nil {
		return x.failure(err)
	}
	x.pc = pc
	head, err := x.exchangeHeads()
	if err != nil {
		err = x.failure(err)
		if x.stream != nil && isTimeout(err) {
			x.pc.timedOut(x.sent)
		}
		x.abandon()
		return err
	}
	if x.tunnel != nil {
		return x.established(head)
	}
	x.respond(head)
	return nil
}

// acquire gets the connection for one attempt.
func (x *exchange) acquire() (*poolConn, error) {
	x.traceGetConn()
	get := x.t.pool.get
	if x.single != nil {
		get = x.single.get
	}
	pc, info, err := get(x)
	if err == nil {
		x.traceGotConn(pc, info)
	}
	return pc, err
}

// exchangeHeads sends the request head, has the body sent, and reads response heads up to the final one.
func (x *exchange) exchangeHeads() (h2flow.Head, error) {
	var err error
	x.stream, err = x.pc.cc.OpenStream(x.ctx, &x.msg.Request)
	x.pc.opened()
	if err != nil {
		return h2flow.Head{}, err
	}
	x.sent = time.Now()
	x.traceWroteHeaders()
	timeout := x.t.ResponseHeaderTimeout
	if x.msg.EndStream || x.tunnel != nil {
		x.traceWroteRequest(nil)
		if timeout > 0 {
			x.stream.SetReadDeadline(time.Now().Add(timeout))
		}
	} else {
		x.up = newUpload(x)
		x.body = nil
		go x.up.run()
	}
	head, err := x.readHeads()
	if err != nil {
		return head, err
	}
	if x.up != nil {
		x.up.gotHead(head.Status)
	}
	if timeout > 0 {
		x.stream.SetReadDeadline(time.Time{})
	}
	return head, nil
}

// readHeads tells interim heads to the trace and to the upload, and returns the final head.
func (x *exchange) readHeads() (h2flow.Head, error) {
	for first := true; ; first = false {
		head, err := x.stream.ReadHead()
		if err != nil {
			return head, err
		}
		if first {
			x.traceFirstByte()
		}
		if !head.Interim() {
			return head, nil
		}
		if head.Status == http.StatusContinue {
			x.traceContinue()
			if x.up != nil {
				x.up.open()
			}
		}
		if err := x.traceInterim(head); err != nil {
			return head, err
		}
	}
}

// abandon ends a failed attempt: the stream is over, and nothing touches the request any more.
func (x *exchange) abandon() {
	if x.stream != nil {
		x.stream.Close()
	}
	if x.up == nil {
		x.pc.release()
		return
	}
	x.body = x.up.abandon()
	x.up.sideDone()
}

// failure says why the exchange failed: a failure of the request body and the end of the context come before what they
// did to the stream.
func (x *exchange) failure(err error) error {
	if x.up != nil {
		if uerr := x.up.failure(); uerr != nil {
			return uerr
		}
	}
	switch {
	case isContextEnd(x.ctx, err):
		return contextFailure(x.ctx)
	case x.t.ResponseHeaderTimeout > 0 && x.resp.Body == nil && errors.Is(err, os.ErrDeadlineExceeded):
		return &TimeoutError{"the response head"}
	}
	return err
}
