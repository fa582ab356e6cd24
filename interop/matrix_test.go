package interop

import (
	"cmp"
	"fmt"
	"testing"

	"example.com/h2flow/frame"
	"example.com/h2flow/strategy"
)

// tiny is bound by one window per round trip, and the windows are the smallest that a server may count on.
const tiny = "fixed:stream=65535:conn=65535"

// What varies from transfer to transfer.
var (
	schemes    = []string{"http", "https"}
	strategies = strategyTexts()
	maxFrames  = []uint32{frame.MinMaxFrameSize, 1 << 20, frame.MaxMaxFrameSize}
	directions = []string{"download", "upload"}
)

// strategyTexts are all strategies with their defaults, and the tiny one.
func strategyTexts() []string {
	texts := []string{tiny}
	for _, info := range strategy.Table() {
		texts = append(texts, info.Name)
	}
	return texts
}

// A cell is one transfer of the matrix.
type cell struct {
	server    int // index in servers
	scheme    string
	client    client
	strategy  string
	maxFrame  uint32
	direction string
}

func (c cell) String() string {
	return fmt.Sprintf("%s/%s/%s/%d/%s", c.scheme, c.client.name, c.strategy, c.maxFrame, c.direction)
}

// matrix is a cover of all pairs, or everything if there is time for that.
func matrix() (cells []cell) {
	rows := pairwise
	if long() {
		rows = product
	}
	for _, v := range rows([]int{
		len(servers), len(strategies), len(maxFrames), len(schemes), len(clients), len(directions),
	}) {
		cells = append(cells, cell{
			server: v[0], strategy: strategies[v[1]], maxFrame: maxFrames[v[2]],
			scheme: schemes[v[3]], client: clients[v[4]], direction: directions[v[5]],
		})
	}
	return cells
}

func (c cell) run(t *testing.T, o *origin, r running) {
	config, err := strategy.Parse(c.strategy)
	if err != nil {
		t.Fatal(err)
	}
	transfer := c.client.dial(t, r.target(o, c.scheme), options{flow: config, maxFrame: c.maxFrame})
	if c.direction == "download" {
		testDownload(t, transfer, o.download)
		return
	}
	testUpload(t, transfer, servers[c.server].echoes)
}

// Every server is started once, and then asked for all that is tested of it. net/http comes first, as the control.
func TestServers(t *testing.T) {
	o := newOrigin(t)
	cells := matrix()
	t.Logf("%d transfers", len(cells))
	for i, s := range servers {
		t.Run(s.name, func(t *testing.T) {
			r := s.start(t, o)
			for _, to := range r.targets(o) {
				t.Run("control/"+to.scheme, func(t *testing.T) {
					transfer := dialNetHTTP(t, to, options{})
					testDownload(t, transfer, o.download)
					testUpload(t, transfer, s.echoes)
				})
			}
			for _, c := range cells {
				if c.server == i {
					t.Run(c.String(), func(t *testing.T) { c.run(t, o, r) })
				}
			}
			for _, to := range r.targets(o) {
				t.Run(to.scheme, func(t *testing.T) { s.testFeatures(t, o, to) })
			}
		})
	}
}

// testFeatures are the tests that every server passes once over TLS and once in cleartext. The windows are tiny, so that
// credit which were lost would stop the next stream; not with lighttpd 1.4.69, which sends an octet more than the stream
// window when streams have used up the connection's, and stands still now and then under Threshold.
func (s server) testFeatures(t *testing.T, o *origin, to target) {
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			config, err := strategy.Parse(cmp.Or(s.shared, tiny))
			if err != nil {
				t.Fatal(err)
			}
			transfer := c.dial(t, to, options{flow: config})
			t.Run("abandoned", func(t *testing.T) { testAbandoned(t, transfer, o.download) })
			t.Run("parallel", func(t *testing.T) { testParallel(t, transfer, o.download) })
			t.Run("many", func(t *testing.T) { testMany(t, transfer, o.small) })
		})
	}
	t.Run("head", func(t *testing.T) { s.testHead(t, to) })
	t.Run("trailers", func(t *testing.T) { s.testTrailers(t, to) })
}
