package mysql

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestCorrelatedSubqueriesGiveWhatReadingThemForEveryRowGives(t *testing.T) {
	in := start(t, nil)
	in.topic("a", nil, `{"id":1,"k":1,"s":"x"}`, `{"id":2,"k":2,"s":"y"}`, `{"id":3,"k":null,"s":"x"}`, `{"id":4,"k":4,"s":null}`, `{"id":5,"k":2,"s":"x"}`)
	in.topic("b", nil, `{"k":1,"s":"x","v":10}`, `{"k":2,"s":"x","v":20}`, `{"k":2,"s":"y","v":21}`, `{"k":null,"s":"x","v":30}`, `{"k":5,"s":null,"v":null}`, `{"k":2,"s":null,"v":null}`)
	cases{
		{"SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k) ORDER BY id", "1 / 2 / 5"},
		{"SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k) ORDER BY id", "3 / 4"},
		{"SELECT id FROM a WHERE NOT EXISTS (SELECT * FROM b WHERE a.k = b.k AND b.v > 20) ORDER BY id", "1 / 3 / 4"},
		{"SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.s = a.s) ORDER BY id", "1 / 2 / 5"},
		{"SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.s = a.s LIMIT 1) ORDER BY id", "3 / 4"},
		{"SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k + 1 AND b.v IS NOT NULL) ORDER BY id", "2 / 3 / 4 / 5"},
		{"SELECT id, EXISTS (SELECT 1 FROM b WHERE b.k = a.k) e, NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k) n FROM a ORDER BY id", "1,1,0 / 2,1,0 / 3,0,1 / 4,0,1 / 5,1,0"},
		{"SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.v > a.id * 10) ORDER BY id", "1 / 3 / 4 / 5"},
		{"SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND EXISTS (SELECT 1 FROM b c WHERE c.k = b.k AND c.s = a.s)) ORDER BY id", "1 / 2 / 5"},
		{"SELECT id, (SELECT MAX(b.v) FROM b WHERE b.k = a.k) m FROM a ORDER BY id", "1,10 / 2,21 / 3,NULL / 4,NULL / 5,21"},
		{"SELECT id, (SELECT COUNT(*) FROM b WHERE b.k = a.k) m FROM a ORDER BY id", "1,1 / 2,3 / 3,0 / 4,0 / 5,3"},
		{"SELECT id, (SELECT COUNT(v) FROM b WHERE b.k = a.k AND b.s = a.s) m, (SELECT SUM(v) FROM b WHERE a.k = b.k AND v > 10) FROM a ORDER BY id", "1,1,NULL / 2,1,41 / 3,0,NULL / 4,0,NULL / 5,1,41"},
		{"SELECT id FROM a WHERE id * 10 < (SELECT AVG(b.v) FROM b WHERE b.k = a.k) ORDER BY id", "2"},
		{"SELECT id, 1 + (SELECT MIN(b.v) FROM b WHERE b.k = a.k) AS x FROM a ORDER BY x DESC, id", "2,21 / 5,21 / 1,11 / 3,NULL / 4,NULL"},
		{"SELECT id, (SELECT MAX(b.v) + COUNT(*) FROM b WHERE b.k = a.k) m FROM a ORDER BY id", "1,11 / 2,24 / 3,NULL / 4,NULL / 5,24"},
		{"SELECT id, (SELECT COUNT(DISTINCT b.v) FROM b WHERE b.k = a.k) m FROM a ORDER BY id", "1,1 / 2,2 / 3,0 / 4,0 / 5,2"},
	}.check(t, in)
}

func TestCorrelatedSubqueriesReadTheirTableOnce(t *testing.T) {
	in := start(t, func(o *Options) { o.StatementTimeout = 20 * time.Second })
	in.topic("big", nil)
	in.topic("small", nil)
	var values []string
	for i := range 20_000 {
		values = append(values, fmt.Sprintf(`{"id":%d,"k":%d}`, i, i%4000))
	}
	in.produce(in.id("big"), values...)
	values = values[:0]
	for i := range 2000 {
		values = append(values, fmt.Sprintf(`{"k":%d,"v":%d}`, i, i*2))
	}
	in.produce(in.id("small"), values...)
	db := in.open("app", "", "")
	for _, mode := range []string{"1", "0"} {
		if _, err := db.Exec("SET millrace_pushdown=" + mode); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ query, want string }{
			{"SELECT COUNT(*) FROM big WHERE NOT EXISTS (SELECT 1 FROM small WHERE small.k = big.k)", "10000"},
			{"SELECT COUNT(*) FROM big WHERE EXISTS (SELECT 1 FROM small WHERE small.k = big.k)", "10000"},
			{"SELECT SUM(m) FROM (SELECT (SELECT MAX(v) FROM small WHERE small.k = big.k) m FROM big) d", "19990000"},
		} {
			if got := ask(t, db, c.query); got != c.want {
				t.Errorf("%s: %s: %s", mode, c.query, got)
			}
		}
	}
}

func TestASubqueryThatIsOneValueIsComputedOnceAndComparedInColumns(t *testing.T) {
	in := start(t, nil)
	in.topic("a", nil, `{"id":1,"s":"x","d":1.5}`, `{"id":2,"s":"y","d":2.5}`, `{"id":3,"s":null,"d":null}`)
	cases{
		{"SELECT id FROM a WHERE id > (SELECT AVG(id) FROM a)", "3"},
		{"SELECT id FROM a WHERE d = (SELECT MAX(d) FROM a)", "2"},
		{"SELECT id FROM a WHERE id >= (SELECT MAX(id) FROM a WHERE id < (SELECT MAX(id) FROM a)) ORDER BY id", "2 / 3"},
		{"SELECT COUNT(*) FROM a WHERE id = (SELECT MAX(id) FROM a WHERE id > 9)", "0"},
		{"SELECT COUNT(*) FROM a WHERE id <=> (SELECT MAX(id) FROM a WHERE id > 9)", "0"},
		{"SELECT s <=> (SELECT MAX(id) FROM a WHERE id > 9) FROM a ORDER BY id", "0 / 0 / 1"},
		{"SELECT id FROM a WHERE s < (SELECT MAX(s) FROM a)", "1"},
		{"SELECT id FROM a WHERE id = (SELECT 1 FROM a WHERE id = 77)", ""},
		{"SELECT id FROM a WHERE _timestamp >= (SELECT MIN(_timestamp) FROM a) ORDER BY id", "1 / 2 / 3"},
	}.check(t, in)
	db := in.open("app", "", "")
	if _, err := table(t, db, "SELECT id FROM a WHERE id = (SELECT id FROM a)"); errNumber(err) != 1242 {
		t.Error(err)
	}
	if plan := ask(t, db, "EXPLAIN SELECT COUNT(*) FROM a WHERE id > (SELECT AVG(id) FROM a)"); !strings.Contains(plan, "In columns") {
		t.Error(plan)
	}
}
