package catalog

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"millrace/internal/pace"
	"millrace/internal/topicconfig"
	"millrace/store"
	"millrace/store/commitlog"
	"millrace/store/state"
)

// sweepState is what the sweeper remembers between two sweeps.
type sweepState struct {
	number uint64
	bytes  int64 // the store's published bytes
	lsn    commitlog.LSN
	topics *store.TopicSet
	ends   map[state.TopicID][]int64 // of every topic at its last visit
}

const (
	// sweepChunkBytes is how much of a topic the sweeper reads before it saves, and lets others
	// in who do not wait. A statement that binds the topic waits for a batch at most, then reads
	// the rest itself: the sweeper's thread may be let run at any time.
	sweepChunkBytes = 4 << 20
	// sweepAheadBytes is how much may be published until the sweeper looks before its
	// time: while it stays less than the store keeps in memory, records need not be
	// read back from the log and summed again. Less makes it look at all topics more often.
	sweepAheadBytes = 16 << 20
	// sweepLookEvery is how often it looks whether so much was published.
	sweepLookEvery = 50 * time.Millisecond
	// sweepLag is how far behind it may be before it leaves producers less of the processors.
	sweepLag = 200 * time.Millisecond
	// idleSweeps is for how many sweeps a topic must be neither written nor named
	// until its columns leave memory (about 16 KiB for 20 of them). The next
	// statement reads them back from their document.
	idleSweeps = 600
)

// sweeper keeps inference near the end of every topic, one topic at a time, so
// that statements find little left to do, and saves what changed.
func (c *Catalog) sweeper(ctx context.Context) {
	defer close(c.stopped)
	pace.OwnThread()
	tick := time.NewTicker(c.o.SweepEvery)
	defer tick.Stop()
	look := time.NewTicker(min(sweepLookEvery, c.o.SweepEvery))
	defer look.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			err = c.sweep(ctx)
		case <-look.C:
			if c.st.PublishedBytes()-c.swept.bytes < sweepAheadBytes {
				continue
			}
			err = c.sweepNews(ctx)
		}
		if err != nil && ctx.Err() == nil {
			c.log.Warn("column inference behind", "error", err)
		}
	}
}

// sweep is what the sweeper does each time: it counts, unloads what is idle, and goes
// over all topics.
func (c *Catalog) sweep(ctx context.Context) error {
	c.swept.number++
	c.sweeps.Store(c.swept.number)
	if err := c.unloadIdle(ctx); err != nil {
		return err
	}
	return c.sweepNews(ctx)
}

// sweepNews goes over all topics once. The error is the last one of any topic.
func (c *Catalog) sweepNews(ctx context.Context) (err error) {
	began := time.Now()
	c.swept.bytes = c.st.PublishedBytes()
	c.pace.Behind(c.lag() / sweepLag.Seconds())
	sn := c.st.Snapshot()
	defer sn.Release()
	if sn.LSN() == c.swept.lsn {
		c.covered.set(began, c.swept.bytes)
		return nil
	}
	if topics := sn.Topics(); topics != c.swept.topics {
		if err := c.forgetDeleted(ctx); err != nil {
			return err
		}
		c.swept.topics = topics
	}
	for _, t := range sn.Topics().All() {
		if !isTable(t.Name) {
			continue
		}
		if e := c.sweepTopic(ctx, sn, t); e != nil {
			err = e
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if err == nil {
		c.swept.lsn = sn.LSN()
		c.covered.set(began, c.swept.bytes)
	}
	return err
}

// covered is when the sweeper last had seen all there was.
type covered struct {
	mu    sync.Mutex
	at    time.Time
	bytes int64 // published by then
}

func (c *covered) set(at time.Time, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.bytes = at, bytes
}

// lag is how long ago that was, in seconds; 0 if nothing was published since.
func (c *Catalog) lag() float64 {
	c.covered.mu.Lock()
	defer c.covered.mu.Unlock()
	if c.st.PublishedBytes() == c.covered.bytes {
		return 0
	}
	return time.Since(c.covered.at).Seconds()
}

func (c *Catalog) sweepTopic(ctx context.Context, sn *store.Snapshot, t state.Topic) error {
	s := c.schemaOf(t.ID)
	news, err := c.hasNews(sn, s, t)
	if err != nil || !news {
		return err
	}
	for done := false; !done; runtime.Gosched() {
		if err := s.enter(ctx); err != nil {
			return err
		}
		err := c.prepare(s, t)
		if err == nil {
			done, err = c.advance(ctx, s, sn, t, sweepChunkBytes, c.pace.Step)
		}
		if err == nil && done {
			err = c.save(ctx, s, c.o.SaveBytes)
		}
		pin := s.conf.Expand == topicconfig.ExpandPinned && !s.pinned && done && err == nil
		s.leave()
		if err != nil {
			delete(c.swept.ends, t.ID)
			return err
		}
		if pin {
			return c.carryOutPinned(ctx, s, t)
		}
	}
	return nil
}

// hasNews says whether the sweeper has anything to do with a topic: records since
// its last visit, or something to save. A topic that nobody has loaded since the
// start is loaded only if there are records after its saved position.
func (c *Catalog) hasNews(sn *store.Snapshot, s *schema, t state.Topic) (bool, error) {
	ends := make([]int64, 0, 16)
	for p := range t.Partitions {
		b, err := sn.Bounds(state.TopicPartition{Topic: t.ID, Partition: p})
		if err != nil {
			return false, err
		}
		ends = append(ends, b.End)
	}
	last, visited := c.swept.ends[t.ID]
	same := slices.Equal(ends, last)
	if !same {
		c.swept.ends[t.ID] = slices.Clip(ends)
	}
	if !s.tryEnter() {
		return true, nil // someone is busy with it; look when he is done
	}
	defer s.leave()
	if s.loaded {
		return !same || s.unsaved || s.freshness >= c.o.SaveBytes || s.confOf != t.ConfigVersion, nil
	}
	if same {
		return false, nil
	}
	if visited {
		return true, nil
	}
	doc, ok := c.st.Document(columnsKind, s.id.String())
	if !ok {
		return !allZero(ends), nil
	}
	_, saved, _, err := decodePosition(doc.Data)
	return err != nil || !slices.Equal(ends, saved), nil
}

func allZero(s []int64) bool {
	for _, x := range s {
		if x != 0 {
			return false
		}
	}
	return true
}

// unloadIdle takes the columns of topics out of memory that nobody wrote or named for
// long.
func (c *Catalog) unloadIdle(ctx context.Context) error {
	if c.swept.number%idleSweeps != 0 {
		return nil
	}
	c.schemas.Lock()
	var idle []*schema
	for _, s := range c.schemas.byTopic {
		if s.used.Load()+idleSweeps <= c.swept.number {
			idle = append(idle, s)
		}
	}
	c.schemas.Unlock()
	for _, s := range idle {
		if !s.tryEnter() {
			continue
		}
		err := c.save(ctx, s, 1)
		if err == nil && !s.unsaved && s.freshness == 0 {
			s.unload()
		}
		s.leave()
		if err != nil {
			return err
		}
	}
	return nil
}
