package h2http_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
	"github.com/google/go-cmp/cmp"
)

// A complete answer with RST_STREAM(NO_ERROR) is an answer: the upload stops quietly.
//
// Contract: R12.
func TestB24AnEarlyCompleteAnswerIsDelivered(t *testing.T) {
	rows.Cover(t, "9113-8.1-8")
	for name, oneWrite := range map[string]bool{"in one segment": true, "in three": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				stopped := make(chan struct{})
				tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
					early := []any{head(h.Stream, "403"), lastData(h.Stream, "no"), frame.RSTStream{Stream: h.Stream}}
					if oneWrite {
						s.Send(early...)
					} else {
						for _, f := range early {
							s.Send(f)
						}
					}
					<-stopped
					s.Ignore = besides[frame.Data]
					s.Send(frame.Ping{Data: [8]byte{1}})
					s.Want("no RST_STREAM goes back", frame.Ping{Ack: true, Data: [8]byte{1}})
				}))
				body := blocked()
				resp, err := tr.RoundTrip(newRequest(t, "POST", "http://a.example/", body))
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait() // the reset has arrived
				text, err := io.ReadAll(resp.Body)
				if resp.StatusCode != 403 || string(text) != "no" || err != nil {
					t.Errorf("status %d, body %q, error %v", resp.StatusCode, text, err)
				}
				resp.Body.Close()
				body.wantClosedOnce(t)
				close(stopped)
			})
		})
	}
}

func TestB24AnyOtherResetBeforeTheEndFailsTheBody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
			s.Send(head(h.Stream, "403"), data(h.Stream, "n"), frame.RSTStream{Stream: h.Stream, Code: frame.Cancel})
		}))
		body := blocked()
		got := exchange(tr, newRequest(t, "POST", "http://a.example/", body))
		if !strings.HasPrefix(got, "403 Forbidden n stream error: stream ID 1; CANCEL") {
			t.Error(got)
		}
		body.wantClosedOnce(t)
	})
}

// A writer that waits for a window hears whatever ends the stream.
func TestB08AnUploadThatWaitsForTheWindowHearsTheEnd(t *testing.T) {
	tests := []struct {
		name string
		end  func(s *peer.Server, id frame.StreamID, cancel func())
		want string // begin of the result
	}{
		{"413 and NO_ERROR", func(s *peer.Server, id frame.StreamID, _ func()) {
			s.Send(answer(id, "413"), frame.RSTStream{Stream: id})
		}, "413 Request Entity Too Large"},
		{"reset", func(s *peer.Server, id frame.StreamID, _ func()) {
			s.Send(frame.RSTStream{Stream: id, Code: frame.Cancel})
		}, "stream error: stream ID 1; CANCEL"},
		{"close", func(s *peer.Server, _ frame.StreamID, _ func()) { s.Conn().Close() }, ""},
		{"cancel", func(s *peer.Server, _ frame.StreamID, cancel func()) { cancel() }, "context canceled"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				tr, _ := scripted(t, &h2http.Transport{}, greeted(func(s *peer.Server) {
					h := s.WantHeaders("the request arrives")
					for n := 0; n < 65535; {
						n += len(s.Read().(frame.Data).Data)
					}
					synctest.Wait()
					tt.end(s, h.Stream, cancel)
					untilClosed(s)
				}))
				body := &watchedBody{r: endless{}}
				req := newRequest(t, "POST", "http://a.example/", body).WithContext(ctx)
				noTime(t, "the end", func() {
					if got := exchange(tr, req); !strings.HasPrefix(got, tt.want) || strings.HasPrefix(got, "2") {
						t.Errorf("got %q, want %q", got, tt.want)
					}
				})
				body.wantClosedOnce(t)
			})
		})
	}
}

// The response comes when its head does, and both bodies flow at once.
//
// Contract: R12, W4.
func TestFullDuplex(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
			s.Send(head(h.Stream, "200"))
			for {
				d := s.Read().(frame.Data)
				if d.EndStream {
					s.Send(lastData(h.Stream, "bye"))
					return
				}
				s.Send(data(h.Stream, "echo "+string(d.Data)))
			}
		}))
		r, w := io.Pipe()
		resp, err := tr.RoundTrip(newRequest(t, "POST", "http://a.example/", r))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		in := bufio.NewReader(resp.Body)
		for _, line := range []string{"one\n", "two\n"} {
			if _, err := io.WriteString(w, line); err != nil {
				t.Fatal(err)
			}
			if got, err := in.ReadString('\n'); got != "echo "+line || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		}
		w.Close()
		if rest, err := io.ReadAll(in); string(rest) != "bye" || err != nil {
			t.Errorf("%q, %v", rest, err)
		}
	})
}

