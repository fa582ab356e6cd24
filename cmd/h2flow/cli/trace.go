package cli

import (
	"bufio"
	"errors"
	"os"

	"example.com/h2flow"
	"example.com/h2flow/trace"
)

// A traceFile is a file of qlog. Errors of writing are kept until close.
type traceFile struct {
	file   *os.File
	buffer *bufio.Writer
	qlog   *trace.QLog
}

func createTrace(path, title string) (*traceFile, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	buffer := bufio.NewWriterSize(f, 64<<10)
	return &traceFile{file: f, buffer: buffer, qlog: trace.NewQLog(buffer, title)}, nil
}

// event is a hook for connections.
func (t *traceFile) event(ev h2flow.Event) { t.qlog.Event(ev) }

// close writes what is left and returns the errors of all writing. Later events are dropped.
func (t *traceFile) close() error {
	return errors.Join(t.qlog.Close(), t.buffer.Flush(), t.file.Close())
}
