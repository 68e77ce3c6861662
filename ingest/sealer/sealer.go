// Package sealer is the background worker that writes topics' columns into files: new blocks once there are enough
// rows, and whatever there is of a partition that has been idle for a while. It makes way for producers.
package sealer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"millrace/catalog"
	"millrace/internal/pace"
	"millrace/scan/columns"
	"millrace/store"
	"millrace/store/state"

	"github.com/prometheus/client_golang/prometheus"
)

// Options of a Sealer. Zero values take the defaults named here.
type Options struct {
	Store    *store.Store
	Catalog  *catalog.Catalog
	Columns  *columns.Set
	Logger   *slog.Logger
	Registry prometheus.Registerer // nil: no metrics
	// Every is how often the worker looks for something to do; default 1 s.
	Every time.Duration
	// Age is after what time without new records the rest of a partition is sealed, however few its rows are (but
	// columns.MinFileRows); default 10 min. Less makes more and smaller files.
	Age time.Duration
	// Cold is after what time files are written anew, compressed where that pays; 0: never. What is read often is in memory by
	// then, or is not read often. Less costs more of the processors where records do not live much longer.
	Cold time.Duration
}

const (
	// fullBlocks is from how many full blocks on a topic is sealed at once: they make a file of the size that is best.
	fullBlocks = 8
	// patience is how long full blocks wait for others, to make fewer and larger files.
	patience = 10 * time.Second
	// renewEvery is how often small blocks, and those of outdated types, are looked for; those of a topic whose configs
	// changed are at once.
	renewEvery = 5 * time.Minute
	// DefaultCold is after what time a server compresses files.
	DefaultCold = time.Hour
	// coolEvery is how often a file is looked for that is cold.
	coolEvery = 10 * time.Second
	// sweepEvery is how often files that nobody wants are looked for.
	sweepEvery = 30 * time.Second
	// plainFor is how long a topic without columns of its own is left alone. Its records have nothing to expand, and
	// partition, offset, time and key are read from their batches about as fast; so producers of such records
	// pay nothing, unless somebody asks for them in columns.
	plainFor = 30 * time.Second
	// retryAfter is how long a topic is left alone after a failure.
	retryAfter = time.Minute
)

// Sealer runs until Close. Safe for concurrent use.
type Sealer struct {
	o Options
	m *metrics

	stop    context.CancelFunc
	stopped chan struct{}

	// sealing holds one token: who has it writes files, at that pace. One is written at a time.
	sealing chan struct{}
	pace    *pace.Pace
	working atomic.Pointer[working]

	mu    sync.Mutex // guards known
	known map[state.TopicPartition]progress

	// The worker's own.
	failed  map[state.TopicID]time.Time
	plain   map[state.TopicID]time.Time // until when topics without columns of their own are left alone
	waiting map[state.TopicID]time.Time // since when topics have full blocks, too few for a file
	topics  *store.TopicSet             // as last looked at
	configs map[state.TopicID]uint64    // their versions then
	again   map[state.TopicID]retry     // of topics that could not be renewed
	swept   time.Time
	renewed time.Time
	cooled  time.Time
}

// progress is what the worker knows of a partition.
type progress struct {
	sealed int64     // up to here
	end    int64     // when it last grew
	grown  time.Time // then
	plain  bool      // the topic has no columns of its own
}

// retry is when to renew a topic again, and partitions of which some blocks are in no file since.
type retry struct {
	at         time.Time
	partitions []int32
}

