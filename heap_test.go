//go:build !race

package h2flow_test

import (
	"runtime"
	"testing"
	"time"

	"example.com/h2flow"
)

// TestConnectionsAtRestHoldNoBuffers: neither one that is idle after a download nor one that is closed keeps a read or a
// write buffer, 64 KiB each, however long somebody holds on to it. The figures include the server, in this process.
func TestConnectionsAtRestHoldNoBuffers(t *testing.T) {
	const conns = 100
	_, dial := server(t, false)
	get(t, dial(nil), "/bytes/300000") // so that what is made once is there
	before := heapInUse()
	var all []*h2flow.ClientConn
	for range conns {
		c := dial(nil)
		get(t, c, "/bytes/300000")
		all = append(all, c)
	}
	check := func(what string, limit int64) {
		t.Helper()
		var each int64
		for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
			if each = (heapInUse() - before) / conns; each < limit {
				return
			}
		}
		t.Errorf("%s connections hold %d octets each, want less than %d", what, each, limit)
	}
	check("idle", 75<<10)
	for _, c := range all {
		c.Close()
	}
	check("closed", 40<<10)
	runtime.KeepAlive(all)
}

func heapInUse() int64 {
	var m runtime.MemStats
	for range 3 { // pools are emptied by the second
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
