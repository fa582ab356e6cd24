package frame_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow/frame"
	"example.com/h2flow/internal/rows"
)

// The error codes of RFC 9113, Section 7, and their names.
func TestErrorCodes(t *testing.T) {
	rows.Cover(t, "9113-7-3")
	want := []string{"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
		"STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR",
		"ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED"}
	var got []string
	for code := frame.NoError; code <= frame.HTTP11Required; code++ {
		got = append(got, code.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("codes 0 to 13 (-want +got):\n%s", diff)
	}
}
