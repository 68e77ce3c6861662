package mysql

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"millrace/server/mysql/rewrite"
	"millrace/server/mysql/sqlerr"
	"millrace/server/mysql/wire"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

const (
	// maxPrepared statements of one connection, and maxCursors open ones.
	maxPrepared = 4096
	maxCursors  = 64
	// maxPreparedBytes of one connection: the texts of its prepared statements, and what
	// COM_STMT_SEND_LONG_DATA piles up on them.
	maxPreparedBytes = 16 << 20
)

var errTooManyStmts = sqlerr.New(1461, "42000", "Can't create more than max_prepared_stmt_count statements (current value: %d)", maxPrepared)

// prepared is a prepared statement. It is kept as text and bound anew at each execution, so that
// it sees the columns of that moment.
type prepared struct {
	id     uint32
	text   string
	params int
	types  []uint16
	long   map[uint16][]byte // COM_STMT_SEND_LONG_DATA
	longer int               // bytes in long
	cursor *cursor           // open, or nil
}

// cursor is a result that the client fetches in parts.
type cursor struct {
	r     *running
	a     *answer
	e     *encoder
	w     *columnWriter // instead of e, for a result in columns
	ahead sql.Row       // next row to send; nil with err
	err   error         // io.EOF at the end
	idle  time.Time     // since when nothing was fetched
}

// keeps says whether the connection may keep so many more bytes of prepared statements.
func (c *conn) keeps(bytes int) bool { return c.preparedBytes+bytes <= maxPreparedBytes }

// keep counts a prepared statement; drop ends what it has and counts it no more.
func (c *conn) keep(p *prepared) { c.preparedBytes += len(p.text) }

func (c *conn) drop(p *prepared) {
	c.closeCursor(p)
	c.dropLong(p)
	c.preparedBytes -= len(p.text)
}

// dropLong forgets what COM_STMT_SEND_LONG_DATA brought.
func (c *conn) dropLong(p *prepared) {
	c.preparedBytes -= p.longer
	p.long, p.longer = nil, 0
}

func (c *conn) dropStatements() {
	for _, p := range c.prepared {
		c.drop(p)
	}
	for _, p := range c.named {
		c.drop(p)
	}
	clear(c.prepared)
	clear(c.named)
}

// expireCursors waits for the next command while cursors are open, and closes those from which
// nothing was fetched for CursorTimeout: each holds a snapshot, and that the store's files.
func (c *conn) expireCursors() {
	for c.cursors > 0 && c.s.base.Err() == nil {
		first := time.Now().Add(c.s.o.CursorTimeout)
		for _, p := range c.prepared {
			if p.cursor != nil && p.cursor.idle.Add(c.s.o.CursorTimeout).Before(first) {
				first = p.cursor.idle.Add(c.s.o.CursorTimeout)
			}
		}
		_ = c.wc.SetReadDeadline(first)
		err := c.wc.WaitReadable()
		if c.s.base.Err() != nil {
			return // and the deadline stays, which Close has set
		}
		_ = c.wc.SetReadDeadline(time.Time{})
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return // a command, or the connection's end
		}
		for _, p := range c.prepared {
			if p.cursor != nil && time.Since(p.cursor.idle) >= c.s.o.CursorTimeout {
				c.s.log.Debug("cursor closed: nothing was fetched", "thread", c.thread.id, "statement", redacted(p.text))
				c.closeCursor(p)
			}
		}
	}
}

func (c *conn) closeCursor(p *prepared) {
	cur := p.cursor
	if cur == nil {
		return
	}
	p.cursor = nil
	c.cursors--
	cur.a.close(cur.r.ctx)
	cur.r.finish()
}

// prepare checks a statement and counts its parameters.
func (c *conn) prepare(text string) (*prepared, sqlparser.Statement, error) {
	if len(text) > c.s.o.MaxStatementBytes {
		return nil, nil, sqlerr.ErrTooLong
	}
	stmt, _, rest, err := c.parse(text, true)
	if err != nil {
		return nil, nil, err
	}
	if rest != "" {
		return nil, nil, sqlerr.ErrNoMultiple
	}
	if !c.keeps(len(text)) {
		return nil, nil, errTooManyStmts
	}
	n := countParams(stmt)
	if n > 1<<16-1 {
		return nil, nil, sqlerr.New(1390, "HY000", "Prepared statement contains too many placeholders")
	}
	return &prepared{text: text, params: n}, stmt, nil
}

