package cli

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// testBlock is what bodies are made of, repeated: octets that do not compress.
var testBlock = func() []byte {
	block := make([]byte, 1<<20)
	rand.NewChaCha8([32]byte([]byte("the body of every download is it"))).Read(block)
	return block
}()

// piece is the most that a body is written by at once, in octets, unless the query says otherwise.
const piece = 256 << 10

// newTestPaths returns what serve answers with.
func newTestPaths() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/bytes/{size}", answer(func(a *testAnswer, r *http.Request) (int64, error) {
		return parseSize(r.PathValue("size"))
	}))
	mux.HandleFunc("/status/{code}", answer(func(a *testAnswer, r *http.Request) (n int64, err error) {
		a.status, err = parseStatus(r.PathValue("code"))
		return 0, err
	}))
	mux.HandleFunc("/delay/{time}", answer(func(a *testAnswer, r *http.Request) (n int64, err error) {
		a.delay, err = parseTime(r.PathValue("time"))
		return 16, err
	}))
	mux.HandleFunc("/echo", answer(func(a *testAnswer, r *http.Request) (int64, error) {
		a.body, a.length = r.Body, false
		return 0, nil
	}))
	mux.HandleFunc("/sink", sink)
	mux.HandleFunc("/", elsewhere)
	return mux
}

// elsewhere answers on all other paths.
func elsewhere(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost || r.Method == http.MethodPut:
		sink(w, r)
	case r.URL.Path == "/":
		io.WriteString(w, servedPaths)
	default:
		http.NotFound(w, r)
	}
}

// sink reads the body and says how long it was.
func sink(w http.ResponseWriter, r *http.Request) {
	answer(func(a *testAnswer, r *http.Request) (int64, error) {
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			return 0, err
		}
		text := fmt.Sprintln(n)
		a.body = strings.NewReader(text)
		return int64(len(text)), nil
	})(w, r)
}

// A testAnswer is one response: what its path and its query ask for.
type testAnswer struct {
	status   int
	delay    time.Duration
	chunk    int64 // 0: in pieces that are not flushed
	pause    time.Duration
	length   bool
	trailers [][2]string
	reset    int64 // break off after so many octets; -1: never
	body     io.Reader
}

// answer returns a handler: plan does what is particular to the path and returns the length of the body.
func answer(plan func(a *testAnswer, r *http.Request) (int64, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a := testAnswer{status: http.StatusOK, length: true, reset: -1}
		size, err := plan(&a, r)
		if err == nil {
			err = a.parse(r.URL.Query())
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if a.body == nil {
			a.body = io.LimitReader(&repeater{block: testBlock}, size)
		}
		a.send(w, r, size)
	}
}

// parse reads the options of the query; those that it does not know are none of its business.
func (a *testAnswer) parse(query url.Values) (err error) {
	for name, parse := range map[string]func(string) error{
		"delay":  func(s string) error { a.delay, err = parseTime(s); return err },
		"pause":  func(s string) error { a.pause, err = parseTime(s); return err },
		"chunk":  func(s string) error { a.chunk, err = parseSize(s); return err },
		"reset":  func(s string) error { a.reset, err = parseSize(s); return err },
		"status": func(s string) error { a.status, err = parseStatus(s); return err },
		"length": func(s string) error { a.length = s != "no"; return nil },
	} {
		if query.Has(name) {
			if err := parse(query.Get(name)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	for _, s := range query["trailer"] {
		name, value, ok := strings.Cut(s, ":")
		if !ok || name == "" {
			return fmt.Errorf("trailer: %q is none (want one like NAME:VALUE)", s)
		}
		a.trailers = append(a.trailers, [2]string{textproto.CanonicalMIMEHeaderKey(name), strings.TrimSpace(value)})
	}
	if a.pause > 0 && a.chunk == 0 {
		return errors.New("pause: it is between pieces, so it needs chunk")
	}
	if a.chunk > 1<<30 {
		return errors.New("chunk: it is above 1GiB")
	}
	return nil
}

func parseStatus(s string) (int, error) {
	code, err := strconv.Atoi(s)
	if err != nil || code < 200 || code > 999 {
		return 0, fmt.Errorf("%q is no final status (want one from 200 to 999)", s)
	}
	return code, nil
}

// send sends the response, whose body has size octets.
func (a *testAnswer) send(w http.ResponseWriter, r *http.Request, size int64) {
	if !wait(r, a.delay) {
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	bodyless := a.status == http.StatusNoContent || a.status == http.StatusNotModified
	// A length and trailers exclude each other in HTTP/1.1, since only a chunked body has trailers.
	if a.length && len(a.trailers) == 0 && !bodyless {
		h.Set("Content-Length", strconv.FormatInt(size, 10))
	}
	for _, t := range a.trailers {
		h.Add("Trailer", t[0])
	}
	w.WriteHeader(a.status)
	if r.Method == http.MethodHead || bodyless {
		return
	}
	control := http.NewResponseController(w)
	if !a.length || a.reset >= 0 || len(a.trailers) > 0 {
		control.Flush() // or the server would find out the length of a short body; and so that the head is out
	}
	a.write(w, r, control)
	for _, t := range a.trailers {
		h.Add(t[0], t[1])
	}
}

// write writes the body.
func (a *testAnswer) write(w io.Writer, r *http.Request, control *http.ResponseController) {
	if body, ok := a.body.(*io.LimitedReader); ok && a.chunk == 0 && a.reset < 0 {
		writeBlocks(w, body.N)
		return
	}
	if a.reset >= 0 {
		a.body = io.MultiReader(io.LimitReader(a.body, a.reset), breakOff{control})
	}
	if a.chunk == 0 {
		io.Copy(flushing{w, control}, a.body)
		return
	}
	for buf := make([]byte, a.chunk); ; {
		n, err := io.ReadFull(a.body, buf)
		if _, failed := w.Write(buf[:n]); failed != nil || control.Flush() != nil || err != nil || !wait(r, a.pause) {
			return
		}
	}
}

// writeBlocks writes size octets of the block without copying them first.
func writeBlocks(w io.Writer, size int64) {
	for at := 0; size > 0; {
		n, err := w.Write(testBlock[at:min(int64(at)+min(size, piece), int64(len(testBlock)))])
		if err != nil {
			return
		}
		size -= int64(n)
		at = (at + n) % len(testBlock)
	}
}

// flushing sends everything at once.
type flushing struct {
	w       io.Writer
	control *http.ResponseController
}

func (f flushing) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if err == nil {
		err = f.control.Flush()
	}
	return n, err
}

// breakOff ends the response where a body would go on: by RST_STREAM, or by closing the connection in HTTP/1.1.
type breakOff struct{ control *http.ResponseController }

func (b breakOff) Read([]byte) (int, error) {
	b.control.Flush()
	panic(http.ErrAbortHandler)
}

// wait waits for d; false if the client is gone before that.
func wait(r *http.Request, d time.Duration) bool {
	if d == 0 {
		return r.Context().Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}
