package group

import (
	"sync"
	"time"

	"millrace/store/state"
)

// State of a group.
type State uint8

const (
	// Empty has no members; it may have offsets and a generation to go on from.
	Empty State = iota
	// PreparingRebalance waits for members to join (again).
	PreparingRebalance
	// CompletingRebalance waits for the leader's assignment, and for the store to keep it.
	CompletingRebalance
	// Stable has an assignment that members may fetch.
	Stable
	// Dead is being deleted, or gone.
	Dead
	// Assigning has targets to compute (consumer protocol).
	Assigning
	// Reconciling has members that are not at their target (consumer protocol).
	Reconciling
)

// String is Kafka's name of the state.
func (s State) String() string {
	switch s {
	case Empty:
		return "Empty"
	case PreparingRebalance:
		return "PreparingRebalance"
	case CompletingRebalance:
		return "CompletingRebalance"
	case Stable:
		return "Stable"
	case Assigning:
		return "Assigning"
	case Reconciling:
		return "Reconciling"
	case Dead:
	}
	return "Dead"
}

// group is one group's volatile state. All methods but unlock, unlockFromStore and
// pump need mu held; they queue replies in effects and store writes in writes,
// which unlock carries out after letting go of mu.
type group struct {
	c    *Coordinator
	name string

	mu       sync.Mutex
	state    State
	previous State // before PreparingRebalance: Empty means that this is an initial rebalance

	generation   int32 // of the last completed rebalance; 0: none yet
	protocolType string
	protocol     string // chosen by the last completed rebalance; "" none
	leader       string // member id; "" none

	members   map[string]*member
	order     []*member         // members in the order they came
	instances map[string]string // group instance id -> member id
	pending   map[string]*pendingMember
	// subscribed are the topics of a consumer group; nil when they cannot be known.
	subscribed map[string]struct{}

	newcomer         bool          // someone came during the running initial delay
	initialRemaining time.Duration // how much longer the initial rebalance may be put off
	joinTimer        *time.Timer   // ends PreparingRebalance; joinTimerID tells a stale firing
	joinTimerID      uint64
	unsynced         map[string]struct{} // members that have not sent SyncGroup in this generation
	syncTimer        *time.Timer
	storing          bool // the leader's assignment is on its way to the store
	stored           bool // the store knows this group
	moved            bool // dead, since another took its place (migrate.go)

	effects []func()
	writes  []write
	pumping bool
}

// write is one queued store intent. A group's intents reach the store in the order
// in which they were queued: a commit that was allowed in one generation cannot
// overtake, or be overtaken by, what the next one writes.
type write struct {
	intent state.Intent
	done   func(result any, err error) // called without mu
}

func newGroup(c *Coordinator, name string) *group {
	return &group{
		c: c, name: name,
		members: map[string]*member{}, instances: map[string]string{},
		pending: map[string]*pendingMember{}, unsynced: map[string]struct{}{},
	}
}

// later queues f to run after mu is let go.
func (g *group) later(f func()) { g.effects = append(g.effects, f) }

// unlock lets go of mu, sends the queued replies and submits the queued writes. The
// submission may wait for the store.
func (g *group) unlock() {
	if g.release() {
		g.pump()
	}
}

// unlockFromStore is unlock for the store's publisher goroutine, which must not
// wait: submissions go to a goroutine of their own.
func (g *group) unlockFromStore() {
	if !g.release() {
		return
	}
	if !g.c.apart(g.pump) {
		g.pump() // closed: every submission fails at once, without waiting
	}
}

// release lets go of mu and runs the effects; true: the caller must pump.
func (g *group) release() bool {
	effects := g.effects
	g.effects = nil
	pump := len(g.writes) > 0 && !g.pumping
	if pump {
		g.pumping = true
	}
	g.mu.Unlock()
	for _, f := range effects {
		f()
	}
	return pump
}

// pump submits queued writes in order until there are none. One runs at a time.
func (g *group) pump() {
	for {
		g.mu.Lock()
		if len(g.writes) == 0 {
			g.writes, g.pumping = nil, false
			g.mu.Unlock()
			return
		}
		w := g.writes[0]
		g.writes[0] = write{}
		g.writes = g.writes[1:]
		g.mu.Unlock()
		g.c.submit(w.intent, w.done)
	}
}

// timer runs f with mu held after d, unless the coordinator is closed or the
// group dead by then.
func (g *group) timer(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, func() {
		if !g.c.enter() {
			return
		}
		defer g.c.active.Done()
		g.mu.Lock()
		if g.state != Dead {
			f()
		}
		g.unlock()
	})
}

func (g *group) transition(to State) {
	g.previous, g.state = g.state, to
}

// shutDown answers everyone who waits and stops all timers, for ever.
func (g *group) shutDown() {
	for _, m := range g.order {
		g.answerJoin(m, JoinResponse{Err: ErrClosed, Generation: noGeneration})
		g.answerSync(m, SyncResponse{Err: ErrClosed})
		m.timer.Stop()
	}
	g.dropPending()
	g.stopJoinTimer()
	g.stopSyncTimer()
	g.transition(Dead)
}

func (g *group) stopJoinTimer() {
	if g.joinTimer != nil {
		g.joinTimer.Stop()
		g.joinTimer = nil
	}
	g.joinTimerID++ // one that fired already, and waits for mu, is stale now
}

func (g *group) startJoinTimer(d time.Duration, f func()) {
	g.stopJoinTimer()
	id := g.joinTimerID
	g.joinTimer = g.timer(d, func() {
		if g.joinTimerID == id {
			f()
		}
	})
}

func (g *group) stopSyncTimer() {
	if g.syncTimer != nil {
		g.syncTimer.Stop()
		g.syncTimer = nil
	}
}

// rebalanceTimeout is the longest of the members'.
func (g *group) rebalanceTimeout() time.Duration {
	var d time.Duration
	for _, m := range g.order {
		d = max(d, m.rebalanceTimeout)
	}
	return d
}

// chooseProtocol lets every member vote for the first protocol of its list that all
// members support, and returns the one with the most votes; among equals the one
// voted for first, so that the choice is the same every time.
func (g *group) chooseProtocol() string {
	supporters := map[string]int{}
	for _, m := range g.order {
		for _, p := range m.protocols {
			supporters[p.Name]++
		}
	}
	votes := map[string]int{}
	best := ""
	for _, m := range g.order {
		for _, p := range m.protocols {
			if supporters[p.Name] == len(g.order) {
				votes[p.Name]++
				break
			}
		}
	}
	for _, m := range g.order {
		for _, p := range m.protocols {
			if n := votes[p.Name]; n > votes[best] {
				best = p.Name
			}
		}
	}
	return best
}

// supports reports whether a member with these protocols can be in the group: at
// least one protocol must be supported by all present members.
func (g *group) supports(protocolType string, protocols []Protocol) bool {
	if len(g.order) == 0 {
		return protocolType != "" && len(protocols) > 0
	}
	if protocolType != g.protocolType {
		return false
	}
	for _, p := range protocols {
		all := true
		for _, m := range g.order {
			if m.metadata(p.Name) == nil {
				all = false
				break
			}
		}
		if all {
			return true
		}
	}
	return false
}
