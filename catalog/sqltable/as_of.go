package sqltable

import (
	"context"
	"fmt"
	"math"
	"time"

	"millrace/scan"
	"millrace/store"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// AS OF shows a topic as the records make it that were appended by then, by the server's clock. Columns are those of
// today: they are derived from the values.

var _ sql.VersionedDatabase = (*topicDatabase)(nil)

// GetTableInsensitiveAsOf implements sql.VersionedDatabase. asOf is a time, or text that is one, in the session's zone.
func (d *topicDatabase) GetTableInsensitiveAsOf(ctx *sql.Context, name string, asOf any) (sql.Table, bool, error) {
	ms, err := asOfMillis(ctx, asOf)
	if err != nil {
		return nil, false, err
	}
	found, ok, err := d.GetTableInsensitive(ctx, name)
	if err != nil || !ok {
		return nil, ok, err
	}
	t := *found.(*Table)
	if t.past, err = newAppended(t.stmt.Snapshot(), t.bound.Topic, ms); err != nil {
		return nil, false, fmt.Errorf("table %s: %w", name, err)
	}
	return &t, true, nil
}

// GetTableNamesAsOf implements sql.VersionedDatabase: those of now.
func (d *topicDatabase) GetTableNamesAsOf(ctx *sql.Context, _ any) ([]string, error) {
	return d.GetTableNames(ctx)
}

// asOfMillis is the end, in Unix ms, up to which records count.
func asOfMillis(ctx *sql.Context, asOf any) (int64, error) {
	v, _, err := types.DatetimeMaxPrecision.Convert(ctx, asOf)
	wall, ok := v.(time.Time)
	if err != nil || !ok || wall.IsZero() {
		return 0, types.ErrConvertingToTime.New(asOf)
	}
	zone, err := SessionZone(ctx)
	if err != nil {
		return 0, err
	}
	earliest, latest, exact := zone.Instant(wall)
	if !exact && zone.Wall(latest).Equal(wall) {
		earliest = latest // the clocks showed it twice: all of both
	}
	return floorDiv(earliest, 1000), nil
}

// appended is a snapshot without what was appended to a topic after a time.
type appended struct {
	scan.Source
	topic state.TopicID
	by    int64   // Unix ms, inclusive
	ends  []int64 // by partition: one past the last record that counts
}

func newAppended(sn *store.Snapshot, t state.Topic, by int64) (*appended, error) {
	a := &appended{Source: scan.FromSnapshot(sn), topic: t.ID, by: by, ends: make([]int64, t.Partitions)}
	for p := range a.ends {
		tp := state.TopicPartition{Topic: t.ID, Partition: int32(p)}
		b, err := sn.Bounds(tp)
		if err != nil {
			return nil, err
		}
		a.ends[p] = b.LogStart
		it, err := sn.Batches(tp, store.BatchRange{FromOffset: b.LogStart, ToOffset: b.End, MinTimestamp: math.MinInt64, MaxTimestamp: math.MaxInt64, Reverse: true})
		if err != nil {
			return nil, err
		}
		for it.Next() {
			if i := it.Info(); i.AppendTime <= by {
				a.ends[p] = i.LastOffset + 1
				break
			}
		}
		err = it.Err()
		it.Close()
		if err != nil {
			return nil, err
		}
	}
	return a, nil
}

// Bounds implements scan.Source. The clock may have been set back, so the records between them are not counted by
// subtraction.
func (a *appended) Bounds(tp state.TopicPartition) (state.Bounds, error) {
	b, err := a.Source.Bounds(tp)
	if err != nil || tp.Topic != a.topic {
		return b, err
	}
	end := max(b.LogStart, min(b.End, a.ends[tp.Partition]))
	return state.Bounds{LogStart: b.LogStart, LastStable: min(b.LastStable, end), End: end}, nil
}

// Batches implements scan.Source.
func (a *appended) Batches(ctx context.Context, tp state.TopicPartition, r store.BatchRange) (scan.BatchIter, error) {
	it, err := a.Source.Batches(ctx, tp, r)
	if err != nil {
		return nil, err
	}
	return appendedIter{it, a.by}, nil
}

type appendedIter struct {
	scan.BatchIter
	by int64
}

func (it appendedIter) Next() bool {
	for it.BatchIter.Next() {
		if it.Info().AppendTime <= it.by {
			return true
		}
	}
	return false
}
