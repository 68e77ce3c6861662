// Package group is the coordinator of consumer groups: the classic group
// protocol and the consumer protocol (KIP-848) as Apache Kafka 4.x speaks them, without sockets.
//
// Members, join and sync waits and session timers live in memory only. What must
// survive a restart (the last completed generation with its members and
// assignment, and all committed offsets) goes through the store, and is answered
// once durable.
//
// Every operation completes through its reply function: exactly once, without
// locks held, from whatever goroutine got there, so that ten thousand waiting
// members cost no goroutine. A reply function must not block.
package group

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"millrace/server/kafka/group/assign"
	"millrace/store"
	"millrace/store/state"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
)

// Store is what the coordinator needs of the partition store; *store.Store has it.
type Store interface {
	Submit(ctx context.Context, intent state.Intent, payload [][]byte, done func(result any, err error)) error
	CommittedOffsets(group string) (map[state.TopicPartition]state.CommittedOffset, bool)
	Groups(fn func(group string, data []byte))
}

// Options of a coordinator. Zero values take the defaults, which are Kafka's
// unless said otherwise.
type Options struct {
	Logger   *slog.Logger
	Registry prometheus.Registerer // nil: no metrics

	// InitialRebalanceDelay is how long the first rebalance of an empty group waits
	// for more members, again after each newcomer. Kafka's 3 s would use up more than
	// half of the 5 s that an impatient consumer gives its first poll; default 200 ms.
	InitialRebalanceDelay time.Duration
	// MaxInitialRebalanceDelay bounds the sum of these waits (as does the members'
	// rebalance timeout); default 3 s.
	MaxInitialRebalanceDelay time.Duration
	MinSessionTimeout        time.Duration // default 6 s
	MaxSessionTimeout        time.Duration // default 30 min
	NewMemberJoinTimeout     time.Duration // a newcomer's join waits no longer; default 5 min
	MaxSize                  int           // members per group; default 10,000 (Kafka: unbounded)
	MaxGroups                int           // groups with members or a past generation; default 100,000
	MaxMetadataBytes         int           // offset.metadata.max.bytes; default 4096

	OffsetsRetention     time.Duration // offsets.retention.minutes; default 7 days
	ProducerIDExpiration time.Duration // producer.id.expiration.ms; default 24 h
	ExpirationInterval   time.Duration // how often both are enforced; default 10 min
	// Topics is the present set of topics; nil: the store's, where it has Topics as *store.Store
	// has it. Groups of the consumer protocol are served only where one of them is.
	Topics                    func() Topics
	ConsumerSessionTimeout    time.Duration // group.consumer.session.timeout.ms; default 45 s
	ConsumerHeartbeatInterval time.Duration // group.consumer.heartbeat.interval.ms; default 5 s
	// GroupConfig is what was set for a group (consumer.*); nil: nothing ever.
	GroupConfig       func(group string) map[string]string
	ConsumerMaxSize   int      // group.consumer.max.size; default 10,000 (Kafka: unbounded)
	ConsumerAssignors []string // group.consumer.assignors, the default one first; default uniform, range

	NewMemberIDSuffix     func() string // default: a random UUID
	DisableExpirationLoop bool          // tests call Expire themselves
}

// maxGroupDataBytes bounds what one generation of a group stores, and so the size of its
// commit-log entry and of what a checkpoint carries per group.
const maxGroupDataBytes = 8 << 20

// DefaultOptions are what New takes for zero values.
func DefaultOptions() Options {
	var o Options
	o.setDefaults()
	o.Logger, o.NewMemberIDSuffix, o.GroupConfig = nil, nil, nil // New's own
	return o
}

func (o *Options) setDefaults() {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	defInt := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	def(&o.InitialRebalanceDelay, 200*time.Millisecond)
	def(&o.MaxInitialRebalanceDelay, 3*time.Second)
	def(&o.MinSessionTimeout, 6*time.Second)
	def(&o.MaxSessionTimeout, 30*time.Minute)
	def(&o.NewMemberJoinTimeout, 5*time.Minute)
	defInt(&o.MaxSize, 10_000)
	defInt(&o.MaxGroups, 100_000)
	defInt(&o.MaxMetadataBytes, 4096)
	def(&o.OffsetsRetention, 7*24*time.Hour)
	def(&o.ProducerIDExpiration, 24*time.Hour)
	def(&o.ExpirationInterval, 10*time.Minute)
	o.consumerDefaults()
	if o.NewMemberIDSuffix == nil {
		o.NewMemberIDSuffix = uuid.NewString
	}
}

