package h2http_test

import (
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
	"github.com/google/go-cmp/cmp"
)

// http2Fields are the fields of http.HTTP2Config, with the tests that check them: a field that net/http adds fails
// TestEveryFieldOfHTTP2ConfigHasATest.
var http2Fields = map[string]func(t *testing.T){
	"MaxConcurrentStreams": func(t *testing.T) { // concerns servers
		wantPreface(t, &http.HTTP2Config{MaxConcurrentStreams: 7}, nil)
	},
	"StrictMaxConcurrentRequests": func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			counts := onConns(t, &h2http.Transport{HTTP2: &http.HTTP2Config{StrictMaxConcurrentRequests: true}}, 4, 1)
			if len(counts) != 1 {
				t.Errorf("requests by connection: %v, want one connection", counts)
			}
		})
	},
	"MaxDecoderHeaderTableSize": func(t *testing.T) {
		wantPreface(t, &http.HTTP2Config{MaxDecoderHeaderTableSize: 100}, map[frame.SettingID]uint32{
			frame.SettingHeaderTableSize: 100})
		wantPreface(t, &http.HTTP2Config{MaxDecoderHeaderTableSize: 4 << 20}, nil) // not valid
	},
	"MaxEncoderHeaderTableSize": testEncoderTable,
	"MaxReadFrameSize": func(t *testing.T) {
		wantPreface(t, &http.HTTP2Config{MaxReadFrameSize: 20000}, map[frame.SettingID]uint32{
			frame.SettingMaxFrameSize: 20000})
		wantPreface(t, &http.HTTP2Config{MaxReadFrameSize: 1 << 24}, map[frame.SettingID]uint32{
			frame.SettingMaxFrameSize: 1<<24 - 1})
		wantPreface(t, &http.HTTP2Config{MaxReadFrameSize: 16383}, map[frame.SettingID]uint32{
			frame.SettingMaxFrameSize: h2http.DefaultMaxReadFrameSize})
	},
	"MaxReceiveBufferPerConnection": func(t *testing.T) {
		if got := firstWindow(t, &http.HTTP2Config{MaxReceiveBufferPerConnection: 200000}); got != 200000 {
			t.Errorf("the connection window is %d", got)
		}
	},
	"MaxReceiveBufferPerStream": func(t *testing.T) {
		wantPreface(t, &http.HTTP2Config{MaxReceiveBufferPerStream: 100000}, map[frame.SettingID]uint32{
			frame.SettingInitialWindowSize: 100000})
		if got := firstWindow(t, &http.HTTP2Config{MaxReceiveBufferPerStream: 100000}); got <= 100000 {
			t.Errorf("the connection window of %d lets one reader that pauses stop all others", got)
		}
	},
	"SendPingTimeout": func(t *testing.T) {
		testSilence(t, &http.HTTP2Config{SendPingTimeout: 11 * time.Second}, 11*time.Second+15*time.Second)
	},
	"PingTimeout": func(t *testing.T) {
		testSilence(t, &http.HTTP2Config{PingTimeout: 3 * time.Second}, 33*time.Second)
	},
	"WriteByteTimeout":             testWriteTimeout,
	"PermitProhibitedCipherSuites": TestB57AProhibitedCipherSuiteMayBePermitted,
	"CountError":                   testCountError,
}

// TestEveryFieldOfHTTP2ConfigHasATest.
//
// Contract: N2.
func TestEveryFieldOfHTTP2ConfigHasATest(t *testing.T) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[http.HTTP2Config]()) {
		if f.IsExported() {
			test := http2Fields[f.Name]
			if test == nil {
				t.Errorf("no test of field %s", f.Name)
				continue
			}
			t.Run(f.Name, test)
		}
	}
}

// prefaceOf is what a Transport with the configuration tells a server at the beginning.
func prefaceOf(t *testing.T, cfg *http.HTTP2Config) map[frame.SettingID]uint32 {
	got := map[frame.SettingID]uint32{}
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{HTTP2: cfg}, func(s *peer.Server) {
			s.Ignore = peer.IgnoreWindowUpdates
			for setting := range s.Greet().All() {
				got[setting.ID] = setting.Value
			}
			serve(s)
		})
		if answer := get(t, tr, "http://a.example/"); answer != "200 OK" {
			t.Error(answer)
		}
	})
	return got
}

