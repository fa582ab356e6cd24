package conn_test

import (
	"testing"

	"example.com/h2flow/frame"
)

// A server fills the windows that it has, and hears of our reset only later. What it sent until then is no fault of its
// own, however many frames it is cut into; what no window allowed is, and so are tiny frames.
func TestB25DataThatCrossesOurResetsIsNoFlood(t *testing.T) {
	const window = 1 << 20
	start := func(t *testing.T) *testConn {
		tc := newTestConn(t, withRecvWindow(window, window))
		tc.greet()
		tc.ignore(frame.TypeHeaders, frame.TypeRSTStream, frame.TypeWindowUpdate)
		for range 4 {
			id := tc.open(get("/"))
			tc.write(head(id, "200"), data(id, 16384))
			tc.reset(id, frame.Cancel)
		}
		tc.forget()
		return tc
	}
	const inGoodFaith = 4 * (window - 16384) / 256 // frames

	t.Run("all that the windows allowed", func(t *testing.T) {
		tc := start(t)
		tc.write(repeated(inGoodFaith, data(1, 256))...)
		if err := tc.c.Err(); err != nil {
			t.Fatal(err)
		}
		tc.forget()
		tc.write(repeated(10000, data(1, 256))...)
		if err := tc.c.Err(); err != nil {
			t.Fatalf("10,000 more: %v", err)
		}
		tc.forget()
		tc.write(data(1, 256))
		tc.wantClosed("one more", frame.EnhanceYourCalm)
	})
	t.Run("tiny frames", func(t *testing.T) {
		tc := start(t)
		tc.write(repeated(10000, data(1, 255))...)
		if err := tc.c.Err(); err != nil {
			t.Fatalf("10,000 of them: %v", err)
		}
		tc.forget()
		tc.write(data(1, 255))
		tc.wantClosed("one more", frame.EnhanceYourCalm)
	})
}
