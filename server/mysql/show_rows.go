package mysql

import (
	"crypto/tls"
	"fmt"
	"strconv"
	"strings"

	"millrace/catalog/sqltable"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// showHeaders are MySQL's names of columns that the engine calls something else, by kind of SHOW.
var showHeaders = map[string][]string{
	"collation": {"Collation", "Charset", "Id", "Default", "Compiled", "Sortlen", "Pad_attribute"},
}

// asMySQLShows puts right what the engine tells in answer to a SHOW. It owns iter, also when it fails.
func (c *conn) asMySQLShows(ctx *sql.Context, s *sqlparser.Show, schema sql.Schema, iter sql.RowIter) (sql.Schema, sql.RowIter, error) {
	kind := strings.ToLower(s.Type)
	if names := showHeaders[kind]; len(names) == len(schema) {
		schema = schema.Copy() // the engine's own belongs to all statements
		for i, name := range names {
			if name != "" {
				schema[i].Name = name
			}
		}
	}
	var err error
	switch kind {
	case "columns", "fields":
		var fixed sql.RowIter
		if fixed, err = c.columnCollations(ctx, s, iter); err == nil {
			iter = fixed
		}
	case "create table":
		var fixed sql.RowIter
		if fixed, err = c.createTableText(ctx, s, iter); err == nil {
			iter = fixed
		}
	case "tables":
		if o := s.ShowTablesOpt; o != nil && o.Filter != nil && o.Filter.Like != "" && len(schema) > 0 {
			schema = schema.Copy()
			schema[0].Name += " (" + o.Filter.Like + ")"
		}
	case "status":
		iter = &mappedIter{iter, c.statusValue}
	case "variables":
		iter = &mappedIter{iter, switchValue}
	case "plugins":
		schema, iter = pluginRows(schema, iter)
	}
	if err != nil {
		_ = iter.Close(ctx)
		return nil, nil, err
	}
	return schema, iter, nil
}

// mappedIter changes rows; change may return its argument, but must not write to it.
type mappedIter struct {
	sql.RowIter
	change func(sql.Row) sql.Row
}

func (it *mappedIter) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := it.RowIter.Next(ctx)
	if err != nil {
		return nil, err
	}
	return it.change(row), nil
}

// createTableText says in SHOW CREATE TABLE which columns * leaves out, and that a TIMESTAMP may be NULL, which
// without a word it may not.
func (c *conn) createTableText(ctx *sql.Context, s *sqlparser.Show, iter sql.RowIter) (sql.RowIter, error) {
	t, err := c.shownTable(ctx, s)
	if err != nil {
		return nil, err
	}
	suffixes := make(map[string]string)
	for _, col := range t.Schema() {
		suffix := ""
		if col.Nullable && types.IsTimestampType(col.Type) {
			suffix = " NULL"
		}
		if sqltable.Invisible(col) {
			suffix += " /*!80023 INVISIBLE */"
		}
		suffixes["  `"+strings.ReplaceAll(col.Name, "`", "``")+"` "] = suffix
	}
	return &mappedIter{iter, func(row sql.Row) sql.Row {
		if len(row) < 2 {
			return row
		}
		text, ok := row[1].(string)
		if !ok {
			return row
		}
		// Names may hold line ends, so columns are not looked for by lines: those after the one that is
		// described begin behind its comma.
		var b strings.Builder
		lines := strings.Split(text, ",\n")
		for i, line := range lines {
			head, tail := "", line
			if i == 0 {
				head, tail, _ = strings.Cut(line, "(\n")
				head += "(\n"
			}
			b.WriteString(head)
			suffix := ""
			if end := strings.Index(tail, "` "); end >= 0 {
				suffix = suffixes[tail[:end+2]]
			}
			definition, rest, last := strings.Cut(tail, "\n)")
			b.WriteString(definition + suffix)
			if last {
				b.WriteString("\n)" + rest)
			}
			if i < len(lines)-1 {
				b.WriteString(",\n")
			}
		}
		row = row.Copy()
		row[1] = b.String()
		return row
	}}, nil
}

// statusValue fills in the values of SHOW STATUS that the server knows and the engine does not.
func (c *conn) statusValue(row sql.Row) sql.Row {
	if len(row) != 2 {
		return row
	}
	name, _ := row[0].(string)
	var value string
	switch name {
	case "Threads_connected":
		value = strconv.Itoa(c.threadCount(func(*thread) bool { return true }))
	case "Threads_running":
		value = strconv.Itoa(c.threadCount((*thread).isRunning))
	case "Ssl_cipher", "Ssl_version":
		state, ok := c.wc.TLSState()
		if !ok {
			return row
		}
		value = tls.VersionName(state.Version)
		if name == "Ssl_cipher" {
			value = tls.CipherSuiteName(state.CipherSuite)
		} else {
			value = strings.Replace(value, "TLS ", "TLSv", 1)
		}
	default:
		return row
	}
	return sql.Row{name, value}
}

// threadCount is the number of connections, of all users, for which has is true.
func (c *conn) threadCount(has func(*thread) bool) int {
	n := 0
	c.s.threads.each(func(t *thread) {
		if has(t) {
			n++
		}
	})
	return n
}

// switchValue says ON or OFF of a variable that is a switch; @@name of the same is 1 or 0.
func switchValue(row sql.Row) sql.Row {
	if len(row) != 2 {
		return row
	}
	name, _ := row[0].(string)
	v, _, ok := sql.SystemVariables.GetGlobal(name)
	if !ok {
		return row
	}
	if _, ok := v.GetType().(types.SystemBoolType); !ok {
		return row
	}
	switch fmt.Sprint(row[1]) {
	case "1", "true":
		return sql.Row{row[0], "ON"}
	case "0", "false":
		return sql.Row{row[0], "OFF"}
	}
	return row
}

// pluginRows are the columns of information_schema.plugins that SHOW PLUGINS has, under its names.
func pluginRows(schema sql.Schema, iter sql.RowIter) (sql.Schema, sql.RowIter) {
	from := map[string]string{"PLUGIN_NAME": "Name", "PLUGIN_STATUS": "Status", "PLUGIN_TYPE": "Type", "PLUGIN_LIBRARY": "Library", "PLUGIN_LICENSE": "License"}
	var out sql.Schema
	var at []int
	for i, c := range schema {
		if name, ok := from[c.Name]; ok {
			c = c.Copy()
			c.Name = name
			out, at = append(out, c), append(at, i)
		}
	}
	if len(out) != len(from) {
		return schema, iter
	}
	return out, &mappedIter{iter, func(row sql.Row) sql.Row {
		short := make(sql.Row, len(at))
		for i, from := range at {
			short[i] = row[from]
		}
		return short
	}}
}
