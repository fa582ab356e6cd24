package h2http_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
	"example.com/h2flow/internal/rows"
	"example.com/h2flow/strategy"
	"github.com/google/go-cmp/cmp"
)

// serve answers every request with 200.
func serve(s *peer.Server) {
	s.Ignore = onlyHeaders
	s.Conn().SetDeadline(time.Time{})
	s.Timeout = 24 * time.Hour
	defer func() { recover() }() // the client closes
	for {
		h := s.WantHeaders("a request arrives")
		s.Send(answer(h.Stream, "200"))
	}
}

// Contract: E24, P1.
func TestRequestsToOneHostShareOneConnectionAndOneDial(t *testing.T) {
	rows.Cover(t, "9113-9.1-1")
	bubble(t, func(t *testing.T) {
		tr, n := scripted(t, &h2http.Transport{}, greeted(serve))
		dial := tr.DialContext
		tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if network != "tcp" || addr != "a.example:80" {
				t.Errorf("dial of %s %s", network, addr)
			}
			time.Sleep(time.Second)
			return dial(ctx, network, addr)
		}
		results := make(chan string, 10)
		for _, url := range []string{"http://a.example/", "http://A.example/", "http://a.example:80/",
			"http://a.example:/"} {
			go func() { results <- get(t, tr, url) }()
		}
		for range 4 {
			if got := <-results; got != "200 OK" {
				t.Error(got)
			}
		}
		if got := get(t, tr, "http://a.EXAMPLE/"); got != "200 OK" || n.dialed() != 1 {
			t.Errorf("%s, %d connections, want 1", got, n.dialed())
		}
	})
}

// The dial is shared: whoever leaves it does not end it for the others, and the last to leave does.
//
// Contract: E24, P1.
func TestACancelledRequestDoesNotEndTheDialOfOthers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, n := scripted(t, &h2http.Transport{}, greeted(serve))
		dial := tr.DialContext
		tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			select {
			case <-time.After(2 * time.Second):
				return dial(ctx, network, addr)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		first, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		results := make(chan string, 10)
		go func() { results <- exchange(tr, newRequest(t, "GET", "http://a.example/1", nil).WithContext(first)) }()
		synctest.Wait()
		go func() { results <- get(t, tr, "http://a.example/2") }()
		start := time.Now()
		if got := <-results; got != "context deadline exceeded" || time.Since(start) != time.Second {
			t.Errorf("the first: %s after %v", got, time.Since(start))
		}
		if got := <-results; got != "200 OK" || time.Since(start) != 2*time.Second {
			t.Errorf("the second: %s after %v", got, time.Since(start))
		}
		if n.dialed() != 1 {
			t.Errorf("%d connections", n.dialed())
		}
	})
}

func TestADialThatNobodyWaitsForIsCancelledAndTheNextRequestDialsAnew(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, n := scripted(t, &h2http.Transport{}, greeted(serve))
		dial := tr.DialContext
		ended := make(chan error, 1)
		tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if ctx.Value(slowKey{}) == nil {
				return dial(ctx, network, addr)
			}
			<-ctx.Done()
			ended <- ctx.Err()
			return nil, ctx.Err()
		}
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), slowKey{}, true), time.Second)
		defer cancel()
		if got := exchange(tr,
			newRequest(t, "GET", "http://a.example/", nil).WithContext(ctx)); got != "context deadline exceeded" {
			t.Error(got)
		}
		if got := get(t, tr, "http://a.example/"); got != "200 OK" || n.dialed() != 1 {
			t.Errorf("%s, %d connections", got, n.dialed())
		}
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the dial ended with %v", err)
		}
	})
}

type slowKey struct{}

func TestAFailedDialFailsAllWhoWaitForIt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		refused := errors.New("connection refused")
		dials := 0
		tr := &h2http.Transport{AllowHTTP: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
			dials++
			time.Sleep(time.Second)
			return nil, refused
		}}
		results := make(chan error, 10)
		for range 3 {
			go func() {
				_, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
				results <- err
			}()
		}
		for range 3 {
			if err := <-results; !errors.Is(err, refused) {
				t.Errorf("error %v", err)
			}
		}
		if dials != 1 {
			t.Errorf("%d dials", dials)
		}
	})
}

