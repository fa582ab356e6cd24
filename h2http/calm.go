package h2http

import "time"

// Some servers count PINGs and end connections on which there are too many, with ENHANCE_YOUR_CALM. A host that did so
// is asked for signs of life half as often on connections to come.

const (
	// maxCalmed bounds for how many hosts that is remembered.
	maxCalmed = 128
	// maxDoublings bounds how rarely a host is asked: 30 seconds become 32 minutes.
	maxDoublings = 6
	// defaultPingInterval is what the engine means by zero.
	defaultPingInterval = 30 * time.Second
)

func (p *pool) calmLocked(key hostKey) {
	if p.calmed == nil {
		p.calmed = make(map[hostKey]uint8)
	}
	if len(p.calmed) < maxCalmed || p.calmed[key] > 0 {
		p.calmed[key] = min(p.calmed[key]+1, maxDoublings)
	}
}

// calmInterval is the interval between signs of life for a new connection; zero and negative values are as in
// Transport.PingInterval.
func (p *pool) calmInterval(key hostKey, configured time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	doublings := p.calmed[key]
	switch {
	case doublings == 0 || configured < 0:
		return configured
	case configured == 0:
		configured = defaultPingInterval
	}
	return configured << doublings
}