// An early 200 lets the upload go on; an early error stops it, and the response stays readable.
//
// Contract: R12.
func TestAnEarlyAnswerStopsTheUploadOnlyIfItIsNoSuccess(t *testing.T) {
	for status, goesOn := range map[string]bool{"200": true, "302": false, "403": false, "500": false} {
		t.Run(status, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tr, _ := scripted(t, &h2http.Transport{}, greeted(func(s *peer.Server) {
					h := s.WantHeaders("the request arrives")
					s.Send(head(h.Stream, status), data(h.Stream, "first "))
					if goesOn {
						body, _ := s.Body(h.Stream)
						s.Send(lastData(h.Stream, string(body)))
					} else {
						s.Send(lastData(h.Stream, "last"))
						s.Want("the rest of the upload is called off",
							frame.RSTStream{Stream: h.Stream, Code: frame.Cancel})
					}
					untilClosed(s)
				}))
				r, w := io.Pipe()
				body := &watchedBody{r: r, onStop: func() { r.Close() }}
				resp, err := tr.RoundTrip(newRequest(t, "POST", "http://a.example/", body))
				if err != nil {
					t.Fatal(err)
				}
				_, werr := io.WriteString(w, "uploaded")
				w.Close()
				if (werr == nil) != goesOn {
					t.Errorf("writing the request body after the head: %v", werr)
				}
				text, err := io.ReadAll(resp.Body)
				if want := map[bool]string{true: "first uploaded",
					false: "first last"}[goesOn]; string(text) != want || err != nil {
					t.Errorf("body %q, error %v", text, err)
				}
				resp.Body.Close()
				body.wantClosedOnce(t)
			})
		})
	}
}

// Contract: R7b.
func TestABodyThatDisagreesWithItsLengthFailsTheRequest(t *testing.T) {
	tests := []struct {
		name, body string
		length     int64
		want       error
	}{
		{"too long", "0123456789", 9, h2http.ErrBodyTooLong},
		{"too short", "0123456789", 11, h2http.ErrBodyTooShort},
		{"empty", "", 1, h2http.ErrBodyTooShort},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
					for n := int64(0); ; {
						switch v := s.Read().(type) {
						case frame.Data:
							if n += int64(len(v.Data)); v.EndStream || n > tt.length {
								s.Fail("%v: the server could take the body for whole", v)
							}
						case frame.RSTStream:
							return
						}
					}
				}))
				body := watch(tt.body)
				req := newRequest(t, "POST", "http://a.example/", body)
				req.ContentLength = tt.length
				if _, err := tr.RoundTrip(req); !errors.Is(err, tt.want) {
					t.Errorf("error %v, want %v", err, tt.want)
				}
				body.wantClosedOnce(t)
			})
		})
	}
}

// Contract: R8.
func TestRequestTrailersFollowTheBody(t *testing.T) {
	for name, text := range map[string]string{"with a body": "body", "without": ""} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
					body, trailers := s.Body(h.Stream)
					if diff := cmp.Diff(fields("x-sum", "42"), trailers); string(body) != text || diff != "" {
						s.Fail("body %q, trailers (-want +got):\n%s", body, diff)
					}
					s.Send(answer(h.Stream, "200"))
				}))
				req := newRequest(t, "POST", "http://a.example/", nil)
				req.Trailer = http.Header{"X-Sum": nil}
				if text == "" {
					req.Trailer.Set("X-Sum", "42")
				} else {
					req.Body = io.NopCloser(io.MultiReader(strings.NewReader(text),
						atEnd(func() { req.Trailer.Set("X-Sum", "42") })))
				}
				if got := exchange(tr, req); got != "200 OK" {
					t.Error(got)
				}
			})
		})
	}
}

// atEnd is a reader that is empty and calls a function when that is found out.
type atEnd func()

func (f atEnd) Read([]byte) (int, error) { f(); return 0, io.EOF }

// Contract: R4, R8.
func TestAnInvalidTrailerValueFailsTheRequest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
			for {
				if v, ok := s.Read().(frame.RSTStream); ok {
					if v.Code != frame.Cancel {
						s.Fail("%v", v)
					}
					return
				}
			}
		}))
		req := newRequest(t, "POST", "http://a.example/", strings.NewReader("x"))
		req.Trailer = http.Header{"X-Sum": {"a\r\nb"}}
		var rerr *h2http.RequestError
		if _, err := tr.RoundTrip(req); !errors.As(err, &rerr) {
			t.Errorf("error %v, want a *RequestError", err)
		}
	})
}

// Contract: S19.
func TestClosingTheResponseBodyEndsTheUploadAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, _ := scripted(t, &h2http.Transport{}, oneExchange(func(s *peer.Server, h peer.Headers) {
			s.Send(head(h.Stream, "200"))
			s.Want("the stream is cancelled", frame.RSTStream{Stream: h.Stream, Code: frame.Cancel})
		}))
		body := blocked()
		resp, err := tr.RoundTrip(newRequest(t, "POST", "http://a.example/", body))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the upload waits in Read: Close could cross one that is about to begin
		noTime(t, "Close", func() { resp.Body.Close() })
		body.wantClosedOnce(t)
		if _, err := resp.Body.Read(make([]byte, 1)); !errors.Is(err, h2http.ErrBodyClosed) {
			t.Errorf("Read after Close: %v", err)
		}
	})
}
