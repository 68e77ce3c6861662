package mysql

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"millrace/catalog"
	"millrace/server/auth"
	"millrace/store"

	driver "github.com/go-sql-driver/mysql"
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
	st, err := store.Open(context.Background(), store.Options{Dir: t.TempDir(), Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	in := &instance{t: t, store: st, auth: auth.New(st)}
	in.cat = newCatalog(st)
	o := Options{
		Address: "127.0.0.1:0", Store: st, Catalog: in.cat, Auth: in.auth,
		Logger: slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
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
		if in.cat != nil {
			if err := in.cat.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return in
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
