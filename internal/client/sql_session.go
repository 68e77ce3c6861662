package client

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// killTimeout is how long an interrupted statement has to end on KILL QUERY
// before its connection is dropped.
const killTimeout = 2 * time.Second

// idleCheck is how long a connection is trusted to live without being asked. A statement
// must not be sent twice, so a dead connection has to be found before it is sent.
const idleCheck = time.Second

// maxWarnings is how many warnings of a statement are shown.
const maxWarnings = 5

// session is one connection to a MySQL server, on which statements run one after another.
type session struct {
	io       *IO
	out      io.Writer // where answers go
	db       *sql.DB   // for KILL and completion, beside conn
	conn     *sql.Conn // nil after it was lost
	connID   string
	used     time.Time // when conn last answered
	database string    // that USE chose
	version  string    // of the server

	format   string
	timing   bool
	footer   bool // say how many rows there were
	warnings bool // show warnings after each statement
	chopped  bool // long lines are no trouble: tables may be wider than the terminal
}

// openSession connects. A server that is not ours need not have the database that is asked for when no other is named.
func openSession(ctx context.Context, s *IO, m *MySQL) (*session, error) {
	se, err := openIn(ctx, s, m)
	if no := (*mysql.MySQLError)(nil); m.Database == defaultDatabase && errors.As(err, &no) && no.Number == unknownDatabase {
		fmt.Fprintf(s.Err, "(there is no database %s here: USE another)\n", m.Database)
		other := *m
		other.Database = ""
		return openIn(ctx, s, &other)
	}
	return se, err
}

func openIn(ctx context.Context, s *IO, m *MySQL) (*session, error) {
	c, err := m.connector(s)
	if err != nil {
		return nil, err
	}
	se := &session{io: s, out: s.Out, db: sql.OpenDB(c), format: FormatTable, database: m.Database}
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
	if err := conn.QueryRowContext(ctx, "SELECT CONNECTION_ID(), VERSION()").Scan(&se.connID, &se.version); err != nil {
		conn.Close()
		return err
	}
	se.conn, se.used = conn, time.Now()
	return nil
}

func (se *session) close() {
	if se.conn != nil {
		se.conn.Close()
	}
	se.db.Close()
}

// alive makes a connection if the last one was lost, also while nobody looked.
func (se *session) alive(ctx context.Context) error {
	if se.conn != nil && time.Since(se.used) > idleCheck && se.conn.PingContext(ctx) != nil && ctx.Err() == nil {
		se.drop()
	}
	if se.conn != nil {
		return nil
	}
	if err := se.connect(ctx); err != nil {
		return err
	}
	if se.database != "" {
		if _, err := se.conn.ExecContext(ctx, "USE "+quoteName(se.database)); err != nil {
			se.drop()
			return err
		}
	}
	fmt.Fprintln(se.io.Err, "(connected again; what was set in the session, and a transaction that was open, are gone)")
	return nil
}

func (se *session) drop() {
	se.conn.Close()
	se.conn = nil
}

// run executes one statement and prints its answer. When ctx ends, the statement is
// killed at the server.
func (se *session) run(ctx context.Context, st statement) error {
	if err := se.alive(ctx); err != nil {
		return err
	}
	began := time.Now()
	err := se.killable(ctx, func(qctx context.Context) error {
		if err := se.execute(qctx, st, began); err != nil {
			return err
		}
		return se.warn(qctx, st)
	})
	se.used = time.Now()
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, context.Canceled) {
		se.drop()
	}
	if ctx.Err() != nil {
		return context.Canceled
	}
	if m := useStatement.FindStringSubmatch(st.text); err == nil && m != nil {
		se.database = strings.ReplaceAll(strings.Trim(m[1], "`"), "``", "`")
	}
	return err
}

