// Package catalog knows which tables exist and which columns they have: a topic
// is a table, its columns are the system columns and what expansion declared or
// inferred.
package catalog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"millrace/blobexpand"
	"millrace/internal/pace"
	"millrace/internal/recordbatch"
	"millrace/internal/topicconfig"
	"millrace/store"
	"millrace/store/state"

	"github.com/prometheus/client_golang/prometheus"
)

// System columns, in table order.
const (
	ColPartition = "_partition"
	ColOffset    = "_offset"
	ColTimestamp = "_timestamp"
	ColKey       = "_key"
	ColHeaders   = "_headers"
	ColValue     = "_value"
	ColError     = "_error"
	ColRest      = "_rest"
)

// SystemColumns are the names no other column can have, in table order.
func SystemColumns() []string {
	return []string{ColPartition, ColOffset, ColTimestamp, ColKey, ColHeaders, ColValue, ColError, ColRest}
}

// Options of a catalog. Zero values take the defaults named here.
type Options struct {
	Logger   *slog.Logger
	Registry prometheus.Registerer // nil: no metrics
	// SweepEvery is how often the background inference looks for new records and
	// saves what changed; default 1 s. Longer: more is left to the first
	// statement that names the topic, and more is inferred again after a crash.
	SweepEvery time.Duration
	// SaveBytes is how much is inferred without a change before the position is
	// saved all the same; default 64 MiB. It bounds what a restart reads again.
	SaveBytes int64
}

// Catalog is safe for concurrent use.
type Catalog struct {
	st  *store.Store
	o   Options
	log *slog.Logger
	m   *metrics

	schemas struct { // guards the map only
		sync.Mutex
		byTopic map[state.TopicID]*schema
	}
	readers  sync.Pool // *recordbatch.Reader
	checkers sync.Map  // topic id → *checkers

	stop    context.CancelFunc
	stopped chan struct{}
	sweeps  atomic.Uint64 // the running sweep's number, for schema.used
	swept   sweepState    // the sweeper's own
	pace    *pace.Pace    // the sweeper's own
	covered covered
}

// New starts the background inference over st.
func New(st *store.Store, o Options) *Catalog {
	c := newCatalog(st, o)
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.stopped = make(chan struct{})
	go c.sweeper(ctx)
	return c
}

// newCatalog makes one without its background work.
func newCatalog(st *store.Store, o Options) *Catalog {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.SweepEvery <= 0 {
		o.SweepEvery = time.Second
	}
	if o.SaveBytes <= 0 {
		o.SaveBytes = 64 << 20
	}
	c := &Catalog{st: st, o: o, log: o.Logger, covered: covered{at: time.Now()}, pace: pace.New(st.Busy)}
	c.m = newMetrics(o.Registry, c.lag)
	c.swept.ends = map[state.TopicID][]int64{}
	c.schemas.byTopic = map[state.TopicID]*schema{}
	c.readers.New = func() any { return new(recordbatch.Reader) }
	return c
}

// Close stops it and saves how far inference came. The store must still be open.
func (c *Catalog) Close() error {
	c.stop()
	<-c.stopped
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return c.saveAll(ctx)
}

// closeTimeout bounds the saving at Close; what is not saved is inferred again.
const closeTimeout = 10 * time.Second

// Table is a topic's schema at one snapshot; immutable.
type Table struct {
	Topic    state.Topic
	Config   topicconfig.Config
	Expanded []blobexpand.Column // in table order, after the system columns
	LongKey  bool                // a key longer than 16,383 characters was seen: _key is LONGTEXT
	Rest     bool                // _rest exists (limits were exceeded)
	RestOf   []string            // paths of the first few objects with members in _rest
}

// Bind returns the schema of topic as of sn, bringing inference up to sn first,
// so that a column that came with the last acked record can be named.
// state.ErrUnknownTopic when there is no such table. What only the owner of a transaction sees is left out; see BindOwn.
//
// Every column of any record at or before sn is in it; where inference is ahead of
// sn there may be more columns, or wider types: both hold for sn's records too.
// While nothing new was written the same *Table is returned.
func (c *Catalog) Bind(ctx context.Context, sn *store.Snapshot, topic string) (*Table, error) {
	sn = sn.Others()
	t, ok := tableTopic(sn, topic)
	if !ok {
		return nil, state.ErrUnknownTopic
	}
	s := c.schemaOf(t.ID)
	c.touch(s)
	if table := s.current(sn.LSN(), t); table != nil {
		return table, nil
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if err := c.prepare(s, t); err != nil {
		return nil, err
	}
	if _, err := c.advance(ctx, s, sn, t, noLimit, nil); err != nil {
		return nil, err
	}
	return s.tableFor(t)
}

// Known returns the last known schema without bringing it up to date
// (unfiltered information_schema). What is not in memory is read from its document
// and not kept: a list of ten thousand topics must not fill the memory with them.
func (c *Catalog) Known(ctx context.Context, sn *store.Snapshot, topic string) (*Table, error) {
	t, ok := tableTopic(sn, topic)
	if !ok {
		return nil, state.ErrUnknownTopic
	}
	s := c.schemaOf(t.ID)
	if table := s.current(0, t); table != nil {
		return table, nil
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if s.loaded {
		if err := c.prepare(s, t); err != nil {
			return nil, err
		}
		return s.tableFor(t)
	}
	passing := newSchema(t.ID)
	if err := c.prepare(passing, t); err != nil {
		return nil, err
	}
	return passing.tableFor(t)
}

// Head is a topic's schema without its expanded columns; it costs nothing but reading the
// topic's configs.
func (c *Catalog) Head(sn *store.Snapshot, topic string) (*Table, error) {
	t, ok := tableTopic(sn, topic)
	if !ok {
		return nil, state.ErrUnknownTopic
	}
	if table := c.schemaOf(t.ID).current(0, t); table != nil {
		return table, nil
	}
	conf, err := topicconfig.Parse(t.Configs)
	if err != nil {
		return nil, fmt.Errorf("topic %s: %w", t.Name, err)
	}
	return &Table{Topic: t, Config: conf}, nil
}

// Tables lists the topics that are tables (internal topics "__*" are not), in name order.
func (c *Catalog) Tables(sn *store.Snapshot) []string {
	all := sn.Topics().All()
	names := make([]string, 0, len(all))
	for i := range all {
		if isTable(all[i].Name) {
			names = append(names, all[i].Name)
		}
	}
	return names
}

func isTable(topic string) bool { return !strings.HasPrefix(topic, "__") }

func tableTopic(sn *store.Snapshot, name string) (state.Topic, bool) {
	if !isTable(name) {
		return state.Topic{}, false
	}
	return sn.Topics().ByName(name)
}

// touch keeps s in memory for a while.
func (c *Catalog) touch(s *schema) {
	if n := c.sweeps.Load(); s.used.Load() != n {
		s.used.Store(n)
	}
}

func (c *Catalog) schemaOf(id state.TopicID) *schema {
	c.schemas.Lock()
	defer c.schemas.Unlock()
	s := c.schemas.byTopic[id]
	if s == nil {
		s = newSchema(id)
		c.schemas.byTopic[id] = s
	}
	return s
}

// ErrColumns is what a faulty column declaration wraps.
var ErrColumns = errors.New("invalid column declaration")
