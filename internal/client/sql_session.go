package client

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// killTimeout is how long an interrupted statement has to end on KILL QUERY
// before its connection is dropped.
const killTimeout = 2 * time.Second

// session is one connection to a MySQL server, on which statements run one after another.
type session struct {
	io     *IO
	db     *sql.DB   // for KILL and completion, beside conn
	conn   *sql.Conn // nil after it was lost
	connID string
	format string
	timing bool
	footer bool // say how many rows there were
}

func openSession(ctx context.Context, s *IO, m *MySQL) (*session, error) {
	c, err := m.connector(s)
	if err != nil {
		return nil, err
	}
	se := &session{io: s, db: sql.OpenDB(c), format: FormatTable}
	se.db.SetMaxOpenConns(3)
	se.db.SetMaxIdleConns(1)
	if err := se.connect(ctx); err != nil {
		se.close()
		return nil, fmt.Errorf("cannot use MySQL at %s: %w", m.Address, err)
	}
	return se, nil
}

func (se *session) connect(ctx context.Context) error {
	conn, err := se.db.Conn(ctx)
	if err != nil {
		return err
	}
	if err := conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&se.connID); err != nil {
		conn.Close()
		return err
	}
	se.conn = conn
	return nil
}

func (se *session) close() {
	if se.conn != nil {
		se.conn.Close()
	}
	se.db.Close()
}

// run executes one statement and prints its answer. When ctx ends, the statement is
// killed at the server.
func (se *session) run(ctx context.Context, st statement) error {
	if se.conn == nil {
		if err := se.connect(ctx); err != nil {
			return err
		}
		fmt.Fprintln(se.io.Err, "(connected again; settings of the session are gone)")
	}
	began := time.Now()
	err := se.killable(ctx, func(qctx context.Context) error { return se.execute(qctx, st, began) })
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, context.Canceled) {
		se.conn.Close()
		se.conn = nil
	}
	if ctx.Err() != nil {
		return context.Canceled
	}
	return err
}

// killable runs fn; when ctx ends first it has the server kill the statement, and
// if that does not help, cancels fn's context, which drops the connection.
func (se *session) killable(ctx context.Context, fn func(context.Context) error) error {
	qctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-done:
			return
		case <-ctx.Done():
		}
		kctx, kcancel := context.WithTimeout(qctx, killTimeout)
		defer kcancel()
		_, kerr := se.db.ExecContext(kctx, "KILL QUERY "+se.connID)
		if kerr != nil {
			cancel()
			return
		}
		select {
		case <-done:
		case <-kctx.Done():
			cancel()
		}
	}()
	err := fn(qctx)
	close(done)
	<-watched
	return err
}

// answers says whether the statement returns rows.
func answers(text string) bool {
	return slices.Contains([]string{"SELECT", "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "WITH", "VALUES", "TABLE", "CALL", "CHECK", "ANALYZE"}, firstWord(text))
}

// answersLines says whether the statement's answer is text of several lines, which people read or copy as such.
func answersLines(text string) bool {
	switch firstWord(text) {
	case "EXPLAIN":
		return true
	case "SHOW":
		fields := strings.Fields(text)
		return len(fields) > 1 && strings.EqualFold(fields[1], "CREATE")
	}
	return false
}

// firstWord is a statement's first word, in capitals.
func firstWord(text string) string {
	for {
		text = strings.TrimLeft(text, "( \t\r\n")
		rest, comment := strings.CutPrefix(text, "/*")
		if !comment {
			break
		}
		_, text, _ = strings.Cut(rest, "*/")
	}
	word := text
	if i := strings.IndexFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }); i >= 0 {
		word = text[:i]
	}
	return strings.ToUpper(word)
}

func (se *session) execute(ctx context.Context, st statement, began time.Time) error {
	if !answers(st.text) {
		res, err := se.conn.ExecContext(ctx, st.text)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return err
		}
		what := "OK"
		if n > 0 {
			what = fmt.Sprintf("OK, %s affected", plural(n, "row"))
		}
		se.say(began, what)
		return nil
	}
	rows, err := se.conn.QueryContext(ctx, st.text)
	if err != nil {
		return err
	}
	defer rows.Close()
	for {
		n, err := se.printResult(st, rows)
		if err != nil {
			return err
		}
		se.say(began, plural(n, "row"))
		if !rows.NextResultSet() {
			return rows.Err()
		}
	}
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// say prints the line after an answer, where a person reads it.
func (se *session) say(began time.Time, what string) {
	took := time.Since(began)
	switch {
	case se.timing && se.footer:
		fmt.Fprintf(se.io.Out, "(%s, %s)\n", what, shortDuration(took))
	case se.timing:
		fmt.Fprintf(se.io.Err, "(%s, %s)\n", what, shortDuration(took))
	case se.footer:
		fmt.Fprintf(se.io.Out, "(%s)\n", what)
	}
}

// shortDuration has three significant digits.
func shortDuration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

func (se *session) printResult(st statement, rows *sql.Rows) (int64, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return 0, err
	}
	if len(types) == 0 {
		return 0, nil
	}
	cols := make([]Column, len(types))
	doubles := make([]int, len(types))
	for i, t := range types {
		cols[i] = Column{t.Name(), columnKind(t.DatabaseTypeName())}
		doubles[i] = doubleBits(t.DatabaseTypeName())
	}
	var w RowWriter
	switch {
	case st.plot != "":
		w, err = newPlotWriter(se.io.Out, st.plot, se.io.OutWidth, cols)
	case st.vertical:
		w, err = NewRowWriter(se.io.Out, FormatVertical, 0, cols)
	default:
		w, err = NewRowWriter(se.io.Out, se.format, se.io.OutWidth, cols)
	}
	if err != nil {
		return 0, err
	}
	if t, ok := w.(*tableWriter); ok && se.format == FormatTable {
		t.lines = answersLines(st.text)
	}
	raw := make([]sql.RawBytes, len(cols))
	dest := make([]any, len(cols))
	cells := make([][]byte, len(cols))
	for i := range raw {
		dest[i] = &raw[i]
	}
	n := int64(0)
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return n, err
		}
		for i := range raw {
			cells[i] = raw[i]
			if doubles[i] != 0 && raw[i] != nil {
				cells[i] = serverDouble(raw[i], doubles[i])
			}
		}
		if err := w.Row(cells); err != nil {
			return n, err
		}
		n++
	}
	if err := rows.Err(); err != nil {
		return n, errors.Join(w.Close(), err)
	}
	return n, w.Close()
}

// columnKind goes by the type names of go-sql-driver/mysql.
func columnKind(name string) ColumnKind {
	switch strings.TrimPrefix(name, "UNSIGNED ") {
	case "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "DECIMAL", "FLOAT", "DOUBLE", "YEAR":
		return NumberColumn
	case "JSON":
		return JSONColumn
	case "BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB", "BIT", "GEOMETRY":
		return BinaryColumn
	}
	return TextColumn
}
