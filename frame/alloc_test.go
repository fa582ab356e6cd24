//go:build !race

package frame_test

import (
	"bytes"
	"testing"

	"example.com/h2flow/frame"
)

// sink keeps the compiler from dropping what the tests and benchmarks compute.
var sink uint64

// parseConcrete takes a frame apart as a connection does, without boxing.
func parseConcrete(h frame.Header, p []byte) (err error) {
	switch h.Type {
	case frame.TypeData:
		var f frame.Data
		f, err = frame.ParseData(h, p)
		sink += uint64(len(f.Data))
	case frame.TypeHeaders:
		var f frame.Headers
		f, err = frame.ParseHeaders(h, p)
		sink += uint64(len(f.Fragment))
	case frame.TypePriority:
		var f frame.Priority
		f, err = frame.ParsePriority(h, p)
		sink += uint64(f.DependsOn)
	case frame.TypeRSTStream:
		var f frame.RSTStream
		f, err = frame.ParseRSTStream(h, p)
		sink += uint64(f.Code)
	case frame.TypeSettings:
		var f frame.Settings
		f, err = frame.ParseSettings(h, p)
		for s := range f.All() {
			sink += uint64(s.Value)
		}
	case frame.TypePushPromise:
		var f frame.PushPromise
		f, err = frame.ParsePushPromise(h, p)
		sink += uint64(f.Promised)
	case frame.TypePing:
		var f frame.Ping
		f, err = frame.ParsePing(h, p)
		sink += uint64(f.Data[0])
	case frame.TypeGoAway:
		var f frame.GoAway
		f, err = frame.ParseGoAway(h, p)
		sink += uint64(f.LastStream)
	case frame.TypeWindowUpdate:
		var f frame.WindowUpdate
		f, err = frame.ParseWindowUpdate(h, p)
		sink += uint64(f.Increment)
	case frame.TypeContinuation:
		var f frame.Continuation
		f, err = frame.ParseContinuation(h, p)
		sink += uint64(len(f.Fragment))
	case frame.TypeAltSvc:
		var f frame.AltSvc
		f, err = frame.ParseAltSvc(h, p)
		sink += uint64(len(f.Value))
	case frame.TypeOrigin:
		var f frame.Origin
		f, err = frame.ParseOrigin(h, p)
		for o := range f.All() {
			sink += uint64(len(o))
		}
	case frame.TypePriorityUpdate:
		var f frame.PriorityUpdate
		f, err = frame.ParsePriorityUpdate(h, p)
		sink += uint64(f.Prioritized)
	}
	return err
}

func wantNoAllocs(t *testing.T, name string, f func()) {
	t.Helper()
	if n := testing.AllocsPerRun(100, f); n != 0 {
		t.Errorf("%s: %v allocations, want 0", name, n)
	}
}

// TestNoAllocations: neither reading nor writing a frame of any type allocates.
func TestNoAllocations(t *testing.T) {
	buf := make([]byte, 0, 1024)
	for _, v := range vectors {
		wire := unhex(v.wire)
		wantNoAllocs(t, "parse "+v.name, func() {
			h, _ := frame.ParseHeader(wire)
			if err := frame.CheckHeader(h, frame.MinMaxFrameSize); err != nil {
				t.Fatal(err)
			}
			if err := parseConcrete(h, wire[frame.HeaderLen:]); err != nil {
				t.Fatal(err)
			}
		})
		wantNoAllocs(t, "append "+v.name, func() { buf = v.want.AppendTo(buf[:0]) })
	}
	for name, f := range map[string]func(){
		"AppendWindowUpdate": func() { buf = frame.AppendWindowUpdate(buf[:0], 1, 2) },
		"AppendRSTStream":    func() { buf = frame.AppendRSTStream(buf[:0], 1, frame.Cancel) },
		"AppendPing":         func() { buf = frame.AppendPing(buf[:0], true, [8]byte{1}) },
		"AppendSettingsAck":  func() { buf = frame.AppendSettingsAck(buf[:0]) },
		"AppendDataHeader":   func() { buf = frame.AppendDataHeader(buf[:0], 1, 2, true) },
		"AppendGoAway":       func() { buf = frame.AppendGoAway(buf[:0], 1, frame.NoError, nil) },
		"AppendSettings": func() {
			buf = frame.AppendSettings(buf[:0], frame.Setting{ID: frame.SettingEnablePush}, frame.Setting{ID: 4, Value: 5})
		},
		"Setting.CheckFromServer": func() {
			if err := (frame.Setting{ID: frame.SettingMaxFrameSize, Value: 1 << 20}).CheckFromServer(); err != nil {
				t.Fatal(err)
			}
		},
	} {
		wantNoAllocs(t, name, f)
	}
}

// TestWalkingDoesNotAllocate: All not at all, a Reader once its buffer is as large as the largest frame.
func TestWalkingDoesNotAllocate(t *testing.T) {
	var stream []byte
	for _, v := range vectors {
		stream = append(stream, unhex(v.wire)...)
	}
	stream = frame.Data{Stream: 1, Data: make([]byte, 10000)}.AppendTo(stream)
	wantNoAllocs(t, "All", func() {
		for h, p := range frame.All(stream) {
			sink += uint64(h.Type) + uint64(len(p))
		}
	})
	src := bytes.NewReader(stream)
	r := frame.NewReader(src, frame.MinMaxFrameSize)
	wantNoAllocs(t, "Reader", func() {
		src.Reset(stream)
		for range len(vectors) + 1 {
			if _, _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
