package mysql

import (
	"strings"
	"time"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// show answers the kinds of SHOW that are ours and refuses those that the engine does not know.
func (c *conn) show(ctx *sql.Context, s *sqlparser.Show) (*answer, bool, error) {
	switch strings.ToLower(s.Type) {
	case "processlist":
		return c.showProcesslist(s.Full), true, nil
	case "index":
		a, err := c.showIndex(ctx, s)
		return a, true, err
	case "warnings", "errors":
		a, err := c.showWarnings(s)
		return a, true, err
	case "binary log status", "binary logs", "replica status", "slave status":
		if !c.sess.isAdmin() {
			return nil, true, sqlerr.ErrNeedsAdmin
		}
		return rows(sql.Schema{{Name: "File", Type: types.LongText}}, nil), true, nil
	case "replicas":
		return rows(sql.Schema{textColumn("Server_Id"), textColumn("Host"), textColumn("Port"), textColumn("Source_Id"), textColumn("Replica_UUID")}, nil), true, nil
	case "create trigger", "create procedure", "create event", "create function":
		return nil, true, sqlerr.Unsupported("SHOW " + strings.ToUpper(s.Type))
	case "create view":
		a, err := c.showCreateView(ctx, s)
		return a, true, err
	case "fields", "columns":
		if v, ok := c.shownView(ctx, s); ok {
			a, err := c.showViewColumns(ctx, s, v)
			return a, true, err
		}
		return nil, false, nil
	case "create table":
		if _, ok := c.shownView(ctx, s); ok {
			a, err := c.showCreateView(ctx, s)
			return a, true, err
		}
		a, err := c.showCreateTable(ctx, s)
		return a, a != nil || err != nil, err
	case "table status":
		a, err := c.showTableStatus(ctx, s)
		return a, true, err
	case "variables":
		if s.Filter == nil || s.Filter.Filter == nil {
			return nil, false, nil
		}
		a, err := c.showVariablesWhere(ctx, s)
		return a, true, err
	case "create database", "create schema", "triggers", "events",
		"procedure status", "function status", "tables", "databases", "schemas",
		"collation", "charset", "engines", "status", "plugins":
		return nil, false, nil
	default:
		return nil, true, sqlerr.Unsupported("SHOW " + strings.ToUpper(s.Type))
	}
}

// showVariablesWhere answers SHOW VARIABLES WHERE over performance_schema: the engine's own knows no condition on values, which are
// others than those that are shown.
func (c *conn) showVariablesWhere(ctx *sql.Context, s *sqlparser.Show) (*answer, error) {
	table := "session_variables"
	if strings.EqualFold(s.Scope, "global") {
		table = "global_variables"
	}
	text := "SELECT * FROM (SELECT VARIABLE_NAME COLLATE utf8mb4_0900_ai_ci AS `Variable_name`, VARIABLE_VALUE COLLATE utf8mb4_0900_ai_ci AS `Value` " +
		"FROM performance_schema." + table + ") AS `" + table + "` WHERE " + sqlparser.String(s.Filter.Filter) + " ORDER BY 1"
	stmt, err := sqlparser.Parse(text)
	if err != nil {
		return nil, sql.ErrSyntaxError.New(strings.TrimSpace(err.Error()))
	}
	return c.execute(ctx, stmt, text, nil)
}

func textColumn(name string) *sql.Column {
	return &sql.Column{Name: name, Type: types.LongText, Nullable: true}
}

func (c *conn) showProcesslist(full bool) *answer {
	schema := sql.Schema{
		{Name: "Id", Type: types.Uint64},
		textColumn("User"), textColumn("Host"), textColumn("db"), textColumn("Command"),
		{Name: "Time", Type: types.Int64},
		textColumn("State"), textColumn("Info"),
	}
	var out []sql.Row
	for _, t := range c.visibleThreads() {
		var db, info any
		if t.db != "" {
			db = t.db
		}
		if t.info != "" {
			s := t.info
			if !full && len(s) > 100 {
				s = strings.ToValidUTF8(s[:100], "")
			}
			info = s
		}
		state := ""
		if t.command != "Sleep" {
			state = "executing"
		}
		out = append(out, sql.Row{uint64(t.id), t.user, t.host, db, t.command, int64(time.Since(t.since) / time.Second), state, info})
	}
	return rows(schema, out)
}

// showWarnings answers SHOW WARNINGS and SHOW ERRORS, and their COUNT(*).
func (c *conn) showWarnings(s *sqlparser.Show) (*answer, error) {
	onlyErrors := strings.EqualFold(s.Type, "errors")
	all := c.sess.Warnings() // the newest first
	var out []sql.Row
	for i := len(all) - 1; i >= 0; i-- {
		w := all[i]
		if onlyErrors && w.Level != "Error" {
			continue
		}
		out = append(out, sql.Row{w.Level, int64(w.Code), w.Message})
	}
	if s.CountStar {
		name := "@@session.warning_count"
		if onlyErrors {
			name = "@@session.error_count"
		}
		return rows(sql.Schema{{Name: name, Type: types.Int64}}, []sql.Row{{int64(len(out))}}), nil
	}
	if s.Limit != nil {
		from, n := int64(0), int64(len(out))
		if s.Limit.Offset != nil {
			v, ok := integer(s.Limit.Offset, nil)
			if !ok {
				return nil, sqlerr.New(1064, "42000", "SHOW WARNINGS LIMIT needs numbers")
			}
			from = v
		}
		if s.Limit.Rowcount != nil {
			v, ok := integer(s.Limit.Rowcount, nil)
			if !ok {
				return nil, sqlerr.New(1064, "42000", "SHOW WARNINGS LIMIT needs numbers")
			}
			n = v
		}
		from = min(from, int64(len(out)))
		out = out[from:min(int64(len(out)), from+n)]
	}
	return rows(sql.Schema{textColumn("Level"), {Name: "Code", Type: types.Int64}, textColumn("Message")}, out), nil
}

// shownTable is the table that a SHOW is about.
func (c *conn) shownTable(ctx *sql.Context, s *sqlparser.Show) (sql.Table, error) {
	db := s.Database
	if db == "" {
		db = s.Table.DbQualifier.String()
	}
	if db == "" {
		db = ctx.GetCurrentDatabase()
	}
	return c.s.engine.table(ctx, db, s.Table.Name.String())
}

// showIndex answers SHOW INDEX and its synonyms from the primary key that a table reports.
func (c *conn) showIndex(ctx *sql.Context, s *sqlparser.Show) (*answer, error) {
	t, err := c.shownTable(ctx, s)
	if err != nil {
		return nil, err
	}
	schema := sql.Schema{
		textColumn("Table"),
		{Name: "Non_unique", Type: types.Int64},
		textColumn("Key_name"),
		{Name: "Seq_in_index", Type: types.Int64},
		textColumn("Column_name"), textColumn("Collation"),
		{Name: "Cardinality", Type: types.Int64, Nullable: true},
		{Name: "Sub_part", Type: types.Int64, Nullable: true},
		textColumn("Packed"), textColumn("Null"), textColumn("Index_type"),
		textColumn("Comment"), textColumn("Index_comment"), textColumn("Visible"), textColumn("Expression"),
	}
	var out []sql.Row
	seq := int64(0)
	for _, col := range t.Schema() {
		if !col.PrimaryKey {
			continue
		}
		seq++
		if matchesIndexFilter(s.ShowIndexFilterOpt, map[string]string{"key_name": "PRIMARY", "column_name": col.Name}) {
			out = append(out, sql.Row{t.Name(), int64(0), "PRIMARY", seq, col.Name, "A", nil, nil, nil, "", "BTREE", "", "", "YES", nil})
		}
	}
	return rows(schema, out), nil
}

// matchesIndexFilter evaluates the conjunctions of column = 'text' that tools write after SHOW INDEX;
// what it does not know matches, so that nothing is hidden.
func matchesIndexFilter(e sqlparser.Expr, cells map[string]string) bool {
	switch e := e.(type) {
	case *sqlparser.AndExpr:
		return matchesIndexFilter(e.Left, cells) && matchesIndexFilter(e.Right, cells)
	case *sqlparser.ComparisonExpr:
		col, ok := e.Left.(*sqlparser.ColName)
		if !ok {
			return true
		}
		have, known := cells[col.Name.Lowered()]
		want, isText := text(e.Right, nil)
		if !known || !isText {
			return true
		}
		switch e.Operator {
		case sqlparser.EqualStr:
			return strings.EqualFold(have, want)
		case sqlparser.NotEqualStr:
			return !strings.EqualFold(have, want)
		}
	}
	return true
}

// columnCollations puts right what the engine tells of collations in SHOW COLUMNS.
func (c *conn) columnCollations(ctx *sql.Context, s *sqlparser.Show, iter sql.RowIter) (sql.RowIter, error) {
	t, err := c.shownTable(ctx, s)
	if err != nil {
		return nil, err
	}
	out := &collationIter{RowIter: iter, collations: make(map[string]string)}
	for _, col := range t.Schema() {
		if text, ok := col.Type.(sql.TypeWithCollation); ok && types.IsTextOnly(col.Type) {
			out.collations[col.Name] = text.Collation().Name()
		}
	}
	return out, nil
}

// collationIter changes the rows of SHOW COLUMNS: types without collation, as MySQL shows them, and with
// FULL each column's own.
type collationIter struct {
	sql.RowIter
	collations map[string]string
}

func (it *collationIter) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := it.RowIter.Next(ctx)
	if err != nil || len(row) < 6 {
		return row, err
	}
	name, _ := row[0].(string)
	collation, ok := it.collations[name]
	if !ok {
		return row, nil
	}
	row = row.Copy()
	if typ, ok := row[1].(string); ok {
		typ, _, _ = strings.Cut(typ, " CHARACTER SET ")
		row[1], _, _ = strings.Cut(typ, " COLLATE ")
	}
	if len(row) >= 9 {
		row[2] = collation
	}
	return row, nil
}
