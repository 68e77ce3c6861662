package mysql

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"millrace/catalog"
	"millrace/catalog/sqltable"
	"millrace/internal/recordbatch"
	colset "millrace/scan/columns"
	"millrace/server/auth"
	"millrace/store"
	"millrace/store/state"

	driver "github.com/go-sql-driver/mysql"
	"github.com/google/uuid"
)

// instance is a server on a random port over a store in a temporary directory.
type instance struct {
	t     testing.TB
	store *store.Store
	cat   *catalog.Catalog
	auth  *auth.Service
	s     *Server
	addr  string
}

func start(t testing.TB, change func(*Options)) *instance {
	t.Helper()
	st, err := store.Open(context.Background(), store.Options{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	in := &instance{t: t, store: st, auth: auth.New(st)}
	in.cat = catalog.New(st, catalog.Options{Logger: slog.New(slog.DiscardHandler)})
	o := Options{
		Address: "127.0.0.1:0", Store: st, Catalog: in.cat, Auth: in.auth,
		Logger: slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	// Small blocks, and columns whatever is read, so that all tests are tests of the columns, too.
	o.Provider = sqltable.NewProvider(in.cat, st, sqltable.Options{Statements: func() []sqltable.Statement { return in.s.Statements() }, Columns: colset.New(colset.Options{BlockRows: 1000})})
	o.FewRows = -1
	if change != nil {
		change(&o)
	}
	if in.s, err = New(o); err != nil {
		t.Fatal(err)
	}
	in.addr = in.s.Addr().String()
	done := make(chan error, 1)
	go func() { done <- in.s.Serve() }()
	t.Cleanup(func() {
		if err := in.s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := in.cat.Close(); err != nil {
			t.Error(err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return in
}

// topic makes a topic of one partition with records of the given values; "-" seals what was
// written so far.
func (in *instance) topic(name string, configs map[string]string, values ...string) {
	in.t.Helper()
	id := uuid.New()
	res, err := in.store.Commit(context.Background(), state.CreateTopic{ID: id, Name: name, Partitions: 1, Configs: configs})
	if err != nil {
		in.t.Fatal(err)
	}
	if r := res.(state.TopicResult); r.Err != nil {
		in.t.Fatal(r.Err)
	}
	for _, v := range values {
		if v == "-" {
			if err := in.store.Seal(context.Background()); err != nil {
				in.t.Fatal(err)
			}
			continue
		}
		in.produce(id, v)
	}
}

// produce appends records in one batch to partition 0.
func (in *instance) produce(id state.TopicID, values ...string) {
	in.t.Helper()
	var rb recordbatch.Builder
	const ts = 1_700_000_000_000
	for _, v := range values {
		rb.Append(ts, nil, []byte(v), nil)
	}
	raw := rb.Build()
	done := make(chan error, 1)
	err := in.store.Submit(context.Background(), state.Produce{Batches: []state.Batch{{
		TopicPartition: state.TopicPartition{Topic: id}, Records: int32(len(values)), SizeBytes: int32(len(raw)),
		MinTimestamp: ts, MaxTimestamp: ts, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
	}}}, [][]byte{raw}, func(result any, err error) {
		if r, ok := result.(state.ProduceResult); ok && err == nil {
			err = r.Batches[0].Err
		}
		done <- err
	})
	if err == nil {
		err = <-done
	}
	if err != nil {
		in.t.Fatal(err)
	}
}

// id of a topic.
func (in *instance) id(name string) state.TopicID {
	in.t.Helper()
	topic, ok := in.store.Topics().ByName(name)
	if !ok {
		in.t.Fatalf("no topic %s", name)
	}
	return topic.ID
}

// ask returns the rows of a query as one string: cells by ",", rows by " / ".
func ask(t testing.TB, db *sql.DB, query string, args ...any) string {
	t.Helper()
	r, err := table(t, db, query, args...)
	if err != nil {
		return "error " + strconv.Itoa(errNumber(err)) + ": " + err.Error()
	}
	return join(r)
}

func join(r [][]string) string {
	lines := make([]string, len(r))
	for i, l := range r {
		lines[i] = strings.Join(l, ",")
	}
	return strings.Join(lines, " / ")
}

type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(string(p))
	return len(p), nil
}

// open returns a pool of one connection, so that session state stays.
func (in *instance) open(user, password, params string) *sql.DB {
	in.t.Helper()
	account := user
	if password != "" {
		account += ":" + password
	}
	db, err := sql.Open("mysql", account+"@tcp("+in.addr+")/kafka?timeout=5s&"+params)
	if err != nil {
		in.t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	in.t.Cleanup(func() { _ = db.Close() })
	return db
}

// errNumber of a MySQL error; 0 for none, -1 for another kind of error.
func errNumber(err error) int {
	var e *driver.MySQLError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return int(e.Number)
	default:
		return -1
	}
}

// table reads all rows as text; NULL is "NULL".
func table(t testing.TB, db *sql.DB, query string, args ...any) ([][]string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	r, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return collect(r)
}

func collect(r *sql.Rows) ([][]string, error) {
	defer r.Close()
	cols, err := r.Columns()
	if err != nil {
		return nil, err
	}
	var out [][]string
	for r.Next() {
		cells := make([]sql.NullString, len(cols))
		into := make([]any, len(cols))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := r.Scan(into...); err != nil {
			return nil, err
		}
		line := make([]string, len(cols))
		for i, c := range cells {
			line[i] = c.String
			if !c.Valid {
				line[i] = "NULL"
			}
		}
		out = append(out, line)
	}
	return out, r.Err()
}

// askPrepared is ask for a prepared statement.
func askPrepared(t testing.TB, st *sql.Stmt, args ...any) string {
	t.Helper()
	r, err := st.Query(args...)
	if err != nil {
		return "error " + strconv.Itoa(errNumber(err)) + ": " + err.Error()
	}
	rows, err := collect(r)
	if err != nil {
		return "error " + strconv.Itoa(errNumber(err)) + ": " + err.Error()
	}
	return join(rows)
}
