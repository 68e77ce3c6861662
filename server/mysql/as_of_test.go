package mysql

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"
)

// nextMillisecond waits until the clock of records, which has milliseconds, shows another one.
func nextMillisecond() {
	for now := time.Now().UnixMilli(); time.Now().UnixMilli() == now; {
		runtime.Gosched()
	}
}

func TestAsOfShowsWhatHadBeenAppended(t *testing.T) {
	in := start(t, nil)
	run(t, in, "CREATE TABLE t (n INT) PARTITION BY KEY(_key) PARTITIONS 2")
	db := in.open("app", "", "")
	mark := func() string {
		nextMillisecond()
		now := ask(t, db, "SELECT NOW(6)")
		nextMillisecond()
		return now
	}
	first, middle := mark(), ""
	for i := range 6 {
		if _, err := db.Exec("INSERT INTO t (_key, n) VALUES (?, ?), (?, ?)", fmt.Sprint("k", i%2), i, "other", 100+i); err != nil {
			t.Fatal(err)
		}
		if i == 3 {
			if err := in.store.Seal(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		if i == 2 {
			middle = mark()
		}
	}
	for q, want := range map[string]string{
		"SELECT COUNT(*) FROM t":                                                                                "12",
		"SELECT COUNT(*) FROM t AS OF TIMESTAMP '" + first + "'":                                                "0",
		"SELECT COUNT(*), MAX(n) FROM t AS OF TIMESTAMP '" + middle + "'":                                       "6,102",
		"SELECT n FROM t AS OF '" + middle + "' WHERE n < 100 ORDER BY n":                                       "0 / 1 / 2",
		"SELECT SUM(a.n) FROM t AS OF '" + middle + "' AS a WHERE a.n >= 100":                                   "303",
		"SELECT n FROM `t$latest` AS OF '" + middle + "' ORDER BY n":                                            "1 / 2 / 102",
		"SELECT n FROM `t$latest` ORDER BY n":                                                                   "4 / 5 / 105",
		"SELECT COUNT(*) FROM `t$raw` AS OF '" + middle + "'":                                                   "6",
		"SELECT COUNT(*) FROM t AS OF TIMESTAMP('2100-01-01')":                                                  "12",
		"SELECT (SELECT COUNT(*) FROM t) - (SELECT COUNT(*) FROM t AS OF '" + middle + "')":                     "6",
		"SELECT COUNT(*) FROM t x JOIN t AS OF '" + middle + "' y ON x.n = y.n":                                 "6",
		"SELECT _key, MAX(_offset) FROM t AS OF '" + middle + "' WHERE _key = 'other' GROUP BY _key ORDER BY 1": "other,",
	} {
		for _, pushdown := range []string{"1", "0"} {
			if _, err := db.Exec("SET millrace_pushdown=" + pushdown); err != nil {
				t.Fatal(err)
			}
			got := ask(t, db, q)
			if want == "other," {
				got = got[:min(len(got), 6)]
			}
			if got != want {
				t.Errorf("pushdown %s, %s: %s, want %s", pushdown, q, got, want)
			}
		}
	}
	st, err := db.Prepare("SELECT COUNT(*) FROM t AS OF ?")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if got := askPrepared(t, st, middle); got != "6" {
		t.Error(got)
	}
	// The time is one of the session's zone.
	if _, err := db.Exec("SET time_zone='+05:00'"); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, db, "SELECT COUNT(*) FROM t AS OF '"+middle+"'"); got != "0" {
		t.Error(got)
	}
	for q, want := range map[string]int{
		"SELECT COUNT(*) FROM t AS OF 'yesterday'":                1292,
		"SELECT COUNT(*) FROM nosuch AS OF '2020-01-01'":          1146,
		"SELECT COUNT(*) FROM millrace.topics AS OF '2020-01-01'": 1235,
	} {
		if _, err := table(t, db, q); errNumber(err) != want {
			t.Errorf("%s: %v, want %d", q, err, want)
		}
	}
}