func (c *conn) stmtPrepare(text string) (err error) {
	if len(c.prepared) >= maxPrepared {
		return c.writeError(c.s.base, errTooManyStmts)
	}
	r := c.begin(text)
	defer r.finish()
	defer func() {
		if p := recover(); p != nil {
			c.s.metrics.panics.Inc()
			c.s.log.Error("panic in PREPARE", "thread", c.thread.id, "statement", redacted(text), "panic", fmt.Sprint(p), "stack", stack())
			err = c.writeError(c.s.base, sqlerr.ErrInternal)
		}
	}()
	p, stmt, err := c.prepare(text)
	if err != nil {
		return c.writeError(r.ctx, err)
	}
	cols, err := c.describe(r.ctx, stmt, text)
	if err != nil {
		return c.writeError(r.ctx, err)
	}
	c.lastStmtID++
	p.id = c.lastStmtID
	c.prepared[p.id] = p
	c.keep(p)
	return c.wc.WritePrepared(p.id, p.params, cols, c.status())
}

// describe returns the columns that a statement will have, as far as they are known before its
// parameters are; none for what answers without rows.
func (c *conn) describe(ctx *sql.Context, stmt sqlparser.Statement, text string) ([]wire.Column, error) {
	switch stmt.(type) {
	case sqlparser.SelectStatement:
	default:
		return nil, nil // rows of SHOW and the like are described when it is executed
	}
	if err := checkSelect(stmt); err != nil {
		return nil, err
	}
	rewrite.AsOfAnyTime(stmt)
	if err := c.rewrite(ctx, stmt); err != nil {
		return nil, err
	}
	node, _, err := c.s.engine.plan(ctx, stmt, text, nil, nil)
	if err != nil {
		return nil, err
	}
	schema := node.Schema()
	if types.IsOkResultSchema(schema) {
		return nil, nil
	}
	cols := columns(ctx, schema)
	originsOf(node).name(cols)
	return cols, nil
}

func (c *conn) find(args []byte) (*prepared, []byte, error) {
	id, rest, err := wire.StatementID(args)
	if err != nil {
		return nil, nil, sqlerr.ErrMalformed
	}
	p, ok := c.prepared[id]
	if !ok {
		return nil, nil, sqlerr.ErrUnknownPrepared
	}
	return p, rest, nil
}

func (c *conn) stmtExecute(args []byte) (err error) {
	p, rest, err := c.find(args)
	if err != nil {
		return c.writeError(c.s.base, err)
	}
	c.closeCursor(p)
	e, bound, err := wire.ParseExecute(rest, p.params, p.types, p.long)
	c.dropLong(p)
	if err != nil {
		return c.writeError(c.s.base, sqlerr.ErrMalformed)
	}
	p.types = bound

	r := c.begin(p.text)
	kept := false // by a cursor
	failed := false
	defer func() {
		if x := recover(); x != nil {
			c.s.metrics.panics.Inc()
			c.s.log.Error("panic in a statement", "thread", c.thread.id, "statement", redacted(p.text), "panic", fmt.Sprint(x), "stack", stack())
			failed, err = true, c.writeError(c.s.base, sqlerr.ErrInternal)
		}
		if !kept {
			r.finish()
		}
		r.done(failed || err != nil)
	}()
	params, err := literals(r.ctx, e.Params)
	if err != nil {
		failed = true
		return c.writeError(r.ctx, err)
	}
	a, err := c.executePrepared(r, p, params)
	if err != nil {
		failed = true
		return c.writeError(r.ctx, err)
	}
	if e.Cursor && a.schema != nil && c.cursors < maxCursors {
		kept = true
		return c.openCursor(r, p, a)
	}
	failed, err = c.write(r, a, true, false)
	return err
}

// executePrepared parses the statement again, since rewriting changes it in place.
func (c *conn) executePrepared(r *running, p *prepared, params map[string]sql.Expression) (*answer, error) {
	stmt, _, _, err := c.parse(p.text, true)
	if err != nil {
		return nil, err
	}
	if !keepsWarnings(stmt) {
		c.sess.ClearWarnings()
	}
	if d, ok := hintedTimeout(stmt); ok {
		r.limitTo(d)
	}
	if len(params) == 0 {
		params = nil
	}
	return c.execute(r.ctx, stmt, p.text, params)
}

