package sqltable

import (
	"context"
	"errors"
	"strings"

	"millrace/catalog"
	"millrace/catalog/infoschema"
	"millrace/scan"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
)

// topicDatabase is database kafka. It can only be read: the SQL server carries out what
// changes topics itself, after asking whether the user may.
type topicDatabase struct{ provider *Provider }

var (
	_ sql.Database         = (*topicDatabase)(nil)
	_ sql.CollatedDatabase = (*topicDatabase)(nil)
	_ infoschema.Lister    = (*topicDatabase)(nil)
)

// Name implements sql.Database.
func (d *topicDatabase) Name() string { return KafkaDatabase }

// GetCollation implements sql.CollatedDatabase.
func (d *topicDatabase) GetCollation(*sql.Context) sql.CollationID {
	return sql.Collation_utf8mb4_0900_bin
}

// SetCollation implements sql.CollatedDatabase.
func (d *topicDatabase) SetCollation(*sql.Context, sql.CollationID) error {
	return sql.ErrReadOnly.New()
}

// GetTableNames implements sql.Database; companions are not listed.
func (d *topicDatabase) GetTableNames(ctx *sql.Context) ([]string, error) {
	return d.provider.cat.Tables(d.provider.statement(ctx).Snapshot()), nil
}

// companion suffixes.
const (
	suffixRaw    = "$raw"    // the exact bytes of every record
	suffixErrors = "$errors" // the rows whose _error is set
	suffixLatest = "$latest" // the newest row of each key
)

// GetTableInsensitive implements sql.Database. Names are case-sensitive, as in Kafka.
func (d *topicDatabase) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	return d.table(ctx, name, (*StatementSnapshot).Bind)
}

// KnownTable describes a topic with the columns known last: it reads no records. Its rows
// must not be asked for.
func (d *topicDatabase) KnownTable(ctx *sql.Context, name string) (sql.Table, bool, error) {
	return d.table(ctx, name, (*StatementSnapshot).known)
}

// TableHead describes a topic by its system columns alone, as cheaply as can be.
func (d *topicDatabase) TableHead(ctx *sql.Context, name string) (sql.Table, bool, error) {
	return d.table(ctx, name, (*StatementSnapshot).head)
}

func (d *topicDatabase) table(ctx *sql.Context, name string, bind func(*StatementSnapshot, context.Context, string) (*catalog.Table, error)) (sql.Table, bool, error) {
	topic, suffix := name, ""
	if at := strings.IndexByte(name, '$'); at >= 0 {
		topic, suffix = name[:at], name[at:]
	}
	switch suffix {
	case "", suffixRaw, suffixErrors, suffixLatest:
	default:
		return nil, false, nil
	}
	stmt := d.provider.statement(ctx)
	bound, err := bind(stmt, ctx, topic)
	if errors.Is(err, state.ErrUnknownTopic) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	t := &Table{provider: d.provider, name: name, bound: bound, stmt: stmt}
	switch suffix {
	case suffixRaw:
		t.cols = rawColumns(name)
	case suffixErrors:
		t.cols = topicColumns(bound, name)
		for i := range t.cols {
			if t.cols[i].scan.Kind == scan.Error {
				t.cols[i].sql.Extra = "" // what one reads this table for
			}
		}
		t.base = scan.Not{Arg: scan.IsNull{Column: scan.Column{Kind: scan.Error}}}
	case suffixLatest:
		t.cols = topicColumns(bound, name)
		t.latest = true
	default:
		t.cols = topicColumns(bound, name)
	}
	return t, true, nil
}
