package enginemirror

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"millrace/server"
	"millrace/store/state"

	"github.com/go-sql-driver/mysql"
	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
)

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // no string does
	}
	return string(b)
}

// mirror is a server with topics that hold what tables hold.
type mirror struct {
	t       testing.TB
	options server.Options
	s       *server.Server
	on, off *sql.DB // sessions with and without pushdown
}

func newMirror(t testing.TB) *mirror {
	m := &mirror{t: t, options: server.DefaultOptions()}
	o := &m.options
	o.Data = t.TempDir()
	o.Kafka = []server.Listener{{Address: "127.0.0.1:0"}}
	o.MySQL, o.HTTP = "127.0.0.1:0", ""
	o.Logger = slog.New(slog.DiscardHandler)
	// Everything is worth columns, and small tables have several blocks.
	o.MySQLWire.FewRows = -1
	o.Columns.BlockRows = 5
	m.start()
	t.Cleanup(m.stop)
	return m
}

func (m *mirror) start() {
	m.t.Helper()
	s, err := server.Start(context.Background(), m.options)
	if err != nil {
		m.t.Fatal(err)
	}
	m.s = s
	m.on, m.off = m.session(1), m.session(0)
}

func (m *mirror) stop() {
	m.t.Helper()
	if err := errors.Join(m.on.Close(), m.off.Close(), m.s.Close()); err != nil {
		m.t.Error(err)
	}
}

// session is a pool of one connection, so that what is set stays.
func (m *mirror) session(pushdown int) *sql.DB {
	db, err := sql.Open("mysql", fmt.Sprintf("root@tcp(%s)/kafka?millrace_pushdown=%d", m.s.MySQLAddr(), pushdown))
	if err != nil {
		m.t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

// show makes topics of the tables of r, and a view of each, and tells how to ask them.
func (m *mirror) show(r *reference) *shown {
	m.t.Helper()
	sources, refused, err := r.tables()
	if err != nil {
		m.t.Fatal(err)
	}
	w := &shown{spelled: map[string]string{}}
	var names, no, partial, clashing, columns []string
	for _, s := range sources {
		if err := m.load(s.name, s); err != nil {
			refused[s.name] = err.Error()
			continue
		}
		if _, err := m.on.Exec("CREATE VIEW `" + viewName(s.name) + "` AS SELECT `" + strings.Join(s.columns, "`, `") + "` FROM `" + s.name + "`"); err != nil {
			m.t.Fatal(s.name, err)
		}
		w.topics, names = append(w.topics, s.name), append(names, s.name)
		w.spelled[strings.ToLower(s.name)] = s.name
		no = append(no, s.left...)
		columns = append(columns, s.columns...)
		if len(s.left) > 0 {
			partial = append(partial, s.name)
		}
	}
	for n, why := range refused {
		if *show {
			m.t.Log(n, "is no topic:", why)
		}
		no = append(no, n)
	}
	for _, n := range names {
		if slices.ContainsFunc(columns, func(c string) bool { return strings.EqualFold(c, n) }) {
			clashing = append(clashing, n)
		}
	}
	w.partial, w.clashing = words(partial), words(clashing)
	w.names, w.refused = words(names), words(no)
	return w
}

func viewName(table string) string { return "view_of_" + strings.ToLower(table) }

// shown are tables as topics and views.
type shown struct {
	topics         []string
	spelled        map[string]string // by name in lower case
	names, refused *regexp.Regexp    // match a name; nil: there is none
	partial        *regexp.Regexp    // tables that lack columns here
	clashing       *regexp.Regexp    // tables called as columns are, whose places a view's name would take
}

// drop deletes all topics and views of w.
func (m *mirror) drop(w *shown) {
	m.t.Helper()
	for _, n := range w.topics {
		for _, s := range []string{"DROP VIEW `" + viewName(n) + "`", "DROP TABLE `" + n + "`"} {
			if _, err := m.on.Exec(s); err != nil {
				m.t.Fatal(s, err)
			}
		}
	}
}

// load makes a topic of two partitions.
func (m *mirror) load(topic string, s source) error {
	configs := map[string]string{"millrace.columns": s.declared}
	if s.collation != "" {
		configs["millrace.collation"] = s.collation
	}
	answer, err := m.s.Store.Commit(context.Background(), state.CreateTopic{ID: uuid.New(), Name: topic, Partitions: 2, Configs: configs})
	if err != nil {
		return err
	}
	if r := answer.(state.TopicResult); r.Err != nil {
		return r.Err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(m.s.KafkaAddr()), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return err
	}
	defer client.Close()
	records := make([]*kgo.Record, len(s.records))
	for i, r := range s.records {
		records[i] = &kgo.Record{Topic: topic, Partition: int32(i % 2), Value: []byte(r)}
	}
	return client.ProduceSync(context.Background(), records...).FirstErr()
}

// seal writes records and columns into files.
func (m *mirror) seal(topics []string) {
	m.t.Helper()
	for _, topic := range topics {
		if _, err := m.on.Exec("CALL millrace.seal(?)", topic); err != nil {
			m.t.Fatal(topic, err)
		}
	}
}

// answer is what a query was answered with.
type answer struct {
	rows   [][]sql.NullString
	hidden bool   // columns are among them that a star must not show
	number uint16 // of the error; 0 for none
	text   string // the error's
}

// systemColumns are part of a topic's star and of no table's.
var systemColumns = map[string]bool{"_partition": true, "_offset": true, "_timestamp": true, "_key": true}

func ask(db *sql.DB, query string, prepared bool) (a answer) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	failed := func(err error) answer {
		var e *mysql.MySQLError
		if errors.As(err, &e) {
			return answer{number: e.Number, text: e.Message}
		}
		return answer{number: 1, text: err.Error()}
	}
	var rows *sql.Rows
	var err error
	if prepared {
		st, e := db.PrepareContext(ctx, query)
		if e != nil {
			return failed(e)
		}
		defer st.Close()
		rows, err = st.QueryContext(ctx)
	} else {
		rows, err = db.QueryContext(ctx, query)
	}
	if err != nil {
		return failed(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return failed(err)
	}
	for _, n := range names {
		a.hidden = a.hidden || n == "_value" || n == "_headers" || n == "_error"
	}
	for rows.Next() {
		cells := make([]sql.NullString, len(names))
		into := make([]any, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return failed(err)
		}
		kept := cells[:0]
		for i, c := range cells {
			if systemColumns[names[i]] {
				continue
			}
			kept = append(kept, c)
		}
		a.rows = append(a.rows, kept)
	}
	if err := rows.Err(); err != nil {
		return failed(err)
	}
	return a
}

func (a answer) String() string {
	if a.number != 0 {
		return fmt.Sprintf("error %d: %s", a.number, a.text)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows", len(a.rows))
	for i, r := range a.rows {
		if i == 12 {
			b.WriteString(" …")
			break
		}
		b.WriteString(" (")
		for j, c := range r {
			if j > 0 {
				b.WriteString(", ")
			}
			if c.Valid {
				b.WriteString(c.String)
			} else {
				b.WriteString("NULL")
			}
		}
		b.WriteString(")")
	}
	return b.String()
}
