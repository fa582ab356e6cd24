package h2flow

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// This file runs the transitions of readRole through every order in which a few goroutines, a timer, a cancellation
// and arriving data can interleave at the granularity of critical sections, and checks the laws in its comment.

const explorers = 3

// place is where a goroutine of the model stands between critical sections.
type place uint8

const (
	atStart place = iota // about to enter the critical section for the first time
	inRead               // blocked in Read
	asleep               // parked
	awake                // woken from being parked
	ended
	absent // the background, while it does not exist
)

// world is a state of the model. Goroutine i waits for need[i] items; items arrive in the order of socket, which tells
// for whom each is.
type world struct {
	role      readRole
	w         [explorers]waiter
	nobody    waiter // the background's
	at        [explorers]place
	bg        place
	timer     bool
	socket    []int // still to arrive
	kernel    []int // arrived, not read
	buffer    []int // read, not processed
	need, got [explorers]int
	cancelled [explorers]bool
	toCancel  int // who may still be cancelled; -1: nobody
}

func (m *world) clone() *world {
	c := *m
	c.socket, c.kernel, c.buffer = slices.Clone(m.socket), slices.Clone(m.kernel), slices.Clone(m.buffer)
	move := func(w *waiter) *waiter {
		for i := range m.w {
			if w == &m.w[i] {
				return &c.w[i]
			}
		}
		return nil
	}
	c.role.holder = move(m.role.holder)
	c.role.parked = nil
	for _, w := range m.role.parked {
		c.role.parked = append(c.role.parked, move(w))
	}
	return &c
}

// key identifies the state.
func (m *world) key() string {
	index := func(w *waiter) int {
		for i := range m.w {
			if w == &m.w[i] {
				return i
			}
		}
		return -1
	}
	var parked []int
	for _, w := range m.role.parked {
		parked = append(parked, index(w))
	}
	r := m.role
	return fmt.Sprint(index(r.holder), r.bg, r.inRead, r.kicked, r.wanted, r.offered, r.armed, parked, m.at, m.bg, m.timer,
		m.socket, m.kernel, m.buffer, m.got, m.cancelled, m.toCancel, m.w)
}

// readers is how many goroutines are in Read.
func (m *world) readers() (n int) {
	for _, p := range append(m.at[:], m.bg) {
		if p == inRead {
			n++
		}
	}
	return n
}

func (m *world) met(i int) bool { return m.got[i] >= m.need[i] || m.cancelled[i] }

// wake mirrors ClientConn.wake.
func (m *world) wake(i int) {
	w := &m.w[i]
	w.fired = true
	switch {
	case w.parked:
		m.role.unpark(w)
		m.at[i] = awake
	case m.role.holder == w:
		m.role.kick()
	}
}

// unlock mirrors what ClientConn.unlock does with the role.
func (m *world) unlock() {
	switch what, w := m.role.offer(); what {
	case offerWake:
		for i := range m.w {
			if w == &m.w[i] {
				m.at[i] = awake
			}
		}
	case offerTimer:
		m.timer = true
	case offerStart:
		m.bg = atStart
	}
}

// process mirrors the loop of ClientConn.readTurn.
func (m *world) process(w *waiter) {
	for !w.fired && len(m.buffer) > 0 {
		i := m.buffer[0]
		m.buffer = m.buffer[1:]
		if m.at[i] != ended {
			m.got[i]++
			m.wake(i)
		}
	}
}

// turn runs goroutine i until it gives the lock up. returned says that it comes from Read.
func (m *world) turn(i int, returned bool) {
	w := &m.w[i]
	for {
		if !returned {
			if m.met(i) {
				m.at[i] = ended
				m.unlock()
				return
			}
			w.fired = false
			if !m.role.take(w) {
				m.role.park(w)
				m.at[i] = asleep
				m.unlock()
				return
			}
			if len(m.buffer) == 0 {
				m.role.inRead = true
				m.at[i] = inRead
				return
			}
		}
		returned = false
		m.process(w)
		m.role.leave(time.Time{})
	}
}

// read mirrors the end of ClientConn.readOnce.
func (m *world) read() {
	m.role.returned()
	m.buffer = append(m.buffer, m.kernel...)
	m.kernel = nil
}

// background runs the background until it gives the lock up.
func (m *world) background(returned bool) {
	for {
		if !returned && len(m.buffer) == 0 {
			m.role.inRead = true
			m.bg = inRead
			return
		}
		returned = false
		m.process(&m.nobody)
		if !m.role.backgroundStays() {
			m.role.leave(time.Time{})
			m.bg = absent
			m.unlock()
			return
		}
	}
}

