package scenarios

import (
	"time"

	"example.com/h2flow/sim"
)

// A Named is an experiment with a name.
type Named struct {
	Scenario sim.Scenario // its Name is what Find takes
	About    string       // one line
}

const mib = 1 << 20

// path is a bulk transfer, cold and warm, over a path.
func path(name, about string, rttMs, rateMbit, loss float64, bytes int64) Named {
	return Named{sim.Scenario{
		Name: name, RTTMs: rttMs, RateMbit: rateMbit, Loss: loss, Bytes: bytes, Requests: 2, Seed: 1,
	}, about}
}

// on is a case on a path of 50 ms and 100 Mbit/s.
func on(name, about string, s sim.Scenario) Named {
	s.Name, s.RTTMs, s.RateMbit, s.Seed = name, 50, 100, 1
	return Named{s, about}
}

var all = []Named{
	path("lan", "100 MiB twice, 1 Gbit/s, 1 ms", 1, 1000, 0, 100*mib),
	path("metro", "100 MiB twice, 1 Gbit/s, 10 ms", 10, 1000, 0, 100*mib),
	path("broadband", "10 MiB twice, 100 Mbit/s, 20 ms", 20, 100, 0, 10*mib),
	path("transatlantic", "100 MiB twice, 1 Gbit/s, 100 ms", 100, 1000, 0, 100*mib),
	path("satellite", "10 MiB twice, 20 Mbit/s, 600 ms", 600, 20, 0, 10*mib),
	path("mobile", "10 MiB twice, 30 Mbit/s, 60 ms, 0.1 % loss", 60, 30, 0.001, 10*mib),
	path("wifi-lossy", "10 MiB twice, 50 Mbit/s, 20 ms, 1 % loss", 20, 50, 0.01, 10*mib),
	on("slow-reader", "a reader that takes 64 KiB each 100 ms", sim.Scenario{
		Bytes: 4 * mib, Reader: sim.Reader{Kind: sim.ReadInBursts, Bytes: 64 << 10, Every: 100 * time.Millisecond},
	}),
	on("bursty-reader", "a reader that takes everything once a second", sim.Scenario{
		Bytes: 10 * mib, Reader: sim.Reader{Kind: sim.ReadInBursts, Every: time.Second},
	}),
	on("paused-reader", "a reader that stops for 3 s after 1 s", sim.Scenario{
		Bytes: 50 * mib, Reader: sim.Reader{Kind: sim.ReadWithPause, After: time.Second, Pause: 3 * time.Second},
	}),
	on("many-streams", "100 streams of 256 KiB at once", sim.Scenario{Bytes: 256 << 10, Streams: 100}),
	on("unread-stream", "10 streams of 2 MiB, one of which nobody reads", sim.Scenario{
		Bytes: 2 * mib, Streams: 10, UnreadStreams: 1,
	}),
	on("small-beside-bulk", "4 KiB each 50 ms beside 20 MiB", sim.Scenario{
		Bytes: 20 * mib, SmallBytes: 4096, SmallEveryMs: 50,
	}),
	on("shared-bottleneck", "two connections and another TCP flow share the path", sim.Scenario{
		Bytes: 20 * mib, Connections: 2, StaggerMs: 500, CrossTraffic: []sim.CrossTraffic{{}},
	}),
	on("rate-rises", "the rate rises from 100 to 500 Mbit/s after 1 s", sim.Scenario{
		Bytes: 100 * mib, Changes: []sim.Change{{AtMs: 1000, RateMbit: 500}},
	}),
	on("delay-rises", "the round trip grows from 50 to 150 ms after 1 s", sim.Scenario{
		Bytes: 50 * mib, Changes: []sim.Change{{AtMs: 1000, RTTMs: 150}},
	}),
}

// All are the experiments, in the order in which they are told about.
func All() []Named { return append([]Named(nil), all...) }

// Find is the experiment of that name.
func Find(name string) (Named, bool) {
	for _, n := range all {
		if n.Scenario.Name == name {
			return n, true
		}
	}
	return Named{}, false
}
