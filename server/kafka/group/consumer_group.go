package group

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"regexp"
	"slices"
	"sync"
	"time"

	"millrace/server/kafka/group/assign"
	"millrace/server/kafka/groupconfig"
	"millrace/store/state"
)

// Topics is the set of topics at one moment. Two of them that are equal as interfaces are the
// same set.
type Topics interface {
	ByName(name string) (state.Topic, bool)
	ByID(id state.TopicID) (state.Topic, bool)
	All() []state.Topic
}

// consumerGroup is a group of the consumer protocol (KIP-848): the coordinator assigns, and
// members get there one heartbeat after the other. What a member was told survives a
// restart: replies wait until the state they speak of is stored.
type consumerGroup struct {
	c    *Coordinator
	name string

	mu          sync.Mutex
	dead        bool
	moved       bool  // dead, since a classic group took its place (migrate.go)
	leaving     bool  // a classic group is about to
	native      int   // members that speak the consumer protocol
	epoch       int32 // goes up whenever members, subscriptions or topics change
	targetEpoch int32 // of the targets
	assignor    string
	hash        uint64 // of the topics subscribed to, with their partitions
	hashOf      Topics // the set that hash was made of; nil: not since the start
	members     map[string]*consumerMember
	instances   map[string]string               // instance id -> member id
	owners      map[state.TopicPartition]string // member id

	dirty    bool // there is something to store
	writing  bool // a write is on its way
	unsaved  bool // the last write failed
	waiting  []func(error)
	inflight []func(error)
	effects  []func()
}

func newConsumerGroup(c *Coordinator, name string) *consumerGroup {
	return &consumerGroup{
		c: c, name: name, members: map[string]*consumerMember{}, instances: map[string]string{},
		owners: map[state.TopicPartition]string{},
	}
}

// state is Kafka's name of the group's state.
func (g *consumerGroup) state() State {
	switch {
	case g.dead:
		return Dead
	case len(g.members) == 0:
		return Empty
	case g.epoch > g.targetEpoch:
		return Assigning
	}
	for _, m := range g.members {
		if m.state != settled || m.epoch != g.targetEpoch {
			return Reconciling
		}
	}
	return Stable
}

// bump begins a new epoch.
func (g *consumerGroup) bump() {
	g.epoch++
	g.dirty = true
}

// refresh looks whether what the group is subscribed to became another, and begins a new epoch
// then, or when a member changed.
func (g *consumerGroup) refresh(topics Topics, changed bool) {
	if g.hashOf != topics {
		g.hashOf = topics
		h := g.subscriptionHash(topics)
		changed = changed || h != g.hash
		g.hash = h
	}
	if changed {
		g.bump()
	}
}

// subscriptionHash is of all topics that any member reads and that exist.
func (g *consumerGroup) subscriptionHash(topics Topics) uint64 {
	var names []string
	for _, m := range g.members {
		names = append(names, m.subscribed()...)
	}
	slices.Sort(names)
	h := fnv.New64a()
	var n [4]byte
	for _, name := range slices.Compact(names) {
		if t, ok := topics.ByName(name); ok {
			_, _ = h.Write(t.ID[:])
			binary.BigEndian.PutUint32(n[:], uint32(t.Partitions))
			_, _ = h.Write(n[:])
		}
	}
	return h.Sum64()
}

// resolve finds what the member's regular expression matches now, of what it may see.
func (m *consumerMember) resolve(re *regexp.Regexp, topics Topics, visible func(string) bool) bool {
	var names []string
	if re != nil {
		for _, t := range topics.All() {
			if re.MatchString(t.Name) && (visible == nil || visible(t.Name)) {
				names = append(names, t.Name)
			}
		}
		slices.Sort(names)
	}
	changed := !slices.Equal(names, m.resolved)
	m.resolved, m.resolvedIn = names, topics
	return changed
}

// retarget computes the targets of the present epoch.
func (g *consumerGroup) retarget(topics Topics) {
	if g.targetEpoch >= g.epoch {
		return
	}
	ids := make([]string, 0, len(g.members))
	votes := map[string]int{}
	for id, m := range g.members {
		ids = append(ids, id)
		if m.assignor != "" {
			votes[m.assignor]++
		}
	}
	slices.Sort(ids)
	g.assignor = g.c.opts.ConsumerAssignors[0]
	best := 0
	for _, name := range g.c.opts.ConsumerAssignors {
		if votes[name] > best {
			g.assignor, best = name, votes[name]
		}
	}
	members := make([]assign.Member, len(ids))
	known := map[state.TopicID]struct{}{}
	var list []assign.Topic
	for i, id := range ids {
		m := g.members[id]
		members[i] = assign.Member{ID: id, InstanceID: m.instanceID, Previous: m.target}
		for _, name := range m.subscribed() {
			t, ok := topics.ByName(name)
			if !ok {
				continue
			}
			members[i].Topics = append(members[i].Topics, t.ID)
			if _, ok := known[t.ID]; !ok {
				known[t.ID] = struct{}{}
				list = append(list, assign.Topic{ID: t.ID, Partitions: t.Partitions})
			}
		}
	}
	slices.SortFunc(list, func(a, b assign.Topic) int {
		return state.TopicPartition{Topic: a.ID}.Compare(state.TopicPartition{Topic: b.ID})
	})
	for i, target := range assign.ByName(g.assignor)(members, list) {
		g.members[ids[i]].target = target
	}
	g.targetEpoch = g.epoch
	g.dirty = true
	g.c.metrics.rebalances.Inc()
}

