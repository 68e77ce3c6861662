package mysql

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"millrace/catalog/sqltable"
	"millrace/server/auth"
	"millrace/server/mysql/sqlerr"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// ddl carries out DROP TABLE, TRUNCATE and ALTER USER from the parsed statement.
func (c *conn) ddl(ctx *sql.Context, d *sqlparser.DDL, text string) (*answer, bool, error) {
	switch strings.ToLower(d.Action) {
	case sqlparser.CreateStr:
		if d.ViewSpec != nil {
			return okAnswer(0), true, c.createView(ctx, d, text)
		}
		if d.TableSpec == nil && d.OptLike == nil && d.OptSelect == nil {
			break // a view, an index, a program
		}
		return okAnswer(0), true, c.createTable(ctx, d)
	case sqlparser.DropStr:
		if len(d.FromViews) > 0 {
			return okAnswer(0), true, c.dropViews(ctx, d)
		}
		if len(d.FromTables) == 0 {
			return nil, true, ddlError(d)
		}
		err := c.dropTables(ctx, d)
		return okAnswer(0), true, err
	case sqlparser.TruncateStr:
		topic, err := c.topic(ctx, d.Table, auth.Delete, "DROP")
		if err != nil {
			return nil, true, err
		}
		return okAnswer(0), true, c.deleteBefore(ctx, topic, nil)
	}
	return nil, true, ddlError(d)
}

// topic resolves a table name to the topic it is, if the session may do op to it.
func (c *conn) topic(ctx *sql.Context, name sqlparser.TableName, op auth.Operation, command string) (state.Topic, error) {
	db := name.DbQualifier.String()
	if db == "" {
		db = ctx.GetCurrentDatabase()
	}
	table := name.Name.String()
	if db == "" {
		return state.Topic{}, sqlerr.ErrNoDatabase
	}
	if !mayDo(ctx, op, db, table) {
		return state.Topic{}, errDenied(c.sess, command, table)
	}
	if !strings.EqualFold(db, sqltable.KafkaDatabase) {
		return state.Topic{}, errDenied(c.sess, command, table)
	}
	t, ok := c.s.o.Store.Topics().ByName(table)
	if !ok || strings.HasPrefix(table, "__") {
		return state.Topic{}, sqlerr.NoTable(db, table)
	}
	return t, nil
}

// dropTables deletes topics: all of those that exist, and then tells of those that do not.
func (c *conn) dropTables(ctx *sql.Context, d *sqlparser.DDL) error {
	var topics []state.Topic
	var unknown []string
	for _, name := range d.FromTables {
		t, err := c.topic(ctx, name, auth.Delete, "DROP")
		var e *sqlerr.Error
		switch {
		case err == nil:
			topics = append(topics, t)
		case errors.As(err, &e) && e.Number == 1146:
			db := name.DbQualifier.String()
			if db == "" {
				db = ctx.GetCurrentDatabase()
			}
			unknown = append(unknown, db+"."+name.Name.String())
		default:
			return err
		}
	}
	for _, t := range topics {
		res, err := c.s.o.Store.Commit(ctx, state.DeleteTopic{ID: t.ID})
		if err != nil {
			return err
		}
		if r, ok := res.(state.TopicResult); ok && r.Err != nil && !errors.Is(r.Err, state.ErrUnknownTopic) {
			return fmt.Errorf("topic %s: %w", t.Name, r.Err)
		}
	}
	if len(unknown) > 0 {
		err := sqlerr.UnknownTable(strings.Join(unknown, ","))
		if !d.IfExists {
			return err
		}
		ctx.Warn(1051, "%s", err.Error())
	}
	return nil
}

