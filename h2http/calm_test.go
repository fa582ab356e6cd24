package h2http_test

import (
	"testing"
	"testing/synctest"
	"time"

	"example.com/h2flow/frame"
	"example.com/h2flow/h2http"
	"example.com/h2flow/internal/peer"
	"github.com/google/go-cmp/cmp"
)

// A host that complains of too many PINGs is asked half as often on its next connections, and others are not.
//
// Contract: L2.
func TestB43AComplaintHalvesTheQuestionsOfConnectionsToCome(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var asked []time.Duration
		listening := greeted(func(s *peer.Server) {
			s.NoPong, s.Timeout = true, time.Hour
			h := s.WantHeaders("a request that takes its time")
			start := time.Now()
			for {
				if p, ok := s.Read().(frame.Ping); ok {
					asked = append(asked, time.Since(start))
					s.Send(frame.Ping{Ack: true, Data: p.Data}, answer(h.Stream, "200"))
					break
				}
			}
			s.Send(frame.GoAway{LastStream: h.Stream, Code: frame.EnhanceYourCalm, Debug: []byte("too_many_pings")})
			untilClosed(s)
		})
		tr, _ := scripted(t, &h2http.Transport{}, listening, listening, listening, listening)
		for _, host := range []string{"a", "a", "a", "b"} {
			if got := get(t, tr, "http://"+host+".example/"); got != "200 OK" {
				t.Error(got)
			}
			time.Sleep(time.Second)
			synctest.Wait()
		}
		want := []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 30 * time.Second}
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("asked after (-want +got):\n%s", diff)
		}
	})
}