// keepAlive gives the member a full session from now on.
func (g *consumerGroup) keepAlive(m *consumerMember) {
	d := groupconfig.Millis(g.c.opts.GroupConfig(g.name), groupconfig.ConsumerSessionTimeout, g.c.opts.ConsumerSessionTimeout)
	if m.classic != nil {
		d = m.classic.session
	}
	m.deadline = time.Now().Add(d)
	if m.session != nil {
		m.session.Reset(d)
		return
	}
	m.session = g.timer(d, func() {
		if g.members[m.id] != m || time.Now().Before(m.deadline) {
			return
		}
		g.c.metrics.expired.Inc()
		g.c.log.Info("group member expired", "group", g.name, "member", m.id, "epoch", g.epoch)
		g.remove(m)
	})
}

// watchRevocation gives an unrevoked member its rebalance timeout, and no longer. A member
// that goes from one revocation to the next begins anew.
func (g *consumerGroup) watchRevocation(m *consumerMember, changed bool) {
	switch {
	case m.classic != nil: // its turns are to join and to sync
	case m.state != unrevoked:
		m.endTurn()
	case m.turn == nil || changed:
		g.giveTurn(m, "did not give its partitions up")
	}
}

// giveTurn has the group wait for what only the member can do: its rebalance timeout from now on.
func (g *consumerGroup) giveTurn(m *consumerMember, failure string) {
	m.endTurn()
	turn := m.turns
	m.turn = g.timer(m.rebalanceTimeout, func() {
		if g.members[m.id] != m || m.turns != turn {
			return
		}
		g.c.log.Info("group member "+failure+" in time", "group", g.name, "member", m.id, "epoch", m.epoch)
		g.remove(m)
	})
}

func (m *consumerMember) endTurn() {
	m.turns++
	if m.turn != nil {
		m.turn.Stop()
		m.turn = nil
	}
}

func (g *consumerGroup) timer(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, func() {
		if !g.c.enter() {
			return
		}
		defer g.c.active.Done()
		g.mu.Lock()
		if !g.dead {
			f()
		}
		g.unlock()
	})
}

func (m *consumerMember) stopTimers() {
	m.endTurn()
	if m.session != nil {
		m.session.Stop()
		m.session = nil
	}
}

// remove takes a member out; its partitions are free.
func (g *consumerGroup) remove(m *consumerMember) {
	m.stopTimers()
	g.disown(m)
	g.drop(m)
	if m.instanceID != "" && g.instances[m.instanceID] == m.id {
		delete(g.instances, m.instanceID)
	}
	g.hashOf = nil
	if g.epoch < math.MaxInt32 {
		g.bump()
	}
}

func (g *consumerGroup) add(m *consumerMember) {
	g.members[m.id] = m
	if m.classic == nil {
		g.native++
	}
	if m.instanceID != "" {
		g.instances[m.instanceID] = m.id
	}
}

// drop is the contrary of add, but for the instance.
func (g *consumerGroup) drop(m *consumerMember) {
	delete(g.members, m.id)
	if m.classic == nil {
		g.native--
	}
}

// idle: nothing is to be stored or on its way there.
func (g *consumerGroup) idle() bool { return !g.dirty && !g.writing && !g.unsaved }

// whenStored runs f, without mu, once everything that was changed until now is stored, or could not be.
func (g *consumerGroup) whenStored(f func(error)) {
	switch {
	case g.idle():
		g.effects = append(g.effects, func() { f(nil) })
	case g.writing && !g.dirty:
		g.inflight = append(g.inflight, f)
	default:
		g.dirty = true
		g.waiting = append(g.waiting, f)
	}
}

// unlock lets go of mu, then replies and stores. One write runs at a time, and what changes
// meanwhile goes with the next.
func (g *consumerGroup) unlock() {
	if write := g.release(); write != nil {
		write()
	}
}

// unlockFromStore is unlock on the store's publisher, which must not wait.
func (g *consumerGroup) unlockFromStore() {
	write := g.release()
	if write == nil {
		return
	}
	if !g.c.apart(write) {
		write() // closed: it fails at once
	}
}

func (g *consumerGroup) release() (write func()) {
	effects := g.effects
	g.effects = nil
	if g.dirty && !g.writing && !g.dead {
		g.dirty, g.writing = false, true
		g.inflight, g.waiting = g.waiting, nil
		intent := state.PutGroup{Group: g.name, Empty: len(g.members) == 0, Data: g.encode()}
		write = func() { g.write(intent) }
	}
	if !g.leaving && g.downgradable() {
		g.leaving = g.c.apart(func() { g.c.downgrade(g) })
	}
	g.mu.Unlock()
	for _, f := range effects {
		f()
	}
	return write
}

func (g *consumerGroup) write(intent state.PutGroup) {
	if len(intent.Data) > maxGroupDataBytes {
		g.written(ErrGroupDataTooLarge)
		return
	}
	g.c.submit(intent, func(result any, err error) {
		if res, ok := result.(state.GroupResult); ok && err == nil {
			err = res.Err
		}
		g.written(err)
	})
}

// written takes mu. After a failure nobody is told of what was not stored; the next heartbeat tries again.
func (g *consumerGroup) written(err error) {
	g.mu.Lock()
	told := g.inflight
	g.inflight, g.writing, g.unsaved = nil, false, err != nil
	if err != nil {
		g.c.log.Warn("consumer group not stored, will be tried again", "group", g.name, "error", err)
		told = append(told, g.waiting...)
		g.waiting, g.dirty = nil, false
	}
	for _, f := range told {
		g.effects = append(g.effects, func() { f(err) })
	}
	g.unlockFromStore()
}