// steps are the states that can follow m.
func (m *world) steps() []*world {
	var next []*world
	step := func(f func(c *world)) {
		c := m.clone()
		f(c)
		next = append(next, c)
	}
	for i := range m.at {
		switch {
		case m.at[i] == atStart:
			step(func(c *world) { c.turn(i, false) })
		case m.at[i] == awake:
			step(func(c *world) { c.role.resumed(&c.w[i]); c.turn(i, false) })
		case m.at[i] == inRead && (len(m.kernel) > 0 || m.role.kicked):
			step(func(c *world) { c.read(); c.turn(i, true) })
		}
	}
	switch {
	case m.bg == atStart:
		step(func(c *world) { c.background(false) })
	case m.bg == inRead && (len(m.kernel) > 0 || m.role.kicked):
		step(func(c *world) { c.read(); c.background(true) })
	}
	if m.timer {
		step(func(c *world) {
			c.timer = false
			become, again := c.role.timerFired(time.Time{}.Add(time.Hour))
			c.timer = again > 0
			c.unlock()
			if become {
				c.background(false)
			}
		})
	}
	if len(m.socket) > 0 {
		step(func(c *world) { c.kernel = append(c.kernel, c.socket[0]); c.socket = c.socket[1:] })
	}
	if j := m.toCancel; j >= 0 {
		step(func(c *world) {
			c.toCancel = -1
			if c.at[j] != ended {
				c.cancelled[j] = true
				c.wake(j)
			}
			c.unlock()
		})
	}
	return next
}

// check returns the law that m breaks; last says that nothing can follow.
func (m *world) check(last bool) error {
	if n := m.readers(); n > 1 {
		return fmt.Errorf("%d readers", n)
	}
	if m.role.free() && !m.role.offered && len(m.role.parked) > 0 {
		return fmt.Errorf("somebody waits, and nobody reads or was asked to")
	}
	if !last {
		return nil
	}
	for i := range m.at {
		if m.at[i] != ended {
			return fmt.Errorf("goroutine %d waits for ever with %d of %d items, cancelled: %v", i, m.got[i], m.need[i], m.cancelled[i])
		}
	}
	if m.readers() == 0 {
		return fmt.Errorf("nobody reads")
	}
	return nil
}

// explore visits every state that can follow start.
func explore(start *world) (states int, err error) {
	seen := map[string]bool{start.key(): true}
	todo := []*world{start}
	for len(todo) > 0 {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		next := m.steps()
		if err := m.check(len(next) == 0); err != nil {
			return len(seen), fmt.Errorf("%w in state %+v", err, *m)
		}
		for _, c := range next {
			if k := c.key(); !seen[k] {
				seen[k] = true
				todo = append(todo, c)
			}
		}
	}
	return len(seen), nil
}

func TestReadRoleExplored(t *testing.T) {
	total := 0
	for _, shared := range []bool{true, false} {
		for _, socket := range [][]int{{0, 1, 0, 2}, {2, 1, 0, 0}, {0, 0, 1, 2}} {
			for toCancel := -1; toCancel < explorers; toCancel++ {
				if !shared && toCancel >= 0 {
					continue // nobody but the background is ever in Read
				}
				start := &world{bg: absent, socket: socket, toCancel: toCancel, need: [explorers]int{2, 1, 1}}
				start.role.shared = shared
				if toCancel >= 0 {
					start.need[toCancel]++ // what it waits for never comes
				}
				n, err := explore(start)
				total += n
				if err != nil {
					t.Fatalf("shared %v, items for %v, cancelling %d: %v", shared, socket, toCancel, err)
				}
			}
		}
	}
	t.Logf("%d states", total)
	if total < 1000 {
		t.Errorf("only %d states: the exploration is not one", total)
	}
}

// TestReadRoleGuardsBite takes each guard of the role out, one at a time, and demands that the exploration notices.
func TestReadRoleGuardsBite(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the package once for each guard")
	}
	source, err := os.ReadFile("readrole.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, guard := range map[string][2]string{
		"a role that is held is not taken":              {"!r.shared || !r.free()", "!r.shared"},
		"a free role is offered to somebody parked":     {"case len(r.parked) > 0:\n\t\tw :=", "case false:\n\t\tw :="},
		"an offer ends when the waiter runs":            {"w.offer, r.offered = false, false", "w.offer = false"},
		"a cancelled reader is woken":                   {"if !r.inRead || r.kicked {", "if true {"},
		"somebody reads when nobody waits":              {"case !r.armed:", "case false:"},
		"the timer does not take a role that is held":   {"if !r.free() || r.offered", "if r.offered"},
		"whoever leaves the role leaves it free":        {"r.holder, r.bg = nil, false", "r.bg = false"},
		"the background of an unshared role is started": {"return offerStart, nil", "return offerNothing, nil"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Count(string(source), guard[0]) != 1 {
				t.Fatalf("readrole.go has %q %d times, not once", guard[0], strings.Count(string(source), guard[0]))
			}
			dir := t.TempDir()
			mutant := filepath.Join(dir, "readrole.go")
			os.WriteFile(mutant, []byte(strings.Replace(string(source), guard[0], guard[1], 1)), 0o644)
			test, err := os.ReadFile("readrole_test.go")
			if err != nil {
				t.Fatal(err)
			}
			os.WriteFile(filepath.Join(dir, "readrole_test.go"), test, 0o644)
			os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module mutant\n\ngo 1.26\n"), 0o644)
			run := exec.Command("go", "test", "-vet=off", "-run", "^TestReadRoleExplored$", ".")
			run.Dir, run.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
			out, err := run.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestReadRoleExplored") {
				t.Errorf("without the guard the exploration still passes, or did not run:\n%s", out)
			}
		})
	}
}
