// Package catalog knows which tables exist and which columns they have: a topic
// is a table, its columns are the system columns and what expansion declared or
// inferred.
package catalog

import (
	"context"

	"millrace/blobexpand"
	"millrace/internal/topicconfig"
	"millrace/store"
	"millrace/store/state"
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

// Catalog is safe for concurrent use.
type Catalog struct{}

// Options of a catalog.
type Options struct{}

// New starts the background inference over st.
func New(st *store.Store, o Options) *Catalog { panic("todo") }

// Close stops it and saves how far inference came.
func (c *Catalog) Close() error { panic("todo") }

// Table is a topic's schema at one snapshot; immutable.
type Table struct {
	Topic    state.Topic
	Config   topicconfig.Config
	Expanded []blobexpand.Column // in table order, after the system columns
	LongKey  bool                // a key longer than 16,383 characters was seen: _key is LONGTEXT
	Rest     bool                // _rest exists (limits were exceeded)
}

// Bind returns the schema of topic as of sn, bringing inference up to sn first,
// so that a column that came with the last acked record can be named.
// state.ErrUnknownTopic when there is no such table.
func (c *Catalog) Bind(ctx context.Context, sn *store.Snapshot, topic string) (*Table, error) {
	panic("todo")
}

// Known returns the last known schema without bringing it up to date
// (unfiltered information_schema).
func (c *Catalog) Known(sn *store.Snapshot, topic string) (*Table, error) { panic("todo") }

// Tables lists the topics that are tables (internal topics "__*" are not), in name order.
func (c *Catalog) Tables(sn *store.Snapshot) []string { panic("todo") }

// ParseColumns reads declarations in MySQL syntax (millrace.columns):
// "order_id BIGINT, amount DECIMAL(10,2) AS (_value->>'$.payment.amount')".
func ParseColumns(ddl string) ([]blobexpand.Column, error) { panic("todo") }

// FormatColumns is its inverse.
func FormatColumns(cols []blobexpand.Column) string { panic("todo") }
