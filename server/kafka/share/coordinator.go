package share

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"millrace/store"
	"millrace/store/state"

	"github.com/prometheus/client_golang/prometheus"
)

// Store is what the coordinator needs of the partition store; *store.Store has it.
type Store interface {
	Submit(ctx context.Context, intent state.Intent, payload [][]byte, done func(result any, err error)) error
	CommittedOffsets(group string) (map[state.TopicPartition]state.CommittedOffset, bool)
	Groups(fn func(group string, data []byte))
	Topics() *store.TopicSet
	Bounds(tp state.TopicPartition) (state.Bounds, error)
	Fetch(tp state.TopicPartition, offset int64, maxBytes int, minOne bool, iso store.Isolation) (store.FetchResult, error)
	OffsetForTime(tp state.TopicPartition, ts state.Millis, iso store.Isolation) (offset int64, timestamp state.Millis, found bool, err error)
	Watch(tps []state.TopicPartition) *store.Watcher
}

// Options of a coordinator. Zero values take the defaults, which are Kafka's.
type Options struct {
	Logger   *slog.Logger
	Registry prometheus.Registerer // nil: no metrics
	Now      func() time.Time

	HeartbeatInterval time.Duration // default 5 s
	SessionTimeout    time.Duration // default 45 s
	LockDuration      time.Duration // group.share.record.lock.duration.ms; default 30 s
	DeliveryLimit     int           // default 5
	MaxRecordLocks    int64         // in flight, for each partition of a group; default 2000
	MaxSize           int           // members of a group; default 200
	MaxSessions       int           // over all groups; default 2000
	MaxGroups         int           // default 100,000 (Kafka: unbounded)

	// Groups knows the groups of other types, so that no name belongs to two; nil: there are none.
	Groups Names

	// GroupConfig is what was set for a group (share.*); nil: nothing ever.
	GroupConfig func(group string) map[string]string
}

