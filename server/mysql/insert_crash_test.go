package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"millrace/catalog"
	"millrace/internal/vfs"
	"millrace/server/auth"
	"millrace/store"
)

// onFS is a server over a store in a file system of the memory; stop ends both.
func onFS(t testing.TB, fs *vfs.Mem) (in *instance, stop func()) {
	t.Helper()
	st, err := store.Open(context.Background(), store.Options{Dir: "/data", FS: fs, Logger: slog.New(slog.DiscardHandler), LogFileBytes: 256 << 10, SealBytes: 200 << 10})
	if err != nil {
		t.Fatal(err)
	}
	in = &instance{t: t, store: st, auth: auth.New(st)}
	in.cat = catalog.New(st, catalog.Options{Logger: slog.New(slog.DiscardHandler)})
	if in.s, err = New(Options{Address: "127.0.0.1:0", Store: st, Catalog: in.cat, Auth: in.auth, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	in.addr = in.s.Addr().String()
	done := make(chan error, 1)
	go func() { done <- in.s.Serve() }()
	return in, func() {
		_ = in.s.Close()
		<-done
		_ = in.cat.Close()
		_ = st.Close()
	}
}

func TestAfterEveryCrashATransactionIsThereWholeOrNotAtAll(t *testing.T) {
	type crash struct {
		fs    *vfs.Mem
		acked int64
		at    string
	}
	fs := vfs.NewMem()
	if err := fs.MkdirAll("/data"); err != nil {
		t.Fatal(err)
	}
	in, stop := onFS(t, fs)
	run(t, in, "CREATE TABLE a (n INT) PARTITION BY KEY(_key) PARTITIONS 3", "CREATE TABLE b (n INT) PARTITION BY KEY(_key) PARTITIONS 3", "CREATE TABLE big (n INT, pad LONGTEXT)")
	var acked atomic.Int64
	var mu sync.Mutex // guards crashes and r
	r := rand.New(rand.NewPCG(1, 2))
	var crashes []crash
	fs.SetHook(func(e vfs.Event) error {
		if e.Op&vfs.OpChange == 0 {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if len(crashes) < 25 && r.IntN(12) == 0 {
			n := acked.Load()
			crashes = append(crashes, crash{fs.CrashClone(r), n, fmt.Sprint(e)})
		}
		return nil
	})
	db := in.open("app", "", "")
	do := func(q string, args ...any) {
		t.Helper()
		if _, err := db.Exec(q, args...); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	enough := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(crashes) == 25
	}
	pad := strings.Repeat("x", 20_000)
	for i := 0; i < 200 && !enough(); i++ {
		do("BEGIN")
		do("INSERT INTO a (_key, n) VALUES (?, ?)", fmt.Sprint(i), i)
		do("INSERT INTO b (_key, n) VALUES (?, ?), (?, ?), (?, ?)", "x", i, "y", i, "z", i)
		if i%5 == 4 {
			do("ROLLBACK")
		} else {
			do("COMMIT")
			acked.Add(1)
		}
		if i%20 == 7 {
			// Larger than the buffer: several frames.
			do("INSERT INTO big (n, pad) WITH RECURSIVE s AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM s WHERE n < 300) SELECT ?, ? FROM s", i, pad)
		}
	}
	mu.Lock()
	fs.SetHook(nil)
	mu.Unlock()
	stop()
	if len(crashes) < 10 {
		t.Fatalf("only %d crashes", len(crashes))
	}
	check := func(where string, fs *vfs.Mem, acked int64) {
		in, stop := onFS(t, fs)
		defer stop()
		db := in.open("app", "", "")
		defer func(db *sql.DB) { _ = db.Close() }(db)
		var na, nb, da int64
		if err := db.QueryRow("SELECT (SELECT COUNT(*) FROM a), (SELECT COUNT(*) FROM b), (SELECT COUNT(DISTINCT a.n) FROM a JOIN b ON a.n = b.n)").Scan(&na, &nb, &da); err != nil {
			t.Errorf("%s: %v", where, err)
			return
		}
		if nb != 3*na || da != na || na < acked {
			t.Errorf("%s: %d transactions were acknowledged; a has %d rows, b %d, %d in common", where, acked, na, nb, da)
		}
		if got := ask(t, db, "SELECT COUNT(*) FROM (SELECT n, COUNT(*) AS c FROM big GROUP BY n HAVING c <> 300) x"); got != "0" {
			t.Errorf("%s: a part of a statement is visible: %s", where, got)
		}
		if open := in.store.OpenTransactions(); len(open) != 0 {
			t.Errorf("%s: left open: %v", where, open)
		}
	}
	for i, c := range crashes {
		check(fmt.Sprintf("crash %d before %s", i, c.at), c.fs, c.acked)
	}
	check("after a clean end", fs, acked.Load())
}
