package trace

import (
	"context"
	"errors"
	"log/slog"

	"example.com/h2flow"
)

// framesBelow is how far below the level of Slog frames and flow decisions are logged.
const framesBelow = 4

// Slog returns a hook that logs to logger: the life of connections and streams at level, failures of connections and
// stalls at slog.LevelWarn, and, four below level, frames and the decisions of the flow control. What the logger does not
// want costs a call of its Enabled method.
func Slog(logger *slog.Logger, level slog.Level) func(h2flow.Event) {
	return func(ev h2flow.Event) {
		at := levelOf(ev, level)
		ctx := context.Background()
		if !logger.Enabled(ctx, at) {
			return
		}
		attrs := make([]slog.Attr, 0, 8)
		attrs = append(attrs, slog.Uint64("conn", ev.Conn))
		if ev.Stream != 0 {
			attrs = append(attrs, slog.Uint64("stream", uint64(ev.Stream)))
		}
		logger.LogAttrs(ctx, at, messages[ev.Kind], appendAttrs(attrs, ev)...)
	}
}

var messages = map[h2flow.EventKind]string{
	h2flow.ConnOpened:     "HTTP/2 connection opened",
	h2flow.ConnSettings:   "HTTP/2 settings applied",
	h2flow.ConnGoAway:     "HTTP/2 GOAWAY received",
	h2flow.ConnClosed:     "HTTP/2 connection closed",
	h2flow.StreamOpened:   "HTTP/2 stream opened",
	h2flow.StreamHead:     "HTTP/2 response head",
	h2flow.StreamClosed:   "HTTP/2 stream closed",
	h2flow.StreamStalled:  "HTTP/2 stream stalled",
	h2flow.FrameSent:      "HTTP/2 frame sent",
	h2flow.FrameReceived:  "HTTP/2 frame received",
	h2flow.FlowOpened:     "HTTP/2 windows opened",
	h2flow.FlowDecided:    "HTTP/2 flow control",
	h2flow.AltSvcReceived: "HTTP/2 alternative service",
	h2flow.OriginReceived: "HTTP/2 origins",
}

// levelOf is the level of one event.
func levelOf(ev h2flow.Event, level slog.Level) slog.Level {
	switch ev.Kind {
	case h2flow.FrameSent, h2flow.FrameReceived, h2flow.FlowOpened, h2flow.FlowDecided:
		return level - framesBelow
	case h2flow.StreamStalled:
		return slog.LevelWarn
	case h2flow.ConnGoAway:
		// A server that restarts in good order is nothing to worry about.
		var goAway *h2flow.GoAwayError
		if errors.As(ev.Err, &goAway) && goAway.ErrCode != 0 {
			return slog.LevelWarn
		}
	case h2flow.ConnClosed:
		if ev.Err != nil {
			return slog.LevelWarn
		}
	}
	return level
}

func appendAttrs(attrs []slog.Attr, ev h2flow.Event) []slog.Attr {
	switch ev.Kind {
	case h2flow.ConnOpened:
		attrs = append(attrs, slog.String("local", ev.Local), slog.String("remote", ev.Remote))
	case h2flow.StreamHead:
		attrs = append(attrs, slog.Int("status", ev.Status), slog.Int64("length", ev.N), slog.Bool("end", ev.End))
	case h2flow.StreamStalled:
		attrs = append(attrs, slog.String("stall", ev.Stall.Error()))
	case h2flow.FrameSent, h2flow.FrameReceived:
		attrs = append(attrs, slog.String("frame", frameText(ev.Frame)))
	case h2flow.FlowOpened:
		attrs = append(attrs, slog.Int64("stream_window", ev.Windows.Stream), slog.Int64("conn_window", ev.Windows.Conn))
	case h2flow.FlowDecided:
		attrs = append(attrs, slog.String("event", ev.Flow.String()))
		for _, a := range ev.Actions {
			attrs = append(attrs, slog.String("action", a.String()))
		}
	case h2flow.AltSvcReceived:
		attrs = append(attrs, slog.String("origin", string(ev.AltSvc.Origin)), slog.String("value", string(ev.AltSvc.Value)))
	case h2flow.OriginReceived:
		attrs = append(attrs, slog.Any("origins", originsOf(ev.Origins)))
	}
	if ev.Err != nil {
		attrs = append(attrs, slog.String("error", ev.Err.Error()))
	}
	return attrs
}
