package mysql

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"millrace/pushdown"
	"millrace/server/mysql/rewrite"
	"millrace/server/mysql/sqlerr"
	"millrace/server/mysql/wire"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// comQuery carries out COM_QUERY: one statement, or several if the client said that it understands
// several results. After an error the rest is dropped: the client has been told that nothing
// follows.
func (c *conn) comQuery(text string) error {
	if len(text) > c.s.o.MaxStatementBytes {
		return c.writeError(c.s.base, sqlerr.ErrTooLong)
	}
	multi := c.wc.Capabilities()&wire.MultiStatements != 0
	for {
		rest, failed, err := c.one(text, multi)
		if err != nil || failed || rest == "" || c.thread.isKilled() {
			return err
		}
		text = rest
	}
}

// one carries out the first statement of text and returns what follows it. failed: an error was
// answered. err ends the connection.
func (c *conn) one(text string, multi bool) (rest string, failed bool, err error) {
	r := c.begin(text)
	defer r.finish()
	defer func() {
		if p := recover(); p != nil {
			c.s.metrics.panics.Inc()
			c.s.log.Error("panic in a statement", "thread", c.thread.id, "statement", redacted(r.text), "panic", fmt.Sprint(p), "stack", stack())
			failed, err = true, c.writeError(c.s.base, sqlerr.ErrInternal)
		}
		r.done(failed || err != nil)
	}()
	stmt, first, rest, perr := c.parse(text, multi)
	if perr != nil {
		return "", true, c.writeError(r.ctx, perr)
	}
	r.text = first
	if !keepsWarnings(stmt) {
		c.sess.ClearWarnings()
	}
	if d, ok := hintedTimeout(stmt); ok {
		r.limitTo(d)
	}
	a, eerr := c.execute(r.ctx, stmt, first, nil)
	if eerr != nil {
		return "", true, c.writeError(r.ctx, eerr)
	}
	failed, err = c.write(r, a, false, rest != "")
	return rest, failed, err
}

// parse reads the first statement of text (or all of it, which must be one) and checks its size.
func (c *conn) parse(text string, multi bool) (stmt sqlparser.Statement, first, rest string, err error) {
	if blank(text) {
		return nil, "", "", sqlerr.ErrEmpty
	}
	if own, f, r, ok, err := c.parseAccount(text, multi); ok || err != nil {
		if err != nil {
			return nil, "", "", err
		}
		return own, f, r, nil
	}
	options := sqlparser.ParserOptions{}
	if mode, merr := c.sess.GetSessionVariable(nil, sql.SqlModeSessionVar); merr == nil {
		if m, ok := mode.(string); ok {
			options = sql.NewSqlModeFromString(m).ParserOptions()
		}
	}
	source, err := rewrite.Read(text, options.AnsiQuotes)
	if err != nil {
		return nil, "", "", err
	}
	if multi {
		source = source.WithoutStart("; \t\r\n") // an empty statement between two is none
	}
	stmt, first, rest, err = c.s.engine.Parser.ParseWithOptions(c.s.base, source.Text, ';', multi, options)
	if err != nil {
		if own, f, r, ok := parseOwn(c.s.forms, source.Text, multi); ok {
			return own, f, source.Rest(r), nil
		}
		for _, otherwise := range []func(bool) (*rewrite.Source, bool){source.QuotedNames, source.Chained} {
			other, ok := otherwise(options.AnsiQuotes)
			if !ok || err == nil {
				continue
			}
			if st, f, r, again := c.s.engine.Parser.ParseWithOptions(c.s.base, other.Text, ';', multi, options); again == nil {
				source, stmt, first, rest, err = other, st, f, r, nil
			}
		}
	}
	if err != nil {
		if errors.Is(err, sqlparser.ErrEmpty) {
			return nil, "", "", sqlerr.ErrEmpty
		}
		return nil, "", "", sql.ErrSyntaxError.New(syntaxMessage(err))
	}
	source.NameColumns(stmt)
	if d, ok := stmt.(*sqlparser.DDL); ok && d.ViewSpec != nil && d.OrReplace {
		d.IfExists = source.AltersView(options.AnsiQuotes)
	}
	if rest = source.Rest(rest); blank(rest) {
		rest = ""
	}
	if err := rewrite.CheckComplexity(stmt); err != nil {
		return nil, "", "", err
	}
	return stmt, first, rest, nil
}

// syntaxMessage puts the parser's words after MySQL's standard opening.
func syntaxMessage(err error) string {
	m := strings.TrimSpace(err.Error())
	if _, after, ok := strings.Cut(m, "\n"); ok {
		m = strings.TrimSpace(after)
	}
	m = strings.TrimPrefix(m, "syntax error ")
	return "check the manual that corresponds to your Millrace server version for the right syntax to use: " + m
}

