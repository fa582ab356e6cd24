package trace

import (
	"example.com/h2flow"
	"example.com/h2flow/frame"
)

// hidden stands for a value that must not get into logs.
const hidden = "(hidden)"

// shownFields are field lines as they may be written.
func shownFields(fields []frame.Field) [][2]string {
	if len(fields) == 0 {
		return nil
	}
	shown := make([][2]string, len(fields))
	for i, f := range fields {
		shown[i] = [2]string{f.Name, f.Value}
		if f.Sensitive || isSecret(f.Name) {
			shown[i][1] = hidden
		}
	}
	return shown
}

func isSecret(name string) bool {
	switch name {
	case "authorization", "proxy-authorization", "cookie", "set-cookie":
		return true
	}
	return false
}

// frameText describes a frame by its content where that is known, else by its header.
func frameText(f *h2flow.FrameTrace) string {
	if f.Payload != nil {
		if parsed, err := frame.Parse(f.Header, f.Payload); err == nil {
			return parsed.String()
		}
	}
	return f.Header.String()
}