var useStatement = regexp.MustCompile(`(?is)^use\s+(\S+)$`)

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
		if se.kill(kctx) != nil {
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

// kill has the server end the statement that runs.
func (se *session) kill(ctx context.Context) error {
	_, err := se.db.ExecContext(ctx, "KILL QUERY "+se.connID)
	return err
}

// answering are the first words of statements that return rows.
var answering = []string{
	"SELECT", "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "WITH", "VALUES", "TABLE", "CALL", "CHECK", "CHECKSUM", "ANALYZE",
	"OPTIMIZE", "REPAIR", "EXECUTE", "HELP", "HANDLER", "FETCH", "XA",
}

var returning = regexp.MustCompile(`(?i)\bRETURNING\b`)

// answers says whether the statement may return rows.
func answers(text string) bool {
	word := firstWord(text)
	switch word {
	case "INSERT", "REPLACE", "DELETE", "UPDATE": // MariaDB
		return returning.MatchString(text)
	}
	return slices.Contains(answering, word)
}

// answersLines says whether the statement's answer is text of several lines, which people read or copy as such.
func answersLines(text string) bool {
	if firstWord(text) == "SHOW" {
		fields := strings.Fields(text)
		return len(fields) > 1 && strings.EqualFold(fields[1], "CREATE")
	}
	return explains(text)
}

// explains says whether the statement's answer is a plan.
func explains(text string) bool {
	switch firstWord(text) {
	case "EXPLAIN":
		return true
	case "ANALYZE": // MariaDB's EXPLAIN ANALYZE
		return !regexp.MustCompile(`(?i)^\s*ANALYZE\s+(LOCAL\s+|NO_WRITE_TO_BINLOG\s+)?TABLE`).MatchString(text)
	case "DESC", "DESCRIBE":
		fields := strings.Fields(text)
		return len(fields) > 2 && slices.Contains([]string{"SELECT", "WITH", "(SELECT", "ANALYZE"}, strings.ToUpper(fields[1]))
	}
	return false
}

// firstWord is a statement's first word, in capitals.
func firstWord(text string) string {
	for {
		text = strings.TrimLeft(text, "( \t\r\n")
		switch {
		case strings.HasPrefix(text, "/*"):
			_, text, _ = strings.Cut(text[2:], "*/")
			continue
		case strings.HasPrefix(text, "--"), strings.HasPrefix(text, "#"):
			_, text, _ = strings.Cut(text, "\n")
			continue
		}
		break
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
		return se.say(began, what)
	}
	rows, err := se.conn.QueryContext(ctx, st.text)
	if err != nil {
		return err
	}
	defer rows.Close()
	for {
		n, columns, err := se.printResult(st, rows)
		if err != nil {
			if rows.Err() == nil {
				// Nobody reads on. Close would read all the rest, so the server has to end it.
				kctx, cancel := context.WithTimeout(ctx, killTimeout)
				defer cancel()
				_ = se.kill(kctx) // if that fails, Close reads on
			}
			return err
		}
		what := plural(n, "row")
		if columns == 0 {
			what = "OK"
		}
		if err := se.say(began, what); err != nil {
			return err
		}
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
func (se *session) say(began time.Time, what string) (err error) {
	took := time.Since(began)
	switch {
	case se.timing && se.footer:
		_, err = fmt.Fprintf(se.out, "(%s, %s)\n", what, shortDuration(took))
	case se.timing:
		fmt.Fprintf(se.io.Err, "(%s, %s)\n", what, shortDuration(took))
	case se.footer:
		_, err = fmt.Fprintf(se.out, "(%s)\n", what)
	}
	return err
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

// warn shows the statement's warnings. The protocol tells how many there are and the driver
// does not pass it on, so the server is asked.
func (se *session) warn(ctx context.Context, st statement) error {
	if !se.warnings || explains(st.text) {
		return nil
	}
	switch firstWord(st.text) {
	case "SHOW", "USE", "SET", "DESC", "DESCRIBE", "KILL":
		return nil
	}
	rows, err := se.conn.QueryContext(ctx, "SHOW WARNINGS")
	if err != nil {
		return nil //nolint:nilerr // the statement was carried out; a server without warnings is none the worse
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var level, code, message string
		if err := rows.Scan(&level, &code, &message); err != nil {
			return nil //nolint:nilerr // as above
		}
		if n++; n <= maxWarnings {
			fmt.Fprintf(se.io.Err, "%s %s: %s\n", level, code, printable([]byte(message)))
		}
	}
	if n > maxWarnings {
		fmt.Fprintf(se.io.Err, "(and %s; SHOW WARNINGS has all that the server keeps)\n", plural(int64(n-maxWarnings), "more warning"))
	}
	return rows.Err()
}

func (se *session) writer(st statement, cols []Column) (RowWriter, error) {
	width, _ := se.io.size()
	switch {
	case st.plot != "":
		return newPlotWriter(se.out, st.plot, width, cols)
	case st.vertical:
		return NewRowWriter(se.out, FormatVertical, 0, cols)
	case se.format == FormatTable && explains(st.text) && len(cols) == 1:
		return newTreeWriter(se.out), nil
	}
	if se.chopped {
		width = 0
	}
	w, err := NewRowWriter(se.out, se.format, width, cols)
	if t, ok := w.(*tableWriter); ok && se.format == FormatTable {
		t.lines = answersLines(st.text)
	}
	return w, err
}

// printResult prints one result. An error is an outputError if the rows are not to blame.
func (se *session) printResult(st statement, rows *sql.Rows) (n int64, columns int, _ error) {
	types, err := rows.ColumnTypes()
	if err != nil || len(types) == 0 {
		return 0, 0, err
	}
	cols := make([]Column, len(types))
	doubles := make([]int, len(types))
	for i, t := range types {
		cols[i] = Column{t.Name(), columnKind(t.DatabaseTypeName())}
		doubles[i] = doubleBits(t.DatabaseTypeName())
	}
	w, err := se.writer(st, cols)
	if err != nil {
		return 0, len(cols), outputError{err}
	}
	raw := make([]sql.RawBytes, len(cols))
	dest := make([]any, len(cols))
	cells := make([][]byte, len(cols))
	for i := range raw {
		dest[i] = &raw[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return n, len(cols), err
		}
		for i := range raw {
			cells[i] = raw[i]
			if doubles[i] != 0 && raw[i] != nil {
				cells[i] = serverDouble(raw[i], doubles[i])
			}
		}
		if err := w.Row(cells); err != nil {
			return n, len(cols), outputError{err}
		}
		n++
	}
	if err := rows.Err(); err != nil {
		return n, len(cols), errors.Join(w.Close(), err)
	}
	if err := w.Close(); err != nil {
		return n, len(cols), outputError{err}
	}
	return n, len(cols), nil
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
