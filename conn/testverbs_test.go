package conn_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
)

// What the application does, on both sides of a testConn.

// open begins a request without a body and returns its stream.
func (tc *testConn) open(fields []frame.Field) frame.StreamID {
	tc.t.Helper()
	return tc.mustOpen(fields, true)
}

// upload begins a request whose body follows.
func (tc *testConn) upload(fields []frame.Field) frame.StreamID {
	tc.t.Helper()
	return tc.mustOpen(fields, false)
}

func (tc *testConn) mustOpen(fields []frame.Field, end bool) frame.StreamID {
	tc.t.Helper()
	id, err := tc.tryOpen(fields, end)
	if err != nil {
		tc.fatalf("Open: %v", err)
	}
	return id
}

func (tc *testConn) tryOpen(fields []frame.Field, end bool) (frame.StreamID, error) {
	tc.t.Helper()
	var ids []frame.StreamID
	var errs []error
	tc.step(func(s *side) {
		id, err := s.c.Open(tc.now, fields, end)
		ids, errs = append(ids, id), append(errs, err)
	})
	if ids[0] != ids[1] || fmt.Sprint(errs[0]) != fmt.Sprint(errs[1]) {
		tc.fatalf("Open: %v and %v, %v and %v", ids[0], ids[1], errs[0], errs[1])
	}
	return ids[0], errs[0]
}

// send sends up to n octets of zeros as the windows allow, in as few frames as they allow, and returns how many.
func (tc *testConn) send(id frame.StreamID, n int) int {
	tc.t.Helper()
	return tc.sendBody(id, n, false)
}

// sendEnd is send that ends the stream with the last octet, if that can be sent.
func (tc *testConn) sendEnd(id frame.StreamID, n int) int {
	tc.t.Helper()
	return tc.sendBody(id, n, true)
}

func (tc *testConn) sendBody(id frame.StreamID, n int, end bool) int {
	tc.t.Helper()
	left := n
	for left > 0 {
		quota := tc.quota(id)
		if quota == 0 {
			break
		}
		k := min(quota, left)
		left -= k
		tc.step(func(s *side) {
			s.out = s.c.AppendData(tc.now, s.out, id, k, end && left == 0)
			s.out = append(s.out, make([]byte, k)...)
		})
	}
	return n - left
}

// quota is SendQuota, which never exceeds what the server allows.
func (tc *testConn) quota(id frame.StreamID) int {
	tc.t.Helper()
	a, b := tc.sides[0].c.SendQuota(id), tc.sides[1].c.SendQuota(id)
	if a != b {
		tc.fatalf("SendQuota(%d): %d and %d", id, a, b)
	}
	if allowed := max(0, min(tc.peer.SendWindow(id), tc.peer.SendWindow(0))); int64(a) > allowed {
		tc.fatalf("SendQuota(%d) is %d, the server allows %d", id, a, allowed)
	}
	return a
}

func (tc *testConn) endStream(id frame.StreamID) {
	tc.t.Helper()
	tc.step(func(s *side) { s.c.EndStream(tc.now, id) })
}

func (tc *testConn) sendTrailers(id frame.StreamID, fields ...frame.Field) error {
	tc.t.Helper()
	var err error
	tc.step(func(s *side) { err = s.c.SendTrailers(tc.now, id, fields) })
	return err
}

func (tc *testConn) consume(id frame.StreamID, n int) {
	tc.t.Helper()
	tc.step(func(s *side) { s.c.Consumed(tc.now, id, n) })
}

func (tc *testConn) reset(id frame.StreamID, code frame.ErrCode) {
	tc.t.Helper()
	tc.over[id] = "Reset"
	tc.step(func(s *side) { s.c.Reset(tc.now, id, code) })
}

func (tc *testConn) ping(data [8]byte) {
	tc.t.Helper()
	tc.step(func(s *side) { s.c.Ping(tc.now, data) })
}

func (tc *testConn) shutdown() {
	tc.t.Helper()
	tc.step(func(s *side) { s.c.Shutdown(tc.now) })
}

func (tc *testConn) close() {
	tc.t.Helper()
	tc.step(func(s *side) { s.c.Close(tc.now) })
}

func (tc *testConn) fail(err error) {
	tc.t.Helper()
	tc.step(func(s *side) { s.c.Fail(tc.now, err) })
}