// blank says whether text holds nothing but white space, comments and semicolons.
func blank(text string) bool {
	for {
		text = strings.TrimLeft(text, " \t\r\n\f\v;")
		switch {
		case text == "":
			return true
		case strings.HasPrefix(text, "#"), strings.HasPrefix(text, "--") && (len(text) == 2 || strings.ContainsAny(text[2:3], " \t\r\n")):
			i := strings.IndexByte(text, '\n')
			if i < 0 {
				return true
			}
			text = text[i+1:]
		case strings.HasPrefix(text, "/*") && !strings.HasPrefix(text, "/*!"):
			i := strings.Index(text[2:], "*/")
			if i < 0 {
				return true
			}
			text = text[i+4:]
		default:
			return false
		}
	}
}

// answer is the result of a statement: rows or columns, or an OK packet when schema is nil.
type answer struct {
	schema  sql.Schema
	iter    sql.RowIter
	columns *pushdown.Result // instead of iter
	origins origins
	found   *foundRows // is iter, of SQL_CALC_FOUND_ROWS; else nil
	ok      wire.OK
}

// close ends the rows. It may be called at any point and again.
func (a *answer) close(ctx *sql.Context) {
	if a.iter != nil {
		_ = a.iter.Close(ctx)
		a.iter = nil
	}
	if a.columns != nil {
		a.columns.Close()
		a.columns = nil
	}
}

// drain reads all rows and counts them.
func (a *answer) drain(ctx *sql.Context) (rows int64, err error) {
	for {
		if a.columns != nil {
			b, err := a.columns.Next(ctx)
			if errors.Is(err, io.EOF) {
				return rows, nil
			}
			if err != nil {
				return rows, err
			}
			rows += int64(b.Rows())
			continue
		}
		if _, err := next(ctx, a.iter); errors.Is(err, io.EOF) {
			return rows, nil
		} else if err != nil {
			return rows, err
		}
		rows++
	}
}

// rows is an answer from memory.
func rows(schema sql.Schema, r []sql.Row) *answer {
	return &answer{schema: schema, iter: sql.RowsToRowIter(r...)}
}

// execute carries out one parsed statement. bindings are the values of its parameters.
func (c *conn) execute(ctx *sql.Context, stmt sqlparser.Statement, text string, bindings map[string]sql.Expression) (_ *answer, err error) {
	if a, done, err := c.dispatch(ctx, stmt, text, bindings); done || err != nil {
		return a, err
	}
	found := withoutLimit(ctx, stmt, bindings)
	if err := c.rewrite(ctx, stmt); err != nil {
		return nil, err
	}
	if set, ok := stmt.(*sqlparser.Set); ok {
		defer c.checkZone(ctx, set)(&err)
		defer c.commitOnAutocommit(c.autocommit(), &err)
	}
	node, flags, err := c.s.engine.plan(ctx, stmt, text, bindings, c.s.engine.valueOf)
	if err != nil {
		if set, ok := stmt.(*sqlparser.Set); ok {
			return nil, setError(set, err)
		}
		return nil, err
	}
	show, isShow := stmt.(*sqlparser.Show)
	if err := checkPlan(ctx, node, isShow); err != nil {
		return nil, err
	}
	if found == nil {
		if a, err := c.inColumns(ctx, node, stmt); a != nil || err != nil {
			return a, err
		}
	}
	schema, iter, err := c.s.engine.run(ctx, node, flags)
	if err != nil {
		return nil, err
	}
	if isShow {
		if schema, iter, err = c.asMySQLShows(ctx, show, schema, iter); err != nil {
			return nil, err
		}
	}
	a := &answer{schema: schema, iter: iter}
	if found != nil {
		found.RowIter = iter
		a.iter, a.found = found, found
	}
	if !isShow {
		a.origins = originsOf(node)
	}
	if schema != nil && !types.IsOkResultSchema(schema) && len(schema) > 0 {
		return a, nil
	}
	defer a.close(ctx)
	a.schema = nil
	row, err := iter.Next(ctx)
	switch {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, err
	case types.IsOkResult(row):
		r := types.GetOkResult(row)
		a.ok = wire.OK{Affected: r.RowsAffected, InsertID: r.InsertID}
		if r.Info != nil {
			a.ok.Info = r.Info.String()
		}
	}
	return a, nil
}

// inColumns starts a SELECT all of which is carried out in columns; nil: the engine has to make rows.
func (c *conn) inColumns(ctx *sql.Context, node sql.Node, stmt sqlparser.Statement) (*answer, error) {
	if _, ok := stmt.(sqlparser.SelectStatement); !ok || !sendsText(ctx) {
		return nil, nil
	}
	res, err := c.s.o.Pushdown.Result(ctx, node)
	if err != nil || res == nil {
		return nil, err
	}
	return &answer{schema: node.Schema(), columns: res, origins: originsOf(node)}, nil
}

// rewrite changes stmt, in place, into what the engine answers right.
func (c *conn) rewrite(ctx *sql.Context, stmt sqlparser.Statement) error {
	return rewrite.Statement(ctx, stmt, namedTables{c.s})
}

// keepsWarnings says whether stmt shows the warnings of the one before it.
func keepsWarnings(stmt sqlparser.Statement) bool {
	switch s := stmt.(type) {
	case *sqlparser.Show:
		return strings.EqualFold(s.Type, "warnings")
	case *sqlparser.Select:
		return rewrite.CountsWarnings(s)
	case *ownStatement:
		return s.keepsWarnings
	default:
		return false
	}
}
