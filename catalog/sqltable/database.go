package sqltable

import (
	"errors"
	"fmt"
	"strings"

	"millrace/scan"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
)

// ErrNotSupported says that this version does not carry out such SQL on topics.
var ErrNotSupported = errors.New("not supported yet")

// topicDatabase is database kafka.
type topicDatabase struct{ provider *Provider }

var (
	_ sql.Database         = (*topicDatabase)(nil)
	_ sql.TableDropper     = (*topicDatabase)(nil)
	_ sql.TableCreator     = (*topicDatabase)(nil)
	_ sql.ViewDatabase     = (*topicDatabase)(nil)
	_ sql.CollatedDatabase = (*topicDatabase)(nil)
)

// Name implements sql.Database.
func (d *topicDatabase) Name() string { return KafkaDatabase }

// GetCollation implements sql.CollatedDatabase.
func (d *topicDatabase) GetCollation(*sql.Context) sql.CollationID {
	return sql.Collation_utf8mb4_0900_bin
}

// SetCollation implements sql.CollatedDatabase.
func (d *topicDatabase) SetCollation(*sql.Context, sql.CollationID) error {
	return fmt.Errorf("changing the collation of database %s is %w", KafkaDatabase, ErrNotSupported)
}

// GetTableNames implements sql.Database; companions are not listed.
func (d *topicDatabase) GetTableNames(ctx *sql.Context) ([]string, error) {
	return d.provider.cat.Tables(d.provider.statement(ctx).Snapshot()), nil
}

// companion suffixes.
const (
	suffixRaw    = "$raw"
	suffixErrors = "$errors"
)

// GetTableInsensitive implements sql.Database. Names are case-sensitive, as in Kafka.
func (d *topicDatabase) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	topic, suffix := name, ""
	if at := strings.IndexByte(name, '$'); at >= 0 {
		topic, suffix = name[:at], name[at:]
	}
	if suffix != "" && suffix != suffixRaw && suffix != suffixErrors {
		return nil, false, nil
	}
	stmt := d.provider.statement(ctx)
	bound, err := stmt.Bind(ctx, topic)
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
	default:
		t.cols = topicColumns(bound, name)
	}
	return t, true, nil
}

// DropTable implements sql.TableDropper: it deletes the topic.
func (d *topicDatabase) DropTable(ctx *sql.Context, name string) error {
	if strings.IndexByte(name, '$') >= 0 {
		return fmt.Errorf("%s belongs to its topic and cannot be dropped", name)
	}
	topic, ok := d.provider.store.Topics().ByName(name)
	if !ok || strings.HasPrefix(name, "__") {
		return sql.ErrTableNotFound.New(name)
	}
	res, err := d.provider.store.Commit(ctx, state.DeleteTopic{ID: topic.ID})
	if err != nil {
		return err
	}
	if r, ok := res.(state.TopicResult); ok && r.Err != nil {
		if errors.Is(r.Err, state.ErrUnknownTopic) {
			return sql.ErrTableNotFound.New(name)
		}
		return r.Err
	}
	return nil
}

// CreateTable implements sql.TableCreator.
func (d *topicDatabase) CreateTable(_ *sql.Context, name string, _ sql.PrimaryKeySchema, _ sql.CollationID, _ string) error {
	return fmt.Errorf("CREATE TABLE %s: creating a topic by SQL is %w; create the topic by Kafka's API or millrace topic create", name, ErrNotSupported)
}
