package mysql

import (
	"database/sql"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// What tools do first, through go-sql-driver: text protocol, prepared statements, and statements whose
// parameters the driver writes out.
func TestGoSQLDriver(t *testing.T) {
	in := start(t, nil)
	in.topic("orders", nil, `{"id":1,"city":"a","amount":2.5}`, `{"id":2,"city":"b","amount":4}`, "-", `{"id":3,"city":"a","amount":1.25}`, `{"id":4,"city":null,"amount":9}`)
	in.topic("cities", nil, `{"code":"a","name":"Aachen"}`, `{"code":"b","name":"Bonn"}`)
	for _, params := range []string{"", "interpolateParams=true", "parseTime=true", "tls=skip-verify"} {
		t.Run(params, func(t *testing.T) {
			db := in.open("app", "", params)
			if err := db.Ping(); err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				query string
				args  []any
				want  string
			}{
				{"SHOW TABLES", nil, "cities / orders"},
				{"SELECT city, COUNT(*), SUM(amount) FROM orders WHERE id < ? GROUP BY city ORDER BY city LIMIT ?", []any{4, 10}, "a,2,3.75 / b,1,4"},
				{"SELECT o.id, c.name FROM orders o JOIN cities c ON o.city = c.code WHERE c.name LIKE ? ORDER BY o.id DESC", []any{"A%"}, "3,Aachen / 1,Aachen"},
				{"SELECT id FROM orders WHERE city IS NULL OR amount > ? ORDER BY id", []any{3.5}, "2 / 4"},
				{"SELECT COUNT(*) FROM orders WHERE _timestamp <= ?", []any{time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}, "4"},
				{"SELECT id FROM orders WHERE city = ?", []any{nil}, ""},
				{"SELECT id FROM orders ORDER BY id LIMIT 2 OFFSET 1", nil, "2 / 3"},
			} {
				if got := ask(t, db, c.query, c.args...); got != c.want {
					t.Errorf("%s: %s, want %s", c.query, got, c.want)
				}
			}
			if got := ask(t, db, "DESCRIBE orders"); !strings.Contains(got, "_offset,bigint,NO,PRI") || !strings.Contains(got, "amount,double,YES") {
				t.Error(got)
			}
			st, err := db.Prepare("SELECT name FROM cities WHERE code = ?")
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			for code, want := range map[string]string{"a": "Aachen", "b": "Bonn", "c": ""} {
				if got := askPrepared(t, st, code); got != want {
					t.Errorf("%s: %s", code, got)
				}
			}
		})
	}
}

// A result is made as the client reads it: of 160 MB the server holds a few.
func TestResultsAreNotHeldInMemory(t *testing.T) {
	in := start(t, nil)
	in.topic("big", nil)
	value := `{"s":"` + strings.Repeat("x", 4_000) + `"}`
	for range 10 {
		vs := make([]string, 20)
		for i := range vs {
			vs[i] = value
		}
		in.produce(in.id("big"), vs...)
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const query = "SELECT a.s FROM big a, big b WHERE a._offset >= ?" // 40,000 rows of 4 KB
	read := func(name string, rows *sql.Rows, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(name, err)
		}
		defer rows.Close()
		before, most, n := heap(), uint64(0), 0
		var s sql.RawBytes
		for rows.Next() {
			if err := rows.Scan(&s); err != nil || len(s) != 4000 {
				t.Fatal(name, len(s), err)
			}
			if n++; n%8000 == 0 {
				most = max(most, heap())
			}
		}
		if err := rows.Err(); err != nil || n != 40_000 {
			t.Fatal(name, n, err)
		}
		if most > before+48<<20 {
			t.Errorf("%s: the heap grew from %d to %d bytes", name, before, most)
		}
	}
	db := in.open("app", "", "interpolateParams=true")
	rows, err := db.Query(query, 0)
	read("text", rows, err)
	prepared := in.open("app", "", "")
	rows, err = prepared.Query(query, 0)
	read("prepared", rows, err)
	if got := ask(t, db, fmt.Sprintf("SELECT COUNT(*) FROM (%s) x", strings.ReplaceAll(query, "?", "0"))); got != "40000" {
		t.Error(got)
	}
}
