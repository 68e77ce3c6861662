package ingest

import (
	"context"
	"errors"
	"fmt"
	"math"
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

// Special values of Record. A timestamp of -1 is Kafka's «none» and is stored as such.
const (
	AnyPartition int32 = -1
	NowTimestamp int64 = math.MinInt64
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
// ctx ends only the wait for room in the store; a commit under way is waited for, so that
// it is known what became of it.
func (in *Ingest) Append(ctx context.Context, t *Topic, records []Record) ([]Position, error) {
	if len(records) == 0 {
		return nil, nil
	}
	b, err := in.batches(t, records, nil)
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	in.Produce(ctx, b.entries, Mode{AllOrNothing: true}, func() { close(done) })
	<-done
	if err := b.settle(t); err != nil {
		return nil, err
	}
	return b.positions, nil
}

// batched is records as batches.
type batched struct {
	entries   []Entry
	members   [][]int // per entry, the indices of its records
	positions []Position
}

// batches puts records into batches. begin, when set, is told each new one and its partition.
func (in *Ingest) batches(t *Topic, records []Record, begin func(p int32, b *recordbatch.Builder)) (*batched, error) {
	limit := min(batchTargetBytes, int(t.Config.MaxMessageBytes))
	now := in.o.Now().UnixMilli()
	sticky := rand.Int32N(t.Partitions) // which one does not matter
	out := &batched{positions: make([]Position, len(records))}
	builders := make(map[int32]*openBatch)
	var order []int32 // partitions, as they were first met
	finish := func(p int32) {
		o := builders[p]
		if begin != nil {
			begin(p, &o.b)
		}
		out.entries = append(out.entries, Entry{Topic: t, Partition: p, Batch: o.b.Build()})
		out.members = append(out.members, o.members)
		o.members = nil
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
		out.positions[i].Partition = p
		o := builders[p]
		if o == nil {
			o = &openBatch{b: recordbatch.Builder{Codec: t.codec}}
			builders[p] = o
			order = append(order, p)
		}
		if o.b.Len() > 0 && o.b.Size()+recordbatch.MaxRecordBytes(r.Key, r.Value, r.Headers) > limit {
			finish(p)
		}
		ts := r.Timestamp
		if ts == NowTimestamp {
			ts = now
		}
		o.b.Append(ts, r.Key, r.Value, r.Headers)
		o.members = append(o.members, i)
	}
	for _, p := range order {
		if builders[p].b.Len() > 0 {
			finish(p)
		}
	}
	return out, nil
}

// settle fills the positions in, once the entries' results are known.
func (b *batched) settle(t *Topic) error {
	var refused error
	for k := range b.entries {
		res := &b.entries[k].Result
		if res.Err != nil {
			// The cause says more than that another batch was refused.
			if refused == nil || errors.Is(refused, state.ErrRequestRefused) {
				refused = res.Err
			}
			continue
		}
		for j, i := range b.members[k] {
			b.positions[i].Offset = res.BaseOffset + int64(j)
		}
	}
	if refused != nil {
		return fmt.Errorf("append to topic %q: %w", t.Name, refused)
	}
	return nil
}

type openBatch struct {
	b       recordbatch.Builder
	members []int
}
