package catalog

import (
	"context"
	"fmt"
	"math"
	"sync"

	"millrace/internal/recordbatch"
	"millrace/store"
	"millrace/store/state"
)

// Own is what the records of one open transaction bring to columns, for its owner alone: until they are committed,
// nobody else may see that a column was added or widened, and they may never be. The zero value is ready. Safe for
// concurrent use.
type Own struct {
	mu     sync.Mutex
	topics map[state.TopicID]*ownColumns
}

// ownColumns is a topic's columns with what the transaction brought.
type ownColumns struct {
	base *Table  // as others see it
	all  *schema // never saved; ends are those of what was taken in
	// table is base, if nothing was brought.
	table *Table
}

// BindOwn is Bind with what the records bring that sn alone shows (store.SnapshotOf). own belongs to their transaction;
// what was taken in for one statement is not read again for the next.
func (c *Catalog) BindOwn(ctx context.Context, sn *store.Snapshot, topic string, own *Own) (*Table, error) {
	base, err := c.Bind(ctx, sn, topic)
	if err != nil || sn == sn.Others() {
		return base, err
	}
	own.mu.Lock()
	defer own.mu.Unlock()
	o := own.topics[base.Topic.ID]
	for p := range base.Topic.Partitions {
		tp := state.TopicPartition{Topic: base.Topic.ID, Partition: p}
		first, any, err := sn.OwnFrom(tp)
		if err != nil {
			return nil, err
		}
		if !any {
			continue
		}
		if o == nil || o.base != base {
			if o, err = c.copyOf(ctx, base); err != nil {
				return nil, err
			}
			if own.topics == nil {
				own.topics = map[state.TopicID]*ownColumns{}
			}
			own.topics[base.Topic.ID] = o
		}
		if err := o.takeIn(ctx, c, sn, tp, first); err != nil {
			return nil, fmt.Errorf("reading topic %s partition %d: %w", topic, p, err)
		}
	}
	if o == nil || o.base != base {
		return base, nil
	}
	return o.table, nil
}

// copyOf begins with the columns that others see.
func (c *Catalog) copyOf(ctx context.Context, base *Table) (*ownColumns, error) {
	all := newSchema(base.Topic.ID)
	if err := all.configure(base.Topic); err != nil {
		return nil, err
	}
	all.ends = make([]int64, base.Topic.Partitions)
	s := c.schemaOf(base.Topic.ID)
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if err := c.prepare(s, base.Topic); err != nil {
		return nil, err
	}
	all.longKey = s.longKey
	if all.inf != nil && s.inf != nil {
		all.inf = s.inf.Clone()
	}
	return &ownColumns{base: base, all: all, table: base}, nil
}

// takeIn reads what the transaction wrote to a partition, from offset first on, as far as it was not read before.
func (o *ownColumns) takeIn(ctx context.Context, c *Catalog, sn *store.Snapshot, tp state.TopicPartition, first int64) error {
	b, err := sn.Bounds(tp)
	if err != nil {
		return err
	}
	it, err := sn.Batches(tp, store.BatchRange{
		FromOffset: max(first, o.all.ends[tp.Partition]), ToOffset: b.End,
		MinTimestamp: math.MinInt64, MaxTimestamp: math.MaxInt64,
	})
	if err != nil {
		return err
	}
	defer it.Close()
	r := c.readers.Get().(*recordbatch.Reader)
	defer c.readers.Put(r)
	for it.Next() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !it.Info().Own {
			continue
		}
		// What cannot be read has no columns: its rows say so.
		if _, changed, _ := o.all.learn(r, it, func(int64) {}); changed {
			o.table = nil
		}
	}
	if err := it.Err(); err != nil {
		return err
	}
	o.all.ends[tp.Partition] = max(b.End, o.all.ends[tp.Partition])
	if o.table == nil {
		o.table = o.all.build(o.base.Topic, o.all.conf, o.all.declared)
	}
	return nil
}
