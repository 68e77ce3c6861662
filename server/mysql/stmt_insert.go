package mysql

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"millrace/catalog"
	"millrace/catalog/sqltable"
	"millrace/ingest"
	"millrace/server/auth"
	"millrace/server/mysql/rowrecord"
	"millrace/server/mysql/sqlerr"
	"millrace/server/mysql/wire"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/shopspring/decimal"
)

// insert carries out INSERT … VALUES and INSERT … SELECT: every row is a record, and the statement is one
// transaction, its own or the session's.
func (c *conn) insert(ctx *sql.Context, s *sqlparser.Insert, text string, bindings map[string]sql.Expression) (*answer, error) {
	if err := checkInsert(s); err != nil {
		return nil, err
	}
	table, err := c.insertTable(ctx, s.Table)
	if err != nil {
		return nil, err
	}
	topic, err := c.s.o.Ingest.Topic(table.Topic)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, n := range s.Columns {
		names = append(names, n.String())
	}
	sink := &insertSink{c: c, topic: topic}
	info := ""
	switch rows := s.Rows.(type) {
	case *sqlparser.AliasedValues:
		if len(names) == 0 && len(rows.Values) > 0 && len(rows.Values[0]) == 0 {
			names = []string{} // INSERT INTO t VALUES (): defaults alone
		}
		if sink.target, err = rowrecord.NewTarget(ctx, table, names, len(rows.Values[0])); err == nil {
			err = c.insertValues(ctx, sink, rows.Values, text, bindings)
		}
		if len(rows.Values) > 1 {
			info = "Records: %d  Duplicates: 0  Warnings: 0"
		}
	case sqlparser.SelectStatement:
		if names != nil {
			sink.target, err = rowrecord.NewTarget(ctx, table, names, len(names))
		}
		if err == nil {
			err = c.insertSelect(ctx, sink, table, rows, text, bindings)
		}
		info = "Records: %d  Duplicates: 0  Warnings: 0"
	default:
		return nil, sqlerr.Unsupported("INSERT in this form")
	}
	if err = sink.end(ctx, err); err != nil {
		return nil, insertError(err)
	}
	ok := wire.OK{Affected: uint64(sink.rows)}
	if info != "" {
		ok.Info = strings.Replace(info, "%d", strconv.FormatInt(sink.rows, 10), 1)
	}
	return &answer{ok: ok}, nil
}

// checkInsert refuses what a log cannot do.
func checkInsert(s *sqlparser.Insert) error {
	switch {
	case strings.EqualFold(s.Action, sqlparser.ReplaceStr):
		return sqlerr.AppendOnly("REPLACE", "INSERT a record of the same key: `topic$latest` shows the newest of each key.")
	case len(s.OnDup) > 0:
		return sqlerr.AppendOnly("ON DUPLICATE KEY UPDATE", "INSERT a record of the same key: `topic$latest` shows the newest of each key.")
	case s.Ignore != "":
		return sqlerr.Instead("INSERT IGNORE", "Rows that do not fit fail the whole statement, and nothing is written.")
	case len(s.Partitions) > 0:
		return sqlerr.Instead("INSERT … PARTITION", "Give a value for _partition.")
	case len(s.Returning) > 0:
		return sqlerr.Unsupported("INSERT … RETURNING")
	case s.With != nil:
		return sqlerr.Instead("WITH before INSERT", "Write INSERT INTO t WITH … SELECT.")
	}
	return nil
}

// insertTable binds the topic that a name means, if the session may write to it.
func (c *conn) insertTable(ctx *sql.Context, name sqlparser.TableName) (*catalog.Table, error) {
	t, err := c.topic(ctx, name, auth.Write, "INSERT")
	if err != nil {
		var e *sqlerr.Error
		_, view := c.s.view(name.Name.String())
		if errors.As(err, &e) && e.Number == 1146 && (view || strings.Contains(name.Name.String(), "$")) {
			return nil, sqlerr.New(1471, "HY000", "The target table %s of the INSERT is not insertable-into", name.Name.String())
		}
		return nil, err
	}
	table, err := sqltable.StatementFrom(ctx).Bind(ctx, t.Name)
	if errors.Is(err, state.ErrUnknownTopic) {
		return nil, sqlerr.NoTable(sqltable.KafkaDatabase, t.Name)
	}
	return table, err
}

// insertBufferBytes is how much of a statement is kept before it is written. What fits is one commit of the log
// without a transaction's frames; a larger statement becomes a transaction.
const insertBufferBytes = 4 << 20

// insertSink takes a statement's rows and writes them.
type insertSink struct {
	c       *conn
	topic   *ingest.Topic
	target  *rowrecord.Target
	records []ingest.Record
	bytes   int
	rows    int64
	own     *transaction // begun because the statement is large
	flushed bool         // something of the statement is in the session's transaction
}

