package columns

import (
	"context"
	"fmt"
	"math"

	"millrace/store"
)

// cutBlocks cuts what v sees of the offsets [from, to) into blocks that cover them. All but the
// last are full.
func cutBlocks(ctx context.Context, p *part, v *seen, from, to int64) ([]*block, error) {
	it, err := v.sn.Batches(p.tp, store.BatchRange{
		FromOffset: from, ToOffset: to, MinTimestamp: math.MinInt64, MaxTimestamp: math.MaxInt64,
	})
	if err != nil {
		return nil, fmt.Errorf("columns: %w", err)
	}
	defer it.Close()
	c := cutter{p: p, v: v}
	c.begin(from)
	for n := 0; it.Next(); n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c.add(it.Info(), from, to)
	}
	if err := it.Err(); err != nil {
		return nil, err
	}
	if c.b.from < to {
		c.finish(to)
	}
	return c.out, nil
}

type cutter struct {
	p   *part
	v   *seen
	b   *block
	out []*block
}

func (c *cutter) begin(from int64) {
	c.b = newBlock(c.p, from, from)
	c.b.dense = c.v.bound.Dense
	c.b.timed = true
	c.b.minTime, c.b.maxTime = math.MaxInt64, math.MinInt64
	if from < c.v.copy.End {
		c.b.copy = c.v.copy.ID
	}
}

func (c *cutter) finish(end int64) {
	b := c.b
	b.end = end
	if b.dense {
		b.rows = b.maxRows
	}
	if b.maxRows == 0 {
		b.rows = 0
	}
	c.out = append(c.out, b)
}

// add takes in a batch, cut to [from, to).
func (c *cutter) add(info store.BatchInfo, from, to int64) {
	most := c.p.set.o.BlockRows
	at, end := max(info.BaseOffset, from), min(info.LastOffset+1, to)
	for at < end {
		b := c.b
		if c.v.bound.Dense && at > b.from+int64(b.maxRows) {
			b.dense = false // never so; but then it must not be believed
		}
		n := int(min(end-at, int64(most-b.maxRows)))
		b.maxRows += n
		at += int64(n)
		b.bytes += int64(info.SizeBytes) * int64(n) / (info.LastOffset - info.BaseOffset + 1)
		if info.VisibleLSN != info.LSN {
			b.committed = max(b.committed, info.VisibleLSN)
		}
		if info.MinTimestamp < 0 {
			b.timed = false
		}
		b.minTime, b.maxTime = min(b.minTime, info.MinTimestamp), max(b.maxTime, info.MaxTimestamp)
		if b.maxRows == most || b.bytes >= c.p.set.mostBytes(b.maxRows, b.bytes) {
			b.full = true
			c.finish(at)
			c.begin(at)
		}
	}
}