// Coordinator is safe for concurrent use.
//
// Lock order: mu before a group's mu, and before that of the share groups' coordinator
// (exclusive.go); a group's before that of the new one that takes its place (migrate.go). Store.Submit, which may wait, is called with none held.
type Coordinator struct {
	store   Store
	opts    Options
	log     *slog.Logger
	metrics *metrics

	ctx    context.Context // ends at Close
	cancel context.CancelFunc

	mu        sync.RWMutex // guards groups, closed, shared and first
	groups    map[string]*group
	consumers map[string]*consumerGroup // groups of the consumer protocol
	closed    bool
	shared    func(name string) bool // see Share
	first     map[string]int         // see beginFirst
	active    sync.WaitGroup         // timer callbacks, pumps and the expiration loop
}

// New restores the groups that st knows and starts the expiration of offsets and
// producer ids. Every restored member gets a full session timeout.
func New(st Store, o Options) (*Coordinator, error) {
	o.setDefaults()
	c := &Coordinator{store: st, opts: o, log: o.Logger, groups: map[string]*group{}, consumers: map[string]*consumerGroup{}}
	if s, ok := st.(interface{ Topics() *store.TopicSet }); ok && o.Topics == nil {
		c.opts.Topics = func() Topics { return s.Topics() }
	}
	for _, name := range o.ConsumerAssignors {
		if assign.ByName(name) == nil {
			return nil, fmt.Errorf("%w: %q", ErrUnsupportedAssignor, name)
		}
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	var err error
	if c.metrics, err = newMetrics(o.Registry, c); err != nil {
		c.cancel()
		return nil, err
	}
	st.Groups(func(name string, data []byte) {
		if isShare(data) {
			return // another coordinator's
		}
		if len(data) == 0 {
			return // only offsets: it has no members to come back
		}
		if data[0] == consumerRecordVersion {
			g, err := c.restoreConsumer(name, data)
			if err != nil {
				c.log.Error("group cannot be restored, its members must rejoin", "group", name, "error", err)
				return
			}
			c.mu.Lock()
			c.consumers[name] = g
			c.mu.Unlock()
			return
		}
		g, err := c.restore(name, data)
		if err != nil {
			// Offsets are kept apart and stay; only the membership is lost, and its
			// members, being unknown, join anew.
			c.log.Error("group cannot be restored, its members must rejoin", "group", name, "error", err)
			return
		}
		c.mu.Lock()
		c.groups[name] = g
		c.mu.Unlock()
	})
	if !o.DisableExpirationLoop {
		c.active.Go(c.expirationLoop)
	}
	return c, nil
}

// isShare says whether a group's record in the store is a share group's
// (server/kafka/share.RecordVersion).
func isShare(data []byte) bool { return len(data) > 0 && data[0] == 's' }

// Options are what the coordinator works with, defaults filled in.
func (c *Coordinator) Options() Options { return c.opts }

// Close answers every waiting request with ErrClosed, stops all timers and waits
// for what runs. Requests that come later are answered with ErrClosed.
func (c *Coordinator) Close() {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	c.closed = true
	groups := make([]*group, 0, len(c.groups))
	for _, g := range c.groups {
		groups = append(groups, g)
	}
	c.mu.Unlock()
	c.cancel()
	for _, g := range groups {
		g.mu.Lock()
		g.shutDown()
		g.unlock()
	}
	for _, g := range c.allConsumers() {
		g.shutDown()
	}
	c.active.Wait()
	c.metrics.unregister()
}

// apart runs f on a goroutine of its own, which Close waits for; false: closed, f is not run.
func (c *Coordinator) apart(f func()) bool {
	if !c.enter() {
		return false
	}
	go func() {
		defer c.active.Done()
		f()
	}()
	return true
}

// enter registers work that Close waits for; false: closed.
func (c *Coordinator) enter() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed {
		return false
	}
	c.active.Add(1)
	return true
}

// forget drops a dead group from the map.
func (c *Coordinator) forget(g *group) {
	c.mu.Lock()
	if c.groups[g.name] == g {
		delete(c.groups, g.name)
	}
	c.mu.Unlock()
}

// all returns the groups of this moment, in no order.
func (c *Coordinator) all() []*group {
	c.mu.RLock()
	defer c.mu.RUnlock()
	groups := make([]*group, 0, len(c.groups))
	for _, g := range c.groups {
		groups = append(groups, g)
	}
	return groups
}

// submit hands intent to the store; done is called exactly once, with a storage
// failure wrapped in ErrStorage.
func (c *Coordinator) submit(intent state.Intent, done func(result any, err error)) {
	err := c.store.Submit(c.ctx, intent, nil, func(result any, err error) {
		if err != nil {
			err = storageError(err)
		}
		done(result, err)
	})
	if err != nil {
		done(nil, storageError(err))
	}
}

func storageError(err error) error {
	if errors.Is(err, context.Canceled) {
		return ErrClosed
	}
	return fmt.Errorf("%w: %w", ErrStorage, err)
}

// millis is a duration in whole milliseconds that fit Kafka's int32 fields.
func millis(d time.Duration) int32 { return int32(min(d.Milliseconds(), math.MaxInt32)) }
