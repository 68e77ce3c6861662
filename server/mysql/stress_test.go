package mysql

import (
	"fmt"
	"sync"
	"testing"
)

func TestManyConnectionsAndKillsLeaveNothingBehind(t *testing.T) {
	in := start(t, nil)
	in.topic("k", nil, `{"i":1}`, `{"i":2}`, `{"i":3}`)
	queries := []string{
		"SELECT COUNT(*) FROM k a, k b, k c, k d WHERE a.i+b.i+c.i+d.i > 3", "SELECT SLEEP(5)", "SELECT * FROM k ORDER BY i DESC",
		"SELECT nosuch FROM k", "SELECT SUM(i) FROM k GROUP BY i", "SHOW PROCESSLIST", "SELECT * FROM information_schema.columns LIMIT 5",
	}
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for w := range 12 {
		wg.Go(func() {
			for n := range 12 {
				db := in.open(fmt.Sprintf("u%d", w), "", []string{"", "tls=skip-verify"}[w%2])
				_, err := table(t, db, queries[(w+n)%len(queries)])
				if e := errNumber(err); e != 0 && e != 1317 && e != 1054 && e != -1 {
					t.Errorf("%s: %v", queries[(w+n)%len(queries)], err)
				}
				_ = db.Close()
			}
		})
	}
	var killers sync.WaitGroup
	killers.Go(func() {
		db := in.open("killer", "", "")
		own := ask(t, db, "SELECT CONNECTION_ID()")
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			ids, err := table(t, db, "SELECT ID FROM information_schema.processlist WHERE COMMAND <> 'Connect'")
			if err != nil {
				t.Error(err)
				return
			}
			for i, id := range ids {
				if id[0] == own {
					continue
				}
				kind := "QUERY"
				if (i+n)%3 == 0 {
					kind = "CONNECTION"
				}
				if _, err := db.Exec("KILL " + kind + " " + id[0]); err != nil && errNumber(err) != 1094 {
					t.Error(err)
				}
			}
		}
	})
	wg.Wait()
	close(stop)
	killers.Wait()
	if err := in.s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := in.s.open.Load(); n != 0 {
		t.Errorf("%d connections are left", n)
	}
	in.s.threads.each(func(th *thread) { t.Errorf("thread %d is left", th.id) })
}