// deleteBefore moves log starts up: partition → first offset that stays, -1 for its end; nil
// means the end of all of them.
func (c *conn) deleteBefore(ctx context.Context, t state.Topic, before map[int32]int64) error {
	var moves []state.LogStartMove
	if before == nil {
		for p := range t.Partitions {
			moves = append(moves, state.LogStartMove{TopicPartition: state.TopicPartition{Topic: t.ID, Partition: p}, Before: -1})
		}
	}
	for p, offset := range before {
		moves = append(moves, state.LogStartMove{TopicPartition: state.TopicPartition{Topic: t.ID, Partition: p}, Before: offset})
	}
	res, err := c.s.o.Store.Commit(ctx, state.AdvanceLogStart{Partitions: moves})
	if err != nil {
		return err
	}
	r, ok := res.(state.AdvanceLogStartResult)
	if !ok {
		return fmt.Errorf("topic %s: unexpected answer %T", t.Name, res)
	}
	for i, p := range r.Partitions {
		if p.Err != nil {
			return fmt.Errorf("topic %s partition %d: %w", t.Name, moves[i].Partition, p.Err)
		}
	}
	return nil
}

const deleteForm = "Only DELETE FROM topic WHERE _partition = P AND _offset < N, and TRUNCATE TABLE, remove records."

// deleteRecords carries out DELETE FROM t WHERE _partition = P AND _offset < N (or <=): Kafka's
// DeleteRecords. Any other DELETE is refused.
func (c *conn) deleteRecords(ctx *sql.Context, d *sqlparser.Delete, bindings map[string]sql.Expression) (*answer, bool, error) {
	refuse := sqlerr.AppendOnly("DELETE in this form", deleteForm)
	if len(d.TableExprs) != 1 || len(d.Targets) > 0 || d.With != nil || len(d.OrderBy) > 0 || d.Limit != nil {
		return nil, true, refuse
	}
	te, ok := d.TableExprs[0].(*sqlparser.AliasedTableExpr)
	if !ok {
		return nil, true, refuse
	}
	name, ok := te.Expr.(sqlparser.TableName)
	if !ok {
		return nil, true, refuse
	}
	t, err := c.topic(ctx, name, auth.Delete, "DELETE")
	if err != nil {
		return nil, true, err
	}
	if d.Where == nil {
		return okAnswer(0), true, c.deleteBefore(ctx, t, nil)
	}
	partition, before := int64(-1), int64(-1)
	if !deleteBounds(d.Where.Expr, bindings, &partition, &before) || partition < 0 || before < 0 || partition > math.MaxInt32 {
		return nil, true, refuse
	}
	tp := state.TopicPartition{Topic: t.ID, Partition: int32(partition)}
	bounds, err := c.s.o.Store.Bounds(tp)
	if err != nil {
		if errors.Is(err, state.ErrUnknownTopic) {
			return okAnswer(0), true, nil // no such partition: no rows
		}
		return nil, true, err
	}
	before = min(before, bounds.End)
	if before <= bounds.LogStart {
		return okAnswer(0), true, nil
	}
	if err := c.deleteBefore(ctx, t, map[int32]int64{tp.Partition: before}); err != nil {
		return nil, true, err
	}
	return okAnswer(uint64(before - bounds.LogStart)), true, nil
}

// deleteBounds reads the conjunction of _partition = P and _offset < N.
func deleteBounds(e sqlparser.Expr, bindings map[string]sql.Expression, partition, before *int64) bool {
	switch e := e.(type) {
	case *sqlparser.ParenExpr:
		return deleteBounds(e.Expr, bindings, partition, before)
	case *sqlparser.AndExpr:
		return deleteBounds(e.Left, bindings, partition, before) && deleteBounds(e.Right, bindings, partition, before)
	case *sqlparser.ComparisonExpr:
		col, ok := e.Left.(*sqlparser.ColName)
		if !ok {
			return false
		}
		v, ok := integer(e.Right, bindings)
		if !ok || v < 0 {
			return false
		}
		switch {
		case col.Name.EqualString("_partition") && e.Operator == sqlparser.EqualStr && *partition < 0:
			*partition = v
		case col.Name.EqualString("_offset") && e.Operator == sqlparser.LessThanStr && *before < 0:
			*before = v
		case col.Name.EqualString("_offset") && e.Operator == sqlparser.LessEqualStr && *before < 0 && v < math.MaxInt64:
			*before = v + 1
		default:
			return false
		}
		return true
	default:
		return false
	}
}
