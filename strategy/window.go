package strategy

import (
	"fmt"
	"strings"

	"example.com/h2flow/flow"
)

// clampWindows replaces what is not positive by the defaults and brings both windows into the range that the
// protocol can express.
func clampWindows(stream, conn, defaultStream, defaultConn int64) (int64, int64) {
	if stream <= 0 {
		stream = defaultStream
	}
	if conn <= 0 {
		conn = defaultConn
	}
	return min(stream, flow.MaxWindow), min(max(conn, flow.DefaultWindow), flow.MaxWindow)
}

// validateWindows says what clampWindows would have to change; zero is the default and always right.
func validateWindows(stream, conn int64) error {
	if stream < 0 || stream > flow.MaxWindow {
		return fmt.Errorf("stream window of %d octets: want 1 to %d", stream, flow.MaxWindow)
	}
	// The connection window starts at 65,535 octets and WINDOW_UPDATE can only raise it. RFC 9113, Section 6.9.2.
	if conn != 0 && (conn < flow.DefaultWindow || conn > flow.MaxWindow) {
		return fmt.Errorf("connection window of %d octets: want %d to %d", conn, flow.DefaultWindow, flow.MaxWindow)
	}
	return nil
}

// describe joins a name and pairs of option and value as Parse reads them.
func describe(name string, pairs ...string) string {
	var b strings.Builder
	b.WriteString(name)
	for i := 0; i < len(pairs); i += 2 {
		b.WriteString(":" + pairs[i] + "=" + pairs[i+1])
	}
	return b.String()
}
