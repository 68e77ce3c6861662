package ingest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"millrace/internal/recordbatch"
	"millrace/store/state"
)

// Record is one record to append, by SQL or a command.
type Record struct {
	// Partition to append to; AnyPartition leaves the choice to the key, or to
	// chance (one choice a call, as sticky producers do) when there is none.
	Partition int32
	Timestamp int64  // Unix ms; NowTimestamp for the time of the call
	Key       []byte // nil is null
	Value     []byte // nil is null
	Headers   []recordbatch.Header
}

// Special values of Record.
const (
	AnyPartition int32 = -1
	NowTimestamp int64 = -1
)

// Position is where a record was stored.
type Position struct {
	Partition int32
	Offset    int64
}

// batchTargetBytes is how large Append lets a batch grow, within max.message.bytes.
const batchTargetBytes = 512 << 10

// Append stores records in one commit, all or nothing, and returns where each of
// them lies once that is durable and visible. Records of one partition keep their
// order. A record that is too large, or otherwise refused by its topic, fails all.
//
// When ctx ends while the commit is under way, Append returns ctx's error, and the
// records may or may not be stored.
func (in *Ingest) Append(ctx context.Context, t *Topic, records []Record) ([]Position, error) {
	if len(records) == 0 {
		return nil, nil
	}
	limit := min(batchTargetBytes, int(t.Config.MaxMessageBytes))
	now := in.o.Now().UnixMilli()
	sticky := rand.Int32N(t.Partitions) // which one does not matter
	positions := make([]Position, len(records))
	builders := make([]*openBatch, t.Partitions)
	var entries []Entry
	var members [][]int // per entry, the indices of its records
	finish := func(p int32) {
		o := builders[p]
		entries = append(entries, Entry{Topic: t, Partition: p, Batch: o.b.Build()})
		members = append(members, o.members)
		builders[p] = nil
	}
	for i := range records {
		r := &records[i]
		p := r.Partition
		if p == AnyPartition {
			if p = sticky; r.Key != nil {
				p = PartitionForKey(r.Key, t.Partitions)
			}
		}
		if p < 0 || p >= t.Partitions {
			return nil, fmt.Errorf("%w: partition %d of %d", ErrInvalidRecord, p, t.Partitions)
		}
		positions[i].Partition = p
		if o := builders[p]; o != nil && o.b.Size()+recordbatch.MaxRecordBytes(r.Key, r.Value, r.Headers) > limit {
			finish(p)
		}
		if builders[p] == nil {
			builders[p] = &openBatch{b: recordbatch.Builder{Codec: t.codec}}
		}
		ts := r.Timestamp
		if ts == NowTimestamp {
			ts = now
		}
		builders[p].b.Append(ts, r.Key, r.Value, r.Headers)
		builders[p].members = append(builders[p].members, i)
	}
	for p, o := range builders {
		if o != nil {
			finish(int32(p))
		}
	}
	done := make(chan struct{})
	in.Produce(ctx, entries, Mode{AllOrNothing: true}, func() { close(done) })
	select {
	case <-done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var refused error
	for k := range entries {
		res := &entries[k].Result
		if res.Err != nil {
			// The cause says more than that another batch was refused.
			if refused == nil || errors.Is(refused, state.ErrRequestRefused) {
				refused = res.Err
			}
			continue
		}
		for j, i := range members[k] {
			positions[i].Offset = res.BaseOffset + int64(j)
		}
	}
	if refused != nil {
		return nil, fmt.Errorf("append to topic %q: %w", t.Name, refused)
	}
	return positions, nil
}

type openBatch struct {
	b       recordbatch.Builder
	members []int
}
