package cli

import (
	"fmt"
	"strings"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/frame"
)

// transcriptLine is f as one line: the time since start, the direction (> sent, < received), the frame, and the field
// lines if it ends a field block.
func transcriptLine(start time.Time, f h2flow.FrameTrace) string {
	var b strings.Builder
	direction := '<'
	if f.Sent {
		direction = '>'
	}
	fmt.Fprintf(&b, "%+.6fs %c %s", f.Now.Sub(start).Seconds(), direction, frameText(f))
	for _, field := range f.Fields {
		fmt.Fprintf(&b, " %q", field.Name+": "+shownValue(field))
	}
	return b.String()
}

// frameText describes the frame by its content where that is known, else by its header.
func frameText(f h2flow.FrameTrace) string {
	if f.Payload != nil {
		if parsed, err := frame.Parse(f.Header, f.Payload); err == nil {
			return parsed.String()
		}
	}
	return f.Header.String()
}

// shownValue hides the values that must not get into logs.
func shownValue(f frame.Field) string {
	switch f.Name {
	case "authorization", "proxy-authorization", "cookie", "set-cookie":
		return "(hidden)"
	}
	if f.Sensitive {
		return "(hidden)"
	}
	return f.Value
}
