package h2http

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/frame"
)

// maxRetries is how often one request is sent again. Counted for each request, it ends however many connections the
// server refuses it on.
const maxRetries = 3

// The pauses before a request is sent again, doubled each time and with up to a quarter more at random, so that what
// was refused together does not come back together.
const (
	retryPause = 50 * time.Millisecond
	// calmPause is for a server that says it is asked too much.
	calmPause = time.Second
)

// prepareRetry makes the exchange ready for another attempt, or returns why there is none.
func (x *exchange) prepareRetry(err error) error {
	// Only what the server did not act on may be sent again. RFC 9113, Section 8.7.
	if x.retries == maxRetries || !h2flow.Retryable(err) && !x.mayRepeat(err) {
		return err
	}
	if x.single != nil && !x.single.pc.cc.State().Available {
		return err
	}
	if rerr := x.rewind(err); rerr != nil {
		return rerr
	}
	pause := pauseBefore(x.retries, err)
	x.retries++
	x.t.pool.counters.retries.Add(1)
	if pause == 0 {
		return nil
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-x.ctx.Done():
		return contextFailure(x.ctx)
	}
}

// mayRepeat says whether a request that the server may have acted on is sent again: one that is idempotent, if the
// caller allows it, whose connection ended before any of the response came. See RFC 9110, Section 9.2.2.
func (x *exchange) mayRepeat(err error) bool {
	if !x.t.RetryIdempotent || !isIdempotent(x.req) {
		return false
	}
	var (
		stream *h2flow.StreamError
		goAway *h2flow.GoAwayError
		conn   *h2flow.ConnError
	)
	switch {
	case errors.As(err, &stream) && stream.Answered:
		return false
	case errors.As(err, &goAway):
		return true
	case errors.As(err, &conn):
		// A server that breaks the protocol in its first answer would do so again.
		return !isFault(conn.Code) || stream == nil || stream.StreamID > 1
	}
	return false // the stream alone was reset, and the server knows why
}

// isFault says whether a connection that ended with code did so for an error that the protocol forbids, rather than
// because it broke or fell silent.
func isFault(code frame.ErrCode) bool { return code != frame.NoError && code != frame.InternalError }

// isIdempotent says whether a request has the same effect however often it is sent, by its method or because the caller
// says so as for net/http.
func isIdempotent(req *http.Request) bool {
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	}
	return req.Header["Idempotency-Key"] != nil || req.Header["X-Idempotency-Key"] != nil
}

// rewind makes the whole body available again, once the failed attempt is done with it.
func (x *exchange) rewind(err error) error {
	if x.up != nil {
		select {
		case <-x.up.done:
		case <-x.ctx.Done():
			return contextFailure(x.ctx)
		}
	}
	if !hasBody(x.req) || x.body != nil {
		return nil
	}
	switch {
	case x.req.GetBody == nil && !h2flow.Retryable(err):
		return err
	case x.req.GetBody == nil:
		return &unreplayableError{err}
	}
	body, gerr := x.req.GetBody()
	if gerr != nil {
		return errors.Join(gerr, err)
	}
	x.body = body
	return nil
}

// pauseBefore is how long to wait before a request that failed with err is sent again.
func pauseBefore(retries int, err error) time.Duration {
	base := retryPause
	switch code, closing := refusal(err); {
	case code == frame.EnhanceYourCalm:
		base = calmPause
	case closing && retries == 0:
		// The server closes this connection in good order, or it is gone: another one is as good as new.
		return 0
	}
	pause := base << retries
	return pause + rand.N(pause/4)
}

// refusal is the code with which the server did not act on a request, and whether it was the connection that ended.
func refusal(err error) (code frame.ErrCode, closing bool) {
	var goAway *h2flow.GoAwayError
	if errors.As(err, &goAway) {
		return goAway.ErrCode, true
	}
	var conn *h2flow.ConnError
	if errors.As(err, &conn) {
		return conn.Code, true
	}
	var stream *h2flow.StreamError
	if errors.As(err, &stream) {
		return stream.Code, false
	}
	return frame.NoError, true
}
