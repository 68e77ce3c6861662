package sqltable

import (
	"strings"

	"millrace/catalog"

	"github.com/dolthub/go-mysql-server/sql"
)

// A topic's primary key is (_partition, _offset). Tools find it through SHOW KEYS and
// information_schema, which ask a table for its indexes. So does the engine's planner,
// and there the answer must be "none": reading by key would decompress a batch for
// every row where a scan with a pushed filter decompresses each once. The question is
// told apart by the statement that asks.

var _ sql.IndexAddressableTable = (*Table)(nil)

// GetIndexes implements sql.IndexAddressable.
func (t *Table) GetIndexes(ctx *sql.Context) ([]sql.Index, error) {
	if ctx == nil || !asksForKeys(ctx.Query()) {
		return nil, nil
	}
	return []sql.Index{primaryKey{t.name}}, nil
}

// asksForKeys: the statement shows keys instead of reading rows.
func asksForKeys(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	return strings.HasPrefix(text, "show") || strings.Contains(text, "information_schema")
}

// IndexedAccess implements sql.IndexAddressable: there is none.
func (t *Table) IndexedAccess(*sql.Context, sql.IndexLookup) sql.IndexedTable { return nil }

// PreciseMatch implements sql.IndexAddressable.
func (t *Table) PreciseMatch() bool { return false }

// primaryKey describes the key; it supports no lookup.
type primaryKey struct{ table string }

var _ sql.Index = primaryKey{}

func (k primaryKey) ID() string       { return "PRIMARY" }
func (k primaryKey) Database() string { return KafkaDatabase }
func (k primaryKey) Table() string    { return k.table }
func (k primaryKey) Expressions() []string {
	return []string{k.table + "." + catalog.ColPartition, k.table + "." + catalog.ColOffset}
}
func (k primaryKey) IsUnique() bool                             { return true }
func (k primaryKey) IsSpatial() bool                            { return false }
func (k primaryKey) IsFullText() bool                           { return false }
func (k primaryKey) IsVector() bool                             { return false }
func (k primaryKey) Comment() string                            { return "" }
func (k primaryKey) IndexType() string                          { return "BTREE" }
func (k primaryKey) IsGenerated() bool                          { return false }
func (k primaryKey) CanSupport(*sql.Context, ...sql.Range) bool { return false }
func (k primaryKey) CanSupportOrderBy(sql.Expression) bool      { return false }
func (k primaryKey) PrefixLengths() []uint16                    { return nil }
func (k primaryKey) ColumnExpressionTypes() []sql.ColumnExpressionType {
	cols := topicColumns(&catalog.Table{}, k.table)
	return []sql.ColumnExpressionType{
		{Expression: k.table + "." + catalog.ColPartition, Type: cols[0].sql.Type},
		{Expression: k.table + "." + catalog.ColOffset, Type: cols[1].sql.Type},
	}
}