// openCursor answers with the columns alone; rows come with COM_STMT_FETCH.
func (c *conn) openCursor(r *running, p *prepared, a *answer) error {
	cur := &cursor{r: r, a: a}
	p.cursor = cur
	c.cursors++
	var cols []wire.Column
	if a.columns != nil {
		cur.w = newColumnWriter(r.ctx, a.columns, a.schema, true)
		cols = cur.w.columns
	} else {
		cur.e = newEncoder(r.ctx, a.schema)
		cols = cur.e.columns
	}
	a.origins.name(cols)
	cur.err = cur.step()
	if cur.err != nil && !errors.Is(cur.err, io.EOF) {
		err := cur.err
		werr := c.writeError(r.ctx, err)
		c.closeCursor(p)
		return werr
	}
	status := c.status() | wire.CursorExists
	r.pause()
	cur.idle = time.Now()
	if err := c.wc.WriteColumns(cols, status, c.warnings()); err != nil {
		return err
	}
	if c.wc.Capabilities()&wire.DeprecateEOF != 0 {
		// Without the EOF after the columns there must be one after the (no) rows.
		return c.wc.WriteEnd(status, c.warnings())
	}
	return nil
}

// step looks for the next row: nil, io.EOF, or what went wrong.
func (cur *cursor) step() (err error) {
	if cur.w != nil {
		return cur.w.ahead(cur.r.ctx)
	}
	cur.ahead, err = next(cur.r.ctx, cur.a.iter)
	return err
}

// fetch sends up to n rows and says in cur.err how things stand; the error is the connection's.
func (cur *cursor) fetch(wc *wire.Conn, n uint32) error {
	if cur.w != nil {
		if cur.err != nil || n == 0 {
			return nil
		}
		_, failed, err := cur.w.write(cur.r.ctx, wc, int64(n))
		if err != nil && !failed {
			return err
		}
		if ferr := wc.FlushRows(); ferr != nil {
			return ferr
		}
		if cur.err = err; err == nil {
			cur.err = cur.step()
		}
		return nil
	}
	for ; n > 0 && cur.err == nil; n-- {
		values, err := cur.e.encode(cur.r.ctx, cur.ahead)
		if err != nil {
			cur.err = err
			break
		}
		if err := wc.WriteBinaryRow(cur.e.columns, values); err != nil {
			return err
		}
		cur.err = cur.step()
	}
	return nil
}

func (c *conn) stmtFetch(args []byte) (err error) {
	p, rest, err := c.find(args)
	if err != nil {
		return c.writeError(c.s.base, err)
	}
	n, err := wire.ParseFetch(rest)
	if err != nil {
		return c.writeError(c.s.base, sqlerr.ErrMalformed)
	}
	cur := p.cursor
	if cur == nil {
		return c.writeError(c.s.base, sqlerr.New(1421, "HY000", "The statement (%d) has no open cursor.", p.id))
	}
	defer func() {
		if x := recover(); x != nil {
			c.s.metrics.panics.Inc()
			c.s.log.Error("panic in a cursor", "thread", c.thread.id, "statement", redacted(p.text), "panic", fmt.Sprint(x), "stack", stack())
			c.closeCursor(p)
			err = c.writeError(c.s.base, sqlerr.ErrInternal)
		}
	}()
	cur.r.resume("Fetch")
	if err := cur.fetch(c.wc, n); err != nil {
		return err
	}
	if cur.err != nil && !errors.Is(cur.err, io.EOF) {
		werr := c.writeError(cur.r.ctx, cur.err)
		c.closeCursor(p)
		return werr
	}
	status := c.status() | wire.CursorExists
	if cur.err != nil {
		status = c.status() | wire.LastRowSent
		c.closeCursor(p)
	} else {
		cur.r.pause()
		cur.idle = time.Now()
	}
	return c.wc.WriteEnd(status, c.warnings())
}

// stmtLongData has no answer; errors show when the statement is executed.
func (c *conn) stmtLongData(args []byte) error {
	p, rest, err := c.find(args)
	if err != nil {
		return nil
	}
	i, data, err := wire.ParseLongData(rest)
	if err != nil || int(i) >= p.params {
		return nil
	}
	if !c.keeps(len(data)) {
		return fmt.Errorf("statement %d: more than %d bytes of prepared statements and their long data", p.id, maxPreparedBytes)
	}
	if p.long == nil {
		p.long = make(map[uint16][]byte)
	}
	p.long[i] = append(p.long[i], data...)
	p.longer += len(data)
	c.preparedBytes += len(data)
	return nil
}

// stmtClose has no answer.
func (c *conn) stmtClose(args []byte) error {
	if p, _, err := c.find(args); err == nil {
		c.drop(p)
		delete(c.prepared, p.id)
	}
	return nil
}

func (c *conn) stmtReset(args []byte) error {
	p, _, err := c.find(args)
	if err != nil {
		return c.writeError(c.s.base, err)
	}
	c.closeCursor(p)
	c.dropLong(p)
	return c.wc.WriteOK(wire.OK{Status: c.status()})
}
