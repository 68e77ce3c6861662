package sqltable

import (
	"millrace/catalog"
	"millrace/catalog/infoschema"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
)

var _ infoschema.Described = (*Table)(nil)

// CreatedAt implements infoschema.Described.
func (t *Table) CreatedAt(ctx *sql.Context) any {
	zone, err := SessionZone(ctx)
	if err != nil {
		return nil
	}
	return wallOf(zone, int64(t.bound.Topic.CreatedAt))
}

// GeneratedFrom implements infoschema.Described.
func (t *Table) GeneratedFrom(column string) string {
	for _, c := range t.bound.Expanded {
		if c.Declared && c.Name == column {
			return catalog.GeneratedFrom(c)
		}
	}
	return ""
}

// PartitionedBy implements infoschema.Described.
func (t *Table) PartitionedBy() string { return catalog.ColKey }

// PartitionSizes implements infoschema.Described. The offsets between a partition's first and last record are its rows,
// though some of them may be gone.
func (t *Table) PartitionSizes(*sql.Context) []infoschema.PartitionSize {
	out := make([]infoschema.PartitionSize, t.bound.Topic.Partitions)
	source := t.source()
	for p := range out {
		tp := state.TopicPartition{Topic: t.bound.Topic.ID, Partition: int32(p)}
		if b, err := source.Bounds(tp); err == nil {
			out[p].Rows = uint64(b.End - b.LogStart)
		}
		out[p].Bytes = uint64(max(0, t.provider.store.SizeBytes(tp)))
	}
	return out
}