// pause stops the transport from taking output; resume lets it go on.
func (tc *testConn) pause() { tc.stuck = true }

func (tc *testConn) resume() {
	tc.t.Helper()
	tc.stuck = false
	tc.step(func(*side) {})
}

// The texts that tests speak.

func get(path string) []frame.Field {
	return []frame.Field{
		{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "https"},
		{Name: ":authority", Value: "example.org"}, {Name: ":path", Value: path},
	}
}

func request(method string, more ...frame.Field) []frame.Field {
	fields := get("/")
	fields[0].Value = method
	return append(fields, more...)
}

func post(more ...frame.Field) []frame.Field { return request("POST", more...) }

// head is a response head, or an interim one, without END_STREAM.
func head(id frame.StreamID, status string, more ...frame.Field) peer.Headers {
	return peer.Headers{Stream: id, Fields: append([]frame.Field{{Name: ":status", Value: status}}, more...)}
}

// wholeResponse is a response head with END_STREAM.
func wholeResponse(id frame.StreamID, status string, more ...frame.Field) peer.Headers {
	h := head(id, status, more...)
	h.EndStream = true
	return h
}

// trailers is a trailer section.
func trailers(id frame.StreamID, fields ...frame.Field) peer.Headers {
	return peer.Headers{Stream: id, Fields: fields, EndStream: true}
}

// data is a DATA frame with n octets of zeros.
func data(id frame.StreamID, n int) frame.Data { return frame.Data{Stream: id, Data: make([]byte, n)} }

// lastData is data with END_STREAM.
func lastData(id frame.StreamID, n int) frame.Data {
	return frame.Data{Stream: id, Data: make([]byte, n), EndStream: true}
}

func field(name, value string) frame.Field { return frame.Field{Name: name, Value: value} }

func setting(id frame.SettingID, v uint32) frame.Setting { return frame.Setting{ID: id, Value: v} }

// ack is a SETTINGS acknowledgement as the server's decoder shows it.
var ack = frame.Settings{Ack: true}

func TestTour(t *testing.T) {
	rows.Cover(t, "9113-6.9.1-6", "9113-3.4-4")
	tc := newTestConn(t, withRecvWindow(16, 65535))
	tc.want("the preface turns push off and announces the stream window", frame.MakeSettings(
		setting(frame.SettingEnablePush, 0), setting(frame.SettingInitialWindowSize, 16)))

	tc.write(frame.MakeSettings())
	tc.want("the server's SETTINGS are acknowledged", ack)
	tc.wantEvents("and told", "settings")
	tc.advance(20 * time.Millisecond)
	tc.write(frame.Settings{Ack: true})
	tc.wantEvents("the acknowledgement of ours is told", "settings-acked")

	id := tc.open(get("/"))
	tc.want("the request opens stream 1", peer.Headers{Stream: 1, EndStream: true, Fields: get("/")})
	tc.wantEvents("the head has left", "opened stream=1")

	tc.write(head(1, "200", field("content-length", "20")))
	tc.wantEvents("the response head arrives", `response stream=1 status=200 length=20 content-length="20"`)
	tc.write(data(1, 16))
	tc.wantEvents("the body begins", "data stream=1 len=16")
	tc.wantIdle("nothing is granted before the application reads")

	tc.consume(id, 10)
	tc.want("what was read is granted again, on both levels",
		frame.WindowUpdate{Stream: 1, Increment: 10}, frame.WindowUpdate{Increment: 10})

	tc.wantDeadline("the body may stall", 10*time.Second)
	tc.advance(5 * time.Second)
	tc.wantIdle("it has not yet")

	// A peer that sends more than either window allows breaks RFC 9113, Section 6.9.1.
	tc.write(data(1, 11))
	tc.want("11 octets exceed the window of 10",
		frame.RSTStream{Stream: 1, Code: frame.FlowControlError},
		frame.WindowUpdate{Increment: 17}) // the stream is over: 6 unread octets and 11 refused ones are given back
	tc.wantEvents("the stream is over", "stream-error stream=1 FLOW_CONTROL_ERROR answered")
	tc.wantBody("what came before is kept", 1, string(make([]byte, 16)))

	tc.write(frame.WindowUpdate{Stream: 0, Increment: 0})
	tc.wantClosed("an increment of 0 is the end of the connection", frame.ProtocolError)
}
