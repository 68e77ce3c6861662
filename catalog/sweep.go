package catalog

import (
	"context"
	"runtime"
	"time"

	"millrace/internal/topicconfig"
	"millrace/store"
	"millrace/store/commitlog"
	"millrace/store/state"
)

// sweepState is what the sweeper remembers between two sweeps.
type sweepState struct {
	lsn    commitlog.LSN
	topics *store.TopicSet
}

// sweepChunkBytes is how much of a topic the sweeper reads before it lets others in;
// a statement that binds the topic waits that long at most, then reads the rest
// itself.
const sweepChunkBytes = 4 << 20

// sweeper keeps inference near the end of every topic, one topic at a time, so
// that statements find little left to do, and saves what changed.
func (c *Catalog) sweeper(ctx context.Context) {
	defer close(c.stopped)
	tick := time.NewTicker(c.o.SweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := c.sweep(ctx); err != nil && ctx.Err() == nil {
			c.log.Warn("column inference behind", "error", err)
		}
	}
}

// sweep goes over all topics once. The error is the last one of any topic.
func (c *Catalog) sweep(ctx context.Context) (err error) {
	sn := c.st.Snapshot()
	defer sn.Release()
	if sn.LSN() == c.swept.lsn {
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
	}
	return err
}

func (c *Catalog) sweepTopic(ctx context.Context, sn *store.Snapshot, t state.Topic) error {
	s := c.schemaOf(t.ID)
	if s.current(sn.LSN(), t) != nil && !c.wantsSave(s) {
		return nil
	}
	for done := false; !done; runtime.Gosched() {
		if err := s.enter(ctx); err != nil {
			return err
		}
		err := c.prepare(s, t)
		if err == nil {
			done, err = c.advance(ctx, s, sn, t, sweepChunkBytes)
		}
		if err == nil && done {
			err = c.save(ctx, s, c.o.SaveBytes)
		}
		pin := s.conf.Expand == topicconfig.ExpandPinned && !s.pinned && done && err == nil
		s.leave()
		if err != nil {
			return err
		}
		if pin {
			return c.carryOutPinned(ctx, s, t)
		}
	}
	return nil
}

// wantsSave looks at s if nobody is inside.
func (c *Catalog) wantsSave(s *schema) bool {
	select {
	case <-s.inside:
		defer s.leave()
		return s.unsaved || s.freshness >= c.o.SaveBytes
	default:
		return true
	}
}