// add takes one row.
func (k *insertSink) add(ctx *sql.Context, row []rowrecord.Cell) error {
	if len(row) != k.target.Width() {
		return sqlerr.New(1136, "21S01", "Column count doesn't match value count at row %d", k.rows+1)
	}
	r, err := k.target.Record(row, k.rows+1)
	if err != nil {
		return err
	}
	k.rows++
	k.records = append(k.records, r)
	k.bytes += len(r.Key) + len(r.Value) + 100
	for _, h := range r.Headers {
		k.bytes += len(h.Key) + len(h.Value) + 50
	}
	if k.bytes >= insertBufferBytes {
		return k.flush(ctx)
	}
	return nil
}

// flush writes what was taken into a transaction.
func (k *insertSink) flush(ctx *sql.Context) error {
	if len(k.records) == 0 {
		return nil
	}
	var tx *transaction
	var err error
	switch {
	case k.c.inTransaction():
		if k.c.work.tx == nil {
			if k.c.work.tx, err = k.c.s.beginTransaction(ctx); err != nil {
				return err
			}
		}
		tx = k.c.work.tx
	default:
		if k.own == nil {
			if k.own, err = k.c.s.beginTransaction(ctx); err != nil {
				return err
			}
		}
		tx = k.own
	}
	if err := tx.Append(ctx, k.topic, k.records); err != nil {
		return err
	}
	if tx == k.c.work.tx {
		k.flushed = true
	}
	k.records, k.bytes = k.records[:0], 0
	return nil
}

// end writes the rest, or, if the rows ended with an error, drops everything.
func (k *insertSink) end(ctx *sql.Context, err error) error {
	if err == nil {
		err = k.write(ctx)
	}
	if k.own != nil {
		if err != nil {
			return errors.Join(err, k.c.s.endTransaction(k.own, false))
		}
		return k.c.s.endTransaction(k.own, true)
	}
	if err == nil {
		if k.c.inTransaction() && k.rows > 0 {
			k.c.work.statements++
		}
		return nil
	}
	if tx := k.c.work.tx; tx != nil && (k.flushed || tx.Err() != nil) {
		// A part of the statement is in the session's transaction, from which nothing can be taken back.
		explicit := k.c.work.explicit
		rerr := k.c.endWork(false)
		k.c.work.explicit = explicit
		number, sqlState, message := sqlerr.Classify(insertError(err))
		return errors.Join(sqlerr.New(number, sqlState, "%s (the whole transaction was rolled back)", message), rerr)
	}
	return err
}

func (k *insertSink) write(ctx *sql.Context) error {
	if k.own != nil || k.c.inTransaction() {
		return k.flush(ctx)
	}
	if len(k.records) == 0 {
		return nil
	}
	_, err := k.c.s.o.Ingest.Append(ctx, k.topic, k.records)
	return err
}

// insertError words what the data path says of records in MySQL's numbers.
func insertError(err error) error {
	var own *sqlerr.Error
	switch {
	case errors.As(err, &own):
		return err
	case errors.Is(err, ingest.ErrMessageTooLarge):
		return sqlerr.New(1406, "22001", "Data too long: %v", err)
	case errors.Is(err, ingest.ErrInvalidTimestamp):
		return sqlerr.New(1292, "22007", "Incorrect datetime value for column '_timestamp': %v", err)
	case errors.Is(err, ingest.ErrInvalidRecord):
		return sqlerr.New(1366, "HY000", "Incorrect value: %v", err)
	default:
		return err
	}
}

