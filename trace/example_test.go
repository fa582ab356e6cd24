package trace_test

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/trace"
)

// The life of connections goes to a logger.
func ExampleSlog() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
	hook := trace.Slog(logger, slog.LevelDebug) // for Config.OnEvent
	hook(h2flow.Event{Kind: h2flow.ConnOpened, Conn: 1, Local: "192.0.2.1:50000", Remote: "192.0.2.2:443"})
	// Output: level=DEBUG msg="HTTP/2 connection opened" conn=1 local=192.0.2.1:50000 remote=192.0.2.2:443
}

// A trace for tools that read qlog.
func ExampleNewQLog() {
	var file strings.Builder
	q := trace.NewQLog(&file, "an example")
	q.Event(h2flow.Event{Kind: h2flow.ConnClosed, Conn: 1, Time: time.Unix(0, 0)}) // q.Event is for Config.OnEvent
	if err := q.Close(); err != nil {
		fmt.Println(err)
	}
	records := strings.Split(file.String(), "\x1e")
	fmt.Print(records[2])
	// Output: {"time":0,"name":"http2:connection_closed","group_id":1,"data":{}}
}