// Contract: P7.
func TestIdleConnTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, n := scripted(t, &h2http.Transport{IdleConnTimeout: 10 * time.Second}, greeted(serve), greeted(serve))
		for i := range 4 {
			if got := get(t, tr, "http://a.example/"); got != "200 OK" || n.dialed() != 1 {
				t.Errorf("request %d: %s, %d connections", i, got, n.dialed())
			}
			time.Sleep(9 * time.Second)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := get(t, tr, "http://a.example/"); got != "200 OK" || n.dialed() != 2 {
			t.Errorf("after 11s without a request: %s, %d connections, want 2", got, n.dialed())
		}
	})
}

func TestCloseIdleConnectionsSparesThoseInUse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, n := scripted(t, &h2http.Transport{}, greeted(func(s *peer.Server) {
			h := s.WantHeaders("the request arrives")
			s.Send(head(h.Stream, "200"))
			time.Sleep(time.Second)
			s.Send(lastData(h.Stream, ""))
			serve(s)
		}), greeted(serve))
		resp, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
		if err != nil {
			t.Fatal(err)
		}
		tr.CloseIdleConnections()
		if _, err := resp.Body.Read(make([]byte, 1)); err == nil || err.Error() != "EOF" {
			t.Errorf("the request in progress: %v", err)
		}
		resp.Body.Close()
		tr.CloseIdleConnections()
		if got := get(t, tr, "http://a.example/"); got != "200 OK" || n.dialed() != 2 {
			t.Errorf("%s, %d connections, want 2", got, n.dialed())
		}
	})
}

func TestDisableKeepAlivesGivesEachRequestItsConnection(t *testing.T) {
	bubble(t, func(t *testing.T) {
		once := greeted(func(s *peer.Server) {
			h := s.WantHeaders("the request arrives")
			s.Send(answer(h.Stream, "200"))
			s.Ignore = besides[frame.GoAway]
			s.WantClose("the connection is closed after its request")
		})
		tr, n := scripted(t, &h2http.Transport{DisableKeepAlives: true}, once, once, once)
		results := make(chan string, 10)
		for range 3 {
			go func() { results <- get(t, tr, "http://a.example/") }()
		}
		for range 3 {
			if got := <-results; got != "200 OK" {
				t.Error(got)
			}
		}
		if n.dialed() != 3 {
			t.Errorf("%d connections, want 3", n.dialed())
		}
	})
}

// Connections that the server ends at once count as attempts of the request.
func TestConnectionsThatEndAtOnceAreNotDialledForEver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		hangUp := func(s *peer.Server) { s.Conn().Close() }
		tr, n := scripted(t, &h2http.Transport{}, hangUp, hangUp, hangUp, hangUp, hangUp, hangUp, hangUp, hangUp)
		_, err := tr.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
		if err == nil || n.dialed() > 4 {
			t.Errorf("error %v after %d connections", err, n.dialed())
		}
	})
}

