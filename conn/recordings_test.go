package conn_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	h2flow "example.com/h2flow"
	"example.com/h2flow/conn"
	"example.com/h2flow/frame"
	"example.com/h2flow/strategy"
	"github.com/google/go-cmp/cmp"
)

// received is what an application got of one response.
type received struct {
	status string
	fields []frame.Field
	body   []byte
	end    bool
}

// replay opens four requests and feeds octets, cut at the given places, to a connection with the real field codecs.
func replay(octets []byte, cuts []int) (map[frame.StreamID]*received, error) {
	c := conn.New(epoch, conn.Config{
		Strategy: strategy.Fixed{}.New(), Encoder: h2flow.NewFieldEncoder(4096), Decoder: h2flow.NewFieldDecoder(),
	})
	got := map[frame.StreamID]*received{}
	for range 4 {
		id, err := c.Open(epoch, get("/small.txt"), true)
		if err != nil {
			return nil, err
		}
		got[id] = &received{}
	}
	buf := c.AppendOutput(epoch, nil, 1<<20)
	start := 0
	for _, cut := range append(cuts, len(octets)) {
		c.Feed(epoch, octets[start:cut])
		start = cut
		for ev := c.NextEvent(); ev.Kind != conn.None; ev = c.NextEvent() {
			r := got[ev.Stream]
			switch ev.Kind {
			case conn.Response:
				r.status, r.fields = fmt.Sprint(ev.Status), append(r.fields, ev.Fields...)
			case conn.Data:
				r.body = append(r.body, ev.Data...)
				c.Consumed(epoch, ev.Stream, len(ev.Data))
			case conn.StreamError, conn.Interim, conn.Trailers:
				return nil, fmt.Errorf("%v", ev)
			}
			if r != nil && ev.End {
				r.end = true
			}
		}
		buf = c.AppendOutput(epoch, buf[:0], 1<<20)
	}
	if err := c.Err(); err != nil {
		return nil, err
	}
	return got, c.CheckInvariants()
}

// interesting are the places in octets where a cut may matter: everywhere but inside the data of DATA frames, of which
// the first and last few octets count too.
func interesting(octets []byte) []int {
	var cuts []int
	at := 0
	for h := range frame.All(octets) {
		length := frame.HeaderLen + int(h.Length)
		for i := range length {
			if h.Type != frame.TypeData || i < frame.HeaderLen+4 || i > length-4 {
				cuts = append(cuts, at+i)
			}
		}
		at += length
	}
	return cuts
}

// What real servers said, recorded from their SETTINGS to the end, in every chunking: the same four responses.
func TestRecordedServers(t *testing.T) {
	dir := os.Getenv("H2FLOW_VECTORS")
	if dir == "" {
		t.Skip("H2FLOW_VECTORS is not set: it names the folder that holds server-recordings and other test data")
	}
	files, err := filepath.Glob(filepath.Join(dir, "server-recordings", "*.bin"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in H2FLOW_VECTORS (%v)", err)
	}
	small, err := os.ReadFile(filepath.Join(dir, "server-recordings", "small.txt"))
	if err != nil {
		t.Fatal(err)
	}
	replays := 0
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			octets, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, err := replay(octets, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, status := range []string{"200", "200", "200", "404"} {
				r := want[frame.StreamID(2*i+1)]
				if r.status != status || !r.end || status == "200" && !bytes.Equal(r.body, small) || len(r.fields) == 0 {
					t.Errorf("stream %d: status %s, %d fields, %d octets, end %v", 2*i+1, r.status, len(r.fields), len(r.body), r.end)
				}
			}
			try := func(cuts ...int) {
				t.Helper()
				replays++
				got, err := replay(octets, cuts)
				if err != nil {
					t.Fatalf("cut at %v: %v", cuts, err)
				}
				if !reflect.DeepEqual(want, got) {
					t.Fatalf("cut at %v: %s", cuts, cmp.Diff(want, got, cmp.AllowUnexported(received{})))
				}
			}
			every := make([]int, len(octets))
			for i := range every {
				every[i] = i
			}
			try(every...)
			for _, cut := range interesting(octets) {
				try(cut)
			}
			r := rand.New(rand.NewPCG(1, uint64(len(octets))))
			for range 200 {
				var cuts []int
				for at := r.IntN(3000); at < len(octets); at += 1 + r.IntN(3000) {
					cuts = append(cuts, at)
				}
				try(cuts...)
			}
		})
	}
	t.Logf("%d recordings, %d replays", len(files), replays)
}