// wantPreface checks that the configuration changes the given settings and no other.
func wantPreface(t *testing.T, cfg *http.HTTP2Config, changed map[frame.SettingID]uint32) {
	t.Helper()
	want := prefaceOf(t, nil)
	for id, v := range changed {
		want[id] = v
	}
	if diff := cmp.Diff(want, prefaceOf(t, cfg)); diff != "" {
		t.Errorf("SETTINGS (-want +got):\n%s", diff)
	}
}

// firstWindow is the connection window after the first WINDOW_UPDATE.
func firstWindow(t *testing.T, cfg *http.HTTP2Config) (window int64) {
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{HTTP2: cfg}, func(s *peer.Server) {
			window = flow.DefaultWindow
			for {
				switch v := s.Read().(type) {
				case frame.WindowUpdate:
					if v.Stream == 0 {
						window += int64(v.Increment)
					}
				case peer.Headers:
					s.Send(frame.MakeSettings(), answer(v.Stream, "200"))
					untilClosed(s)
					return
				}
			}
		})
		if got := get(t, tr, "http://a.example/"); got != "200 OK" {
			t.Error(got)
		}
	})
	return window
}

// testSilence checks when a silent server is given up.
func testSilence(t *testing.T, cfg *http.HTTP2Config, want time.Duration) {
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{HTTP2: cfg}, greeted(func(s *peer.Server) {
			s.NoPong = true
			s.WantHeaders("the request")
			untilClosed(s)
		}))
		start := time.Now()
		got := get(t, tr, "http://a.example/")
		if took := time.Since(start); took != want || !strings.Contains(got, "silent") {
			t.Errorf("%s after %v, want %v", got, took, want)
		}
	})
}

func testWriteTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		stuck := make(chan struct{})
		tr, _ := scripted(t, &h2http.Transport{HTTP2: &http.HTTP2Config{WriteByteTimeout: 3 * time.Second}},
			func(s *peer.Server) {
				s.Read() // SETTINGS; nothing more is read, and net.Pipe has no buffer
				<-stuck
			})
		start := time.Now()
		got := exchange(tr, newRequest(t, "POST", "http://a.example/", endless{}))
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("%s after %v, want 3s", got, took)
		}
		close(stuck)
	})
}

// testEncoderTable checks that no table larger than configured is used, however large a one the server allows: what does
// not fit is sent whole each time.
func testEncoderTable(t *testing.T) {
	const huffman = 88 // octets of the long value on the wire
	if n := secondHead(t, 4096); n >= huffman {
		t.Errorf("with a table the second head takes %d octets", n)
	}
	if n := secondHead(t, 64); n < huffman {
		t.Errorf("with a table of 64 octets the second head takes %d octets", n)
	}
}

// secondHead is the length of the second of two equal request heads in which one field has 100 octets.
func secondHead(t *testing.T, table int) (octets uint32) {
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{
			HTTP2: &http.HTTP2Config{MaxEncoderHeaderTableSize: table},
			OnFrame: func(f h2flow.FrameTrace) {
				if f.Sent && f.Header.Type == frame.TypeHeaders {
					octets = f.Header.Length
				}
			},
		}, greeted(serve, frame.Setting{ID: frame.SettingHeaderTableSize, Value: 1 << 20}))
		for range 2 {
			req := newRequest(t, "GET", "http://a.example/", nil)
			req.Header.Set("X-Long", strings.Repeat("x", 100))
			if got := exchange(tr, req); got != "200 OK" {
				t.Error(got)
			}
		}
	})
	return octets
}

func testCountError(t *testing.T) {
	var counted []string
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{HTTP2: &http.HTTP2Config{
			CountError: func(kind string) { counted = append(counted, kind) },
		}}, oneExchange(func(s *peer.Server, h peer.Headers) {
			s.Send(frame.RSTStream{Stream: h.Stream, Code: frame.EnhanceYourCalm})
		}))
		get(t, tr, "http://a.example/")
	})
	if len(counted) != 1 || !regexp.MustCompile("^[a-z0-9_]+$").MatchString(counted[0]) {
		t.Errorf("counted %q", counted)
	}
}