func (o *Options) setDefaults() {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.GroupConfig == nil {
		o.GroupConfig = func(string) map[string]string { return nil }
	}
	def(&o.HeartbeatInterval, 5*time.Second)
	def(&o.SessionTimeout, 45*time.Second)
	def(&o.LockDuration, 30*time.Second)
	def(&o.DeliveryLimit, 5)
	def(&o.MaxRecordLocks, 2000)
	def(&o.MaxSize, 200)
	def(&o.MaxSessions, 2000)
	def(&o.MaxGroups, 100_000)
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Names decides with another coordinator to whom a group's name belongs; *group.Coordinator has it.
type Names interface {
	// Share is told, once, how to ask for a share group. It asks with its lock held.
	Share(has func(name string) bool)
	// IfFree calls create, with its lock held, unless it has a group of that name.
	IfFree(name string, create func()) bool
}

// RecordVersion is the first byte of a share group's record in state.PutGroup, by which
// it is told from the records of other types of groups.
const RecordVersion = 's'

// Coordinator is safe for concurrent use. Lock order: the lock of Options.Groups, then mu,
// then a group's mu. Store.Submit is called with none.
type Coordinator struct {
	store   Store
	o       Options
	metrics *metrics

	ctx    context.Context // ends at Close
	cancel context.CancelFunc

	sessions atomic.Int64

	mu     sync.Mutex // guards groups and closed
	groups map[string]*group
	closed bool
	active sync.WaitGroup // timers and writers
}

// New restores the share groups that st knows.
func New(st Store, o Options) *Coordinator {
	o.setDefaults()
	c := &Coordinator{store: st, o: o, groups: map[string]*group{}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.metrics = newMetrics(c)
	c.metrics.register(c)
	st.Groups(func(name string, data []byte) {
		if IsShare(data) {
			c.groups[name] = newGroup(c, name, true)
		}
	})
	if o.Groups != nil {
		o.Groups.Share(c.Has)
	}
	return c
}

// IsShare says whether a group's record in the store is a share group's.
func IsShare(data []byte) bool { return len(data) > 0 && data[0] == RecordVersion }

// Close ends every wait and timer; what is on its way to the store is waited for.
func (c *Coordinator) Close() {
	c.mu.Lock()
	c.closed = true
	groups := make([]*group, 0, len(c.groups))
	for _, g := range c.groups {
		groups = append(groups, g)
	}
	c.mu.Unlock()
	c.cancel()
	for _, g := range groups {
		g.mu.Lock()
		g.stop()
		g.mu.Unlock()
	}
	c.active.Wait()
	c.metrics.unregister(c)
}

// enter registers work that Close waits for; false: closed.
func (c *Coordinator) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.active.Add(1)
	return true
}

func (c *Coordinator) lookup(name string) *group {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.groups[name]
}

func (c *Coordinator) lookupOrCreate(name string) (g *group, err error) {
	if g := c.lookup(name); g != nil {
		return g, nil
	}
	if c.o.Groups == nil {
		return c.create(name)
	}
	if !c.o.Groups.IfFree(name, func() { g, err = c.create(name) }) {
		return nil, ErrNotShareGroup
	}
	return g, err
}

func (c *Coordinator) create(name string) (*group, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	if g := c.groups[name]; g != nil {
		return g, nil
	}
	if len(c.groups) >= c.o.MaxGroups {
		return nil, ErrTooManyGroups
	}
	g := newGroup(c, name, false)
	c.groups[name] = g
	return g, nil
}

// Has says whether there is a share group of that name.
func (c *Coordinator) Has(name string) bool { return c.lookup(name) != nil }

// group is one share group. All methods but those that say otherwise need mu.
type group struct {
	c    *Coordinator
	name string

	mu      sync.Mutex
	stored  bool // the store knows the group
	loaded  bool // parts hold what the store has
	dead    bool
	epoch   int32
	topics  *store.TopicSet // that the assignment was made from
	members map[string]*member
	parts   map[state.TopicPartition]*partition

	sessions map[string]*Session
	waiters  map[chan struct{}]struct{} // fetches that wait for records to come back

	lockTimer *time.Timer
	lockAt    time.Time // when it fires

	dirty   map[state.TopicPartition]struct{}
	waiting []func(error) // for the next write
	writing bool
}

func newGroup(c *Coordinator, name string, stored bool) *group {
	return &group{
		c: c, name: name, stored: stored, loaded: !stored,
		members: map[string]*member{}, parts: map[state.TopicPartition]*partition{},
		sessions: map[string]*Session{}, waiters: map[chan struct{}]struct{}{},
		dirty: map[state.TopicPartition]struct{}{},
	}
}

// load brings in what the store has of the group's partitions, once.
func (g *group) load() {
	if g.loaded {
		return
	}
	g.loaded = true
	offsets, _ := g.c.store.CommittedOffsets(g.name)
	for tp, o := range offsets {
		g.restore(tp, o)
	}
}

func (g *group) restore(tp state.TopicPartition, o state.CommittedOffset) *partition {
	p, err := decodePartition(o.Offset, o.LeaderEpoch, o.Metadata)
	if err != nil {
		// The start offset stands apart: records after it are delivered again, none is lost.
		g.c.o.Logger.Error("states of a share partition cannot be restored, its records are delivered again",
			"group", g.name, "topic", tp.Topic, "partition", tp.Partition, "error", err)
		p = &partition{start: max(o.Offset, 0), end: max(o.Offset, 0), epoch: o.LeaderEpoch, ready: true}
	}
	g.parts[tp] = p
	return p
}

func (g *group) stop() {
	g.dead = true
	for _, m := range g.members {
		m.timer.Stop()
	}
	if g.lockTimer != nil {
		g.lockTimer.Stop()
	}
	g.wake()
}

// wake lets waiting fetches look again.
func (g *group) wake() {
	for ch := range g.waiters {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// armLocks makes sure that the lock timer fires at `at` at the latest.
func (g *group) armLocks(at time.Time) {
	if g.dead || !g.lockAt.IsZero() && !at.Before(g.lockAt) {
		return
	}
	g.lockAt = at
	if g.lockTimer != nil {
		g.lockTimer.Stop()
	}
	g.lockTimer = time.AfterFunc(at.Sub(g.c.o.Now()), func() {
		if !g.c.enter() {
			return
		}
		defer g.c.active.Done()
		g.expireLocks()
	})
}

// expireLocks takes mu.
func (g *group) expireLocks() {
	g.mu.Lock()
	g.lockAt = time.Time{}
	now := g.c.o.Now()
	var next time.Time
	back := false
	for tp, p := range g.parts {
		n, at := p.expire(now, g.c.o.DeliveryLimit)
		if n > 0 {
			g.c.metrics.expired.Add(float64(n))
			g.dirty[tp] = struct{}{}
			back = true
		}
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	if back {
		g.wake()
	}
	if !next.IsZero() {
		g.armLocks(next)
	}
	g.unlock()
}

// unlock lets go of mu and stores what changed. Writes follow one another, and everything that changes
// while one is on its way goes with the next. Of a group that is gone nothing is stored: it would come back.
func (g *group) unlock() {
	if g.dead && !g.writing {
		waiting := g.waiting
		g.waiting = nil
		clear(g.dirty)
		g.mu.Unlock()
		for _, f := range waiting {
			f(ErrGroupNotFound)
		}
		return
	}
	write := !g.writing && (len(g.dirty) > 0 || len(g.waiting) > 0)
	g.writing = g.writing || write
	g.mu.Unlock()
	if write {
		g.write()
	}
}

// write takes mu. It submits the changed partitions as they are now.
func (g *group) write() {
	g.mu.Lock()
	dirty, waiting, stored := g.dirty, g.waiting, g.stored
	g.dirty, g.waiting = map[state.TopicPartition]struct{}{}, nil
	in := state.CommitOffsets{Group: g.name}
	for tp := range dirty {
		if p := g.parts[tp]; p != nil {
			in.Offsets = append(in.Offsets, state.OffsetCommit{
				TopicPartition: tp, Offset: p.start, LeaderEpoch: p.epoch, Metadata: p.encode(), ExpireAt: -1,
			})
		}
	}
	g.mu.Unlock()

	done := func(result any, err error) {
		if res, ok := result.(state.CommitOffsetsResult); ok && err == nil {
			err = refused(res)
		}
		g.written(dirty, waiting, err)
	}
	if !stored {
		// Marked as having members, so that nothing of it ever expires, as in Kafka.
		g.c.submit(state.PutGroup{Group: g.name, Data: []byte{RecordVersion}}, func(result any, err error) {
			if res, ok := result.(state.GroupResult); ok && err == nil {
				err = res.Err
			}
			g.mu.Lock()
			g.stored = g.stored || err == nil
			g.mu.Unlock()
			if err != nil || len(in.Offsets) == 0 {
				done(nil, err)
			}
		})
	}
	if len(in.Offsets) > 0 {
		g.c.submit(in, done)
	} else if stored {
		done(nil, nil)
	}
}

// refused is why the state machine did not take all offsets, or nil. That a topic was deleted
// meanwhile is no fault.
func refused(res state.CommitOffsetsResult) error {
	for _, err := range append([]error{res.Err}, res.Errs...) {
		if err != nil && !errors.Is(err, state.ErrUnknownTopic) {
			return fmt.Errorf("%w: %w", ErrStorage, err)
		}
	}
	return nil
}

// written takes mu. A partition whose change was not stored goes back to what the store has: its
// locks are gone and its records delivered again, which at least once allows.
func (g *group) written(dirty map[state.TopicPartition]struct{}, waiting []func(error), err error) {
	g.mu.Lock()
	if waiting == nil && g.dead {
		g.mu.Unlock()
		return
	}
	if err != nil {
		offsets, _ := g.c.store.CommittedOffsets(g.name)
		for tp := range g.dirty {
			dirty[tp] = struct{}{}
		}
		clear(g.dirty)
		for tp := range dirty {
			if p := g.parts[tp]; p != nil {
				p.reset++
			}
			delete(g.parts, tp)
			if o, ok := offsets[tp]; ok {
				g.restore(tp, o)
			}
		}
		waiting = append(waiting, g.waiting...)
		g.waiting = nil
		g.wake()
	}
	more := len(g.dirty) > 0 || len(g.waiting) > 0
	g.writing = more
	g.mu.Unlock()
	for _, f := range waiting {
		f(err)
	}
	if more && g.c.enter() { // not on the store's publisher, which must not wait
		go func() {
			defer g.c.active.Done()
			g.write()
		}()
	}
}

// whenIdle says whether nothing of the group is on its way to the store. If something is, f runs on a goroutine of
// its own, without mu, once it is there. The caller lets go of mu by unlock.
func (g *group) whenIdle(f func(error)) bool {
	if !g.writing && len(g.dirty) == 0 && len(g.waiting) == 0 {
		return true
	}
	g.stable(func(error) {
		if !g.c.enter() {
			f(ErrClosed)
			return
		}
		go func() {
			defer g.c.active.Done()
			f(nil)
		}()
	})
	return false
}

// stable calls f once everything that changed until now is durable.
func (g *group) stable(f func(error)) { g.waiting = append(g.waiting, f) }

func (c *Coordinator) submit(intent state.Intent, done func(result any, err error)) {
	err := c.store.Submit(c.ctx, intent, nil, func(result any, err error) {
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrStorage, err)
		}
		done(result, err)
	})
	if err != nil {
		if errors.Is(err, context.Canceled) {
			err = ErrClosed
		}
		done(nil, fmt.Errorf("%w: %w", ErrStorage, err))
	}
}