// New starts one.
func New(o Options) *Sealer {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Every <= 0 {
		o.Every = time.Second
	}
	if o.Age <= 0 {
		o.Age = 10 * time.Minute
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Sealer{
		o: o, stop: stop, stopped: make(chan struct{}), sealing: make(chan struct{}, 1),
		known: map[state.TopicPartition]progress{}, failed: map[state.TopicID]time.Time{}, plain: map[state.TopicID]time.Time{}, waiting: map[state.TopicID]time.Time{}, again: map[state.TopicID]retry{},
	}
	s.sealing <- struct{}{}
	s.pace = pace.New(o.Store.Busy)
	s.m = newMetrics(o.Registry, o.Columns, s.lag)
	go s.work(ctx)
	return s
}

// Close ends the work. The store, the catalog and the Set must still be open.
func (s *Sealer) Close() error {
	s.stop()
	<-s.stopped
	return nil
}

func (s *Sealer) work(ctx context.Context) {
	defer close(s.stopped)
	pace.OwnThread()
	t := time.NewTicker(s.o.Every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
		s.pass(ctx, time.Now())
	}
}

// renew seals anew what would be better in other files: one round of each topic.
func (s *Sealer) renew(ctx context.Context, topics []state.Topic, now time.Time) {
	for i := range topics {
		name := topics[i].Name
		if strings.HasPrefix(name, "__") || ctx.Err() != nil {
			continue
		}
		id := topics[i].ID
		left, err := s.renewTopic(ctx, name, s.again[id].partitions)
		delete(s.again, id)
		if err != nil && ctx.Err() == nil && !errors.Is(err, state.ErrUnknownTopic) {
			s.m.failures.Inc()
			s.again[id] = retry{now.Add(retryAfter), left}
			s.o.Logger.Error("files of columns could not be renewed", "topic", name, "error", err, "next try in", retryAfter)
		}
	}
}

// renewTopic also seals more partitions. When it fails it says which are left.
func (s *Sealer) renewTopic(ctx context.Context, topic string, more []int32) (partitions []int32, err error) {
	if err := s.enter(ctx); err != nil {
		return more, err
	}
	partitions, err = func() ([]int32, error) {
		defer s.leave()
		sn := s.o.Store.Snapshot()
		defer sn.Release()
		t, ok := sn.Topics().ByName(topic)
		if !ok || !s.o.Columns.Knows(t.ID) {
			return nil, nil // nothing of it is in use, so its schema need not be bound
		}
		table, err := s.o.Catalog.Bind(ctx, sn, topic)
		if err != nil {
			return nil, err
		}
		return s.o.Columns.Renew(ctx, sn, table)
	}()
	partitions = append(partitions, more...)
	slices.Sort(partitions)
	partitions = slices.Compact(partitions)
	if err == nil && len(partitions) > 0 {
		_, err = s.sealUpto(ctx, topic, partitions, false)
	}
	return partitions, err
}

// cool compresses what is cold: of each topic a file.
func (s *Sealer) cool(ctx context.Context, topics []state.Topic, before time.Time) {
	for i := range topics {
		if err := s.enter(ctx); err != nil {
			return
		}
		began := time.Now()
		s.pace.Behind(0)
		was, is, err := s.o.Columns.Cool(ctx, topics[i], before, s.pace.Step)
		s.leave()
		switch {
		case err != nil && ctx.Err() == nil:
			s.m.failures.Inc()
			s.o.Logger.Error("a file of columns could not be compressed", "topic", topics[i].Name, "error", err)
		case err == nil && was > 0:
			s.m.cooled.Inc()
			s.m.saved.Add(float64(max(0, was-is)))
			s.o.Logger.Debug("compressed columns", "topic", topics[i].Name, "bytes before", was, "after", is, "took", time.Since(began))
		}
	}
}

// enter waits for the token, so long as ctx lives: CALL millrace.seal can be killed while another topic is sealed.
func (s *Sealer) enter(ctx context.Context) error {
	select {
	case <-s.sealing:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Sealer) leave() { s.sealing <- struct{}{} }

// due is a topic with something to seal.
type due struct {
	topic      state.Topic
	partitions []int32
	all        bool
}

// pass does what is due now.
func (s *Sealer) pass(ctx context.Context, now time.Time) {
	sn := s.o.Store.Snapshot()
	list := s.due(sn, now)
	if sweep := now.Sub(s.swept) >= sweepEvery; sweep {
		s.swept = now
		s.o.Columns.Sweep(s.o.Store.Topics)
		s.dropDead(ctx, sn)
		s.forget(sn.Topics())
	}
	altered := append(s.altered(sn.Topics()), s.retries(sn.Topics(), now)...)
	if now.Sub(s.renewed) >= renewEvery {
		s.renewed = now
		altered = sn.Topics().All()
	}
	defer s.renew(ctx, altered, now)
	if s.o.Cold > 0 && len(list) == 0 && now.Sub(s.cooled) >= coolEvery {
		s.cooled = now
		defer s.cool(ctx, sn.Topics().All(), now.Add(-s.o.Cold))
	}
	sn.Release()
	for _, d := range list {
		if ctx.Err() != nil {
			return
		}
		if s.isPlain(ctx, &d.topic) {
			s.plain[d.topic.ID] = now.Add(plainFor)
			s.notePlain(&d)
			continue
		}
		if err := s.seal(ctx, &d); err != nil && ctx.Err() == nil && !errors.Is(err, state.ErrUnknownTopic) {
			s.m.failures.Inc()
			s.failed[d.topic.ID] = now.Add(retryAfter)
			s.o.Logger.Error("columns could not be sealed; queries expand the records meanwhile", "topic", d.topic.Name,
				"error", err, "next try in", retryAfter)
		}
	}
}

// altered lists the topics whose configs, and so maybe their columns, changed since it was last called.
func (s *Sealer) altered(topics *store.TopicSet) (list []state.Topic) {
	if topics == s.topics {
		return nil
	}
	versions := make(map[state.TopicID]uint64, len(s.configs))
	for _, t := range topics.All() {
		if v, known := s.configs[t.ID]; known && v != t.ConfigVersion {
			list = append(list, t)
			delete(s.plain, t.ID) // it may have columns now
		}
		versions[t.ID] = t.ConfigVersion
	}
	s.topics, s.configs = topics, versions
	return list
}

// retries lists the topics that are to be renewed again now.
func (s *Sealer) retries(topics *store.TopicSet, now time.Time) (list []state.Topic) {
	for id, r := range s.again {
		t, ok := topics.ByID(id)
		switch {
		case !ok:
			delete(s.again, id)
		case !now.Before(r.at):
			list = append(list, t)
		}
	}
	return list
}

// notePlain takes partitions out of the lag.
func (s *Sealer) notePlain(d *due) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range d.partitions {
		tp := state.TopicPartition{Topic: d.topic.ID, Partition: n}
		p := s.known[tp]
		p.plain = true
		s.known[tp] = p
	}
}

// isPlain says whether a topic has no columns of its own and is not asked for in columns.
func (s *Sealer) isPlain(ctx context.Context, t *state.Topic) bool {
	if s.o.Columns.Knows(t.ID) {
		return false
	}
	sn := s.o.Store.Snapshot()
	defer sn.Release()
	table, err := s.o.Catalog.Bind(ctx, sn, t.Name)
	return err == nil && len(table.Expanded) == 0
}

// lag is the decided rows of full blocks that no file has, as far as the worker is to seal them.
func (s *Sealer) lag() (lag int64) {
	sn := s.o.Store.Snapshot()
	defer sn.Release()
	block := int64(s.o.Columns.BlockRows())
	s.mu.Lock()
	defer s.mu.Unlock()
	for tp, p := range s.known {
		b, err := sn.Bounds(tp)
		if err != nil || p.plain {
			continue
		}
		if rows := b.LastStable - max(p.sealed, b.LogStart); rows >= block {
			lag += rows
		}
	}
	return lag
}

// due lists what there is to seal. It looks at every partition, so it costs little for each.
func (s *Sealer) due(sn *store.Snapshot, now time.Time) (list []due) {
	s.mu.Lock()
	defer s.mu.Unlock()
	block := int64(s.o.Columns.BlockRows())
	all := sn.Topics().All()
	for i := range all {
		t := &all[i]
		if strings.HasPrefix(t.Name, "__") || now.Before(s.failed[t.ID]) || now.Before(s.plain[t.ID]) {
			continue
		}
		full, idle := due{topic: *t}, due{topic: *t, all: true}
		total := int64(0)
		for n := range t.Partitions {
			tp := state.TopicPartition{Topic: t.ID, Partition: n}
			b, err := sn.Bounds(tp)
			if err != nil || b.LastStable <= b.LogStart {
				continue
			}
			p := s.known[tp]
			if b.End != p.end {
				p.end, p.grown = b.End, now
				s.known[tp] = p
			}
			rows := b.LastStable - max(p.sealed, b.LogStart)
			switch {
			case rows >= block:
				total += rows
				full.partitions = append(full.partitions, n)
			case rows >= columns.MinFileRows && now.Sub(p.grown) >= s.o.Age:
				idle.partitions = append(idle.partitions, n)
			}
		}
		switch first, waits := s.waiting[t.ID]; {
		case total == 0:
			delete(s.waiting, t.ID)
		case !waits && total < fullBlocks*block:
			s.waiting[t.ID] = now
		case total >= fullBlocks*block || now.Sub(first) >= patience:
			delete(s.waiting, t.ID)
			list = append(list, full)
		}
		if len(idle.partitions) > 0 {
			list = append(list, idle)
		}
	}
	return list
}

// Seal writes all decided rows of a topic into files (CALL millrace.seal). state.ErrUnknownTopic.
func (s *Sealer) Seal(ctx context.Context, topic string) error {
	t, ok := s.o.Store.Topics().ByName(topic)
	if !ok {
		return state.ErrUnknownTopic
	}
	partitions := make([]int32, t.Partitions)
	for i := range partitions {
		partitions[i] = int32(i)
	}
	_, err := s.sealUpto(ctx, topic, partitions, true)
	return err
}

// seal is the worker's.
func (s *Sealer) seal(ctx context.Context, d *due) error {
	_, err := s.sealUpto(ctx, d.topic.Name, d.partitions, d.all)
	return err
}

// note remembers up to where partitions are sealed.
func (s *Sealer) note(topic state.TopicID, partitions []int32, upto []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, n := range partitions {
		tp := state.TopicPartition{Topic: topic, Partition: n}
		p := s.known[tp]
		p.sealed, p.plain = upto[i], false
		s.known[tp] = p
	}
}

// sealUpto seals partitions, and says up to where they are.
func (s *Sealer) sealUpto(ctx context.Context, topic string, partitions []int32, all bool) (upto []int64, err error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	s.working.Store(&working{topic, time.Now()})
	defer s.working.Store(nil)
	for {
		p, err := s.file(ctx, topic, partitions, all)
		if err != nil || !p.More || p.Blocks == 0 { // blocks without a row are in no file, and would be chosen again
			return p.Upto, err
		}
	}
}

// file writes at most one file.
func (s *Sealer) file(ctx context.Context, topic string, partitions []int32, all bool) (columns.Progress, error) {
	sn := s.o.Store.Snapshot()
	defer sn.Release()
	t, err := s.o.Catalog.Bind(ctx, sn, topic)
	if err != nil {
		return columns.Progress{}, err
	}
	began := time.Now()
	s.pace.Behind(float64(s.lag()) / float64(fullBlocks*s.o.Columns.BlockRows()))
	p, err := s.o.Columns.Seal(ctx, sn, t, partitions, all, s.pace.Step)
	if err != nil {
		return p, fmt.Errorf("sealer: %s: %w", topic, err)
	}
	s.note(t.Topic.ID, partitions, p.Upto)
	if p.Blocks > 0 {
		s.m.files.Inc()
		s.m.rows.Add(float64(p.Rows))
		s.m.bytes.Add(float64(p.FileBytes))
		s.m.seconds.Add(time.Since(began).Seconds())
		s.o.Logger.Debug("sealed columns", "topic", topic, "blocks", p.Blocks, "rows", p.Rows,
			"bytes", p.FileBytes, "took", time.Since(began))
	}
	return p, nil
}

func (s *Sealer) dropDead(ctx context.Context, sn *store.Snapshot) {
	all := sn.Topics().All()
	for i := range all {
		n, err := s.o.Columns.DropDead(ctx, sn, all[i])
		if err != nil && ctx.Err() == nil {
			s.o.Logger.Warn("files of columns could not be dropped", "topic", all[i].Name, "error", err)
		}
		s.m.dropped.Add(float64(n))
	}
}

// forget drops what is known of topics that are gone.
func (s *Sealer) forget(live *store.TopicSet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for tp := range s.known {
		if _, ok := live.ByID(tp.Topic); !ok {
			delete(s.known, tp)
		}
	}
	for id := range s.failed {
		if _, ok := live.ByID(id); !ok {
			delete(s.failed, id)
		}
	}
	for id := range s.plain {
		if _, ok := live.ByID(id); !ok {
			delete(s.plain, id)
		}
	}
	for id := range s.waiting {
		if _, ok := live.ByID(id); !ok {
			delete(s.waiting, id)
		}
	}
}