// insertValues takes the rows of VALUES.
func (c *conn) insertValues(ctx *sql.Context, sink *insertSink, values sqlparser.Values, text string, bindings map[string]sql.Expression) error {
	row := make([]rowrecord.Cell, sink.target.Width())
	for i, tuple := range values {
		if len(tuple) != len(row) {
			return sqlerr.New(1136, "21S01", "Column count doesn't match value count at row %d", i+1)
		}
		if i%1000 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := c.valuesRow(ctx, tuple, row, text, bindings); err != nil {
			return err
		}
		if err := sink.add(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// valuesRow computes one row of VALUES: literals and parameters at once, all else by a SELECT without tables.
func (c *conn) valuesRow(ctx *sql.Context, tuple sqlparser.ValTuple, row []rowrecord.Cell, text string, bindings map[string]sql.Expression) error {
	var sel sqlparser.SelectExprs
	var at []int
	for i, e := range tuple {
		row[i] = rowrecord.Cell{}
		if d, ok := e.(*sqlparser.Default); ok {
			if d.ColName != "" {
				return sqlerr.Unsupported("DEFAULT(column)")
			}
			continue
		}
		row[i].Given = true
		if v, typ, ok := constant(e, bindings); ok {
			row[i].Value, row[i].From = v, typ
			continue
		}
		sel, at = append(sel, &sqlparser.AliasedExpr{Expr: e}), append(at, i)
	}
	if len(sel) == 0 {
		return nil
	}
	return c.eachRow(ctx, &sqlparser.Select{SelectExprs: sel}, text, bindings, func(schema sql.Schema, got sql.Row) error {
		for k, i := range at {
			row[i].Value, row[i].From = got[k], schema[k].Type
		}
		return nil
	})
}

// constant is the value of an expression that needs no engine. Numbers stay text, to lose no digit.
func constant(e sqlparser.Expr, bindings map[string]sql.Expression) (v any, t sql.Type, ok bool) {
	switch e := e.(type) {
	case *sqlparser.NullVal:
		return nil, types.Null, true
	case sqlparser.BoolVal:
		if e {
			return int8(1), types.Boolean, true
		}
		return int8(0), types.Boolean, true
	case *sqlparser.UnaryExpr:
		if e.Operator != sqlparser.UMinusStr && e.Operator != sqlparser.UPlusStr {
			return nil, nil, false
		}
		lit, isLit := e.Expr.(*sqlparser.SQLVal)
		if !isLit || lit.Type != sqlparser.IntVal && lit.Type != sqlparser.FloatVal {
			return nil, nil, false
		}
		v, t, ok := constant(lit, nil)
		n, is := v.(decimal.Decimal)
		if !ok || !is {
			return nil, nil, false
		}
		if e.Operator == sqlparser.UMinusStr {
			n = n.Neg()
		}
		return n, t, true
	case *sqlparser.SQLVal:
		switch e.Type {
		case sqlparser.StrVal:
			return string(e.Val), types.LongText, true
		case sqlparser.IntVal:
			if n, rest, ok := rowrecord.LeadingNumber(string(e.Val)); ok && rest == "" {
				return n, types.InternalDecimalType, true
			}
			return string(e.Val), types.LongText, true
		case sqlparser.FloatVal:
			if n, rest, ok := rowrecord.LeadingNumber(string(e.Val)); ok && rest == "" && !strings.ContainsAny(string(e.Val), "eE") {
				return n, types.InternalDecimalType, true
			}
			return nil, nil, false
		case sqlparser.ValArg:
			b, bound := bindings[strings.TrimPrefix(string(e.Val), ":")]
			if lit, is := b.(*expression.Literal); bound && is {
				return lit.Value(), lit.Type(), true
			}
		}
	}
	return nil, nil, false
}

// insertSelect takes the rows of a query. Where no columns are named, it says how many values there are.
func (c *conn) insertSelect(ctx *sql.Context, sink *insertSink, table *catalog.Table, stmt sqlparser.SelectStatement, text string, bindings map[string]sql.Expression) error {
	node, flags, err := c.planQuery(ctx, stmt, text, bindings)
	if err != nil {
		return err
	}
	given := len(node.Schema())
	if sink.target == nil {
		if sink.target, err = rowrecord.NewTarget(ctx, table, nil, given); err != nil {
			return err
		}
	}
	row := make([]rowrecord.Cell, sink.target.Width())
	if given != len(row) {
		return sqlerr.New(1136, "21S01", "Column count doesn't match value count at row 1")
	}
	return c.eachPlanned(ctx, node, flags, func(schema sql.Schema, got sql.Row) error {
		for i, v := range got {
			row[i] = rowrecord.Cell{Given: true, Value: v, From: schema[i].Type}
		}
		return sink.add(ctx, row)
	})
}

// eachRow carries out a query and calls fn with its rows.
func (c *conn) eachRow(ctx *sql.Context, stmt sqlparser.SelectStatement, text string, bindings map[string]sql.Expression, fn func(sql.Schema, sql.Row) error) error {
	node, flags, err := c.planQuery(ctx, stmt, text, bindings)
	if err != nil {
		return err
	}
	return c.eachPlanned(ctx, node, flags, fn)
}

// planQuery plans a query that is a part of another statement.
func (c *conn) planQuery(ctx *sql.Context, stmt sqlparser.SelectStatement, text string, bindings map[string]sql.Expression) (sql.Node, *sql.QueryFlags, error) {
	if err := checkSelect(stmt); err != nil {
		return nil, nil, err
	}
	if err := c.rewrite(ctx, stmt); err != nil {
		return nil, nil, err
	}
	node, flags, err := c.s.engine.plan(ctx, stmt, text, bindings, c.s.engine.valueOf)
	if err != nil {
		return nil, nil, err
	}
	return node, flags, checkPlan(ctx, node, false)
}

// eachPlanned carries out a plan and calls fn with its rows.
func (c *conn) eachPlanned(ctx *sql.Context, node sql.Node, flags *sql.QueryFlags, fn func(sql.Schema, sql.Row) error) error {
	schema, iter, err := c.s.engine.run(ctx, node, flags)
	if err != nil {
		return err
	}
	a := &answer{schema: schema, iter: iter}
	defer a.close(ctx)
	for {
		row, err := next(ctx, iter)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := fn(schema, row); err != nil {
			return err
		}
	}
}
