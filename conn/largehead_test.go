package conn_test

import (
	"strings"
	"testing"

	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
)

// TestALargeHeadFailsAlone: a response head that is larger than the limit on the wire already, as a server may send
// that knows no limit, fails its own stream. The others on the connection go on, and the table stays in step.
func TestALargeHeadFailsAlone(t *testing.T) {
	for _, octets := range []int{1001, 6000, 7900} {
		tc := newTestConn(t, withHPACK(), withConfig(func(cfg *conn.Config) { cfg.MaxHeaderListSize = 1000 }))
		tc.greet()
		tc.open(get("/"))
		tc.open(get("/"))
		tc.forget()
		tc.write(head(1, "200", field("x-large", strings.Repeat("~", octets)), field("x-small", "1")))
		tc.want("the stream fails alone", frame.RSTStream{Stream: 1, Code: frame.Cancel})
		tc.wantEvents("as told", "stream-error stream=1 CANCEL")
		tc.write(wholeResponse(3, "200", field("x-small", "1")))
		tc.wantEvents("the other is answered", `response stream=3 status=200 x-small="1" END_STREAM`)
	}
}