// By default the preface tells two limits, each of which a negative value keeps off the wire.
//
// Contract: N1.
func TestThePrefaceTellsWhatIsConfigured(t *testing.T) {
	plain := strategy.Fixed{}
	id := func(i frame.SettingID, v uint32) frame.Setting { return frame.Setting{ID: i, Value: v} }
	push := id(frame.SettingEnablePush, 0)
	tests := []struct {
		name string
		tr   *h2http.Transport
		want []frame.Setting
	}{
		{"default", &h2http.Transport{Flow: plain}, []frame.Setting{push,
			id(frame.SettingMaxFrameSize, h2http.DefaultMaxReadFrameSize), id(frame.SettingMaxHeaderListSize,
				256<<10)}},
		{"all off", &h2http.Transport{Flow: plain, MaxReadFrameSize: -1, MaxHeaderListSize: -1}, []frame.Setting{push}},
		{"own values", &h2http.Transport{Flow: plain, MaxReadFrameSize: 20000, MaxResponseHeaderBytes: 1 << 20,
			AdvertiseMaxConcurrentStreams: 7, MaxConcurrentStreams: 9}, []frame.Setting{push,
			id(frame.SettingMaxConcurrentStreams, 7), id(frame.SettingMaxFrameSize,
				20000), id(frame.SettingMaxHeaderListSize, 1<<20)}},
		{"HTTP2Config", &h2http.Transport{MaxReadFrameSize: -1, MaxHeaderListSize: -1, HTTP2: &http.HTTP2Config{
			MaxDecoderHeaderTableSize: 8192, MaxReceiveBufferPerStream: 100000, MaxReceiveBufferPerConnection: 1 << 20,
		}}, []frame.Setting{id(frame.SettingHeaderTableSize, 8192), push, id(frame.SettingInitialWindowSize, 100000)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var got []frame.Setting
				tr, _ := scripted(t, tt.tr, func(s *peer.Server) {
					s.Ignore = peer.IgnoreWindowUpdates
					for setting := range s.Greet().All() {
						got = append(got, setting)
					}
					serve(s)
				})
				if answer := get(t, tr, "http://a.example/"); answer != "200 OK" {
					t.Error(answer)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("SETTINGS (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// Contract: N6.
func TestCloneCopiesEveryField(t *testing.T) {
	tr := &h2http.Transport{}
	v := reflect.ValueOf(tr).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		if !f.CanSet() {
			continue
		}
		switch f.Kind() {
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Int, reflect.Int64:
			f.SetInt(7)
		case reflect.Uint32:
			f.SetUint(7)
		case reflect.Func:
			f.Set(reflect.MakeFunc(f.Type(), func([]reflect.Value) []reflect.Value { return nil }))
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		case reflect.Map:
			f.Set(reflect.MakeMap(f.Type()))
		case reflect.Interface:
			for _, v := range []any{strategy.Fixed{}, h2http.MostConns{}} {
				if reflect.TypeOf(v).Implements(f.Type()) {
					f.Set(reflect.ValueOf(v))
				}
			}
		default:
			t.Fatalf("field %s: the test cannot set a %v", v.Type().Field(i).Name, f.Kind())
		}
	}
	c := reflect.ValueOf(tr.Clone()).Elem()
	for i := range c.NumField() {
		if name := c.Type().Field(i).Name; c.Field(i).CanSet() && c.Field(i).IsZero() {
			t.Errorf("field %s is not copied", name)
		}
	}
}

func TestHTTP2ConfigCountsErrors(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var counted []string
		tr, _ := scripted(t, &h2http.Transport{HTTP2: &http.HTTP2Config{
			CountError: func(kind string) { counted = append(counted, kind) },
		}}, oneExchange(func(s *peer.Server, h peer.Headers) {
			s.Send(frame.RSTStream{Stream: h.Stream, Code: frame.InternalError})
		}))
		if got := get(t, tr, "http://a.example/"); !strings.Contains(got, "INTERNAL_ERROR") {
			t.Error(got)
		}
		if diff := cmp.Diff([]string{"recv_rststream_internal_error"}, counted); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestClientConnKeepsToItsConnection(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, n := scripted(t, &h2http.Transport{}, greeted(func(s *peer.Server) {
			for range 2 {
				h := s.WantHeaders("a request arrives")
				s.Send(answer(h.Stream, "200", "x-host", value(h, ":authority")))
			}
			s.WantHeaders("the last request arrives")
			s.Send(frame.GoAway{LastStream: 3})
			untilClosed(s)
		}))
		c, err := tr.NewClientConn(t.Context(), "http", "a.example:80")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for _, host := range []string{"a.example", "b.example"} {
			if got := get(t, c, "http://"+host+"/"); got != "200 OK" {
				t.Error(got)
			}
		}
		_, err = c.RoundTrip(newRequest(t, "GET", "http://a.example/", nil))
		if !errors.Is(err, h2flow.ErrNotProcessed) || n.dialed() != 1 {
			t.Errorf("after GOAWAY: %v, %d connections", err, n.dialed())
		}
	})
}
