package h2flow_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/flow"
	"example.com/h2flow/internal/pipe"
	"example.com/h2flow/strategy"
)

// TestBudgetBoundsAGroupOfConnections opens more connections than the budget could serve with the windows that their
// strategies want, reads nothing on half of them, and downloads on the others. The memory promised stays within the
// bound, everything that is read arrives, and when all have ended the budget is whole again.
//
// Contract: P9.
func TestBudgetBoundsAGroupOfConnections(t *testing.T) {
	const conns, most = 20, 1 << 20
	for _, fc := range []flow.Config{strategy.Auto{}, strategy.BDP{}, strategy.Threshold{}, strategy.Unlimited{}} {
		t.Run(fc.String(), func(t *testing.T) {
			testBody(3 << 20)
			synctest.Test(t, func(t *testing.T) { testBudget(t, fc, conns, most) })
		})
	}
}

func testBudget(t *testing.T, fc flow.Config, conns int, most int64) {
	listener := pipe.Listen(pipe.Link{RTT: 10 * time.Millisecond, Rate: 1e9})
	srv := &http.Server{Handler: testHandler(t), Protocols: new(http.Protocols)}
	srv.Protocols.SetUnencryptedHTTP2(true)
	go srv.Serve(listener)
	budget := h2flow.NewBudget(most)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range conns {
		nc, err := listener.Dial()
		if err != nil {
			t.Fatal(err)
		}
		c, err := h2flow.NewClientConn(nc, &h2flow.Config{Flow: fc, Budget: budget, StallTimeout: -1})
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			defer c.Close()
			if i%2 == 0 {
				s, err := c.OpenStream(context.Background(), &h2flow.Request{
					Method: "GET", Scheme: "http", Authority: "x", Path: fmt.Sprintf("/bytes/%d", 3<<20), EndStream: true,
				})
				if err != nil {
					t.Error(err)
					return
				}
				<-stop
				s.Close()
				return
			}
			for range 3 {
				if got := get(t, c, fmt.Sprintf("/bytes/%d", 3<<20)); !bytes.Equal(got, testBody(3<<20)) {
					t.Errorf("%d octets came back wrong", len(got))
				}
			}
		})
		if used := budget.Used(); used > most {
			t.Errorf("%d octets of %d are promised", used, most)
		}
	}
	time.Sleep(5 * time.Second) // virtual: all downloads end, the budget is fought for
	if used := budget.Used(); used > most {
		t.Errorf("%d octets of %d are promised", used, most)
	}
	close(stop)
	wg.Wait()
	synctest.Wait()
	if used := budget.Used(); used != 0 {
		t.Errorf("%d octets are taken when all connections have ended", used)
	}
	srv.Close()
	synctest.Wait()
}
