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
		// Conditions that are no equality.
		{"SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.v > a.id * 10) ORDER BY id", "2"},
		{"SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.v > a.id * 10) ORDER BY id", "3 / 4 / 5"},
		{"SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.s <> a.s) ORDER BY id", "1 / 3 / 4"},
		{"SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE a.id > 3) ORDER BY id", "4 / 5"},
		{"SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND (b.v > 20 OR a.s = 'y')) ORDER BY id", "1 / 3 / 4"},
		{"SELECT id, EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.v > a.id * 10) e FROM a ORDER BY id", "1,0 / 2,1 / 3,0 / 4,0 / 5,0"},
		{"SELECT id FROM a WHERE id = 4 OR EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.s = a.s) ORDER BY id", "1 / 2 / 4 / 5"},
		{"SELECT s, SUM(EXISTS (SELECT 1 FROM b WHERE b.k = a.k)) n FROM a GROUP BY s ORDER BY s", "NULL,0 / x,2 / y,1"},
		{"SELECT id FROM a ORDER BY (SELECT MAX(v) FROM b WHERE b.k = a.k) DESC, id DESC", "5 / 2 / 1 / 4 / 3"},
		// NULLs.
		{"SELECT id FROM a WHERE k NOT IN (SELECT k FROM b) ORDER BY id", ""},
		{"SELECT id FROM a WHERE k NOT IN (SELECT k FROM b WHERE k IS NOT NULL) ORDER BY id", "4"},
		{"SELECT id FROM a WHERE k NOT IN (SELECT k FROM b WHERE v > 99) ORDER BY id", "1 / 2 / 3 / 4 / 5"},
		{"SELECT id, k IN (SELECT k FROM b) i, k IN (SELECT k FROM b WHERE v > 99) n FROM a ORDER BY id", "1,1,0 / 2,1,0 / 3,NULL,0 / 4,NULL,0 / 5,1,0"},
		{"SELECT id FROM a WHERE NOT (id = 1 OR k IN (SELECT k FROM b WHERE k = 2)) ORDER BY id", "4"},
		{"SELECT id FROM a WHERE (k IN (SELECT k FROM b)) IS NULL ORDER BY id", "3 / 4"},
		{"SELECT id FROM a WHERE (k, s) NOT IN (SELECT k, s FROM b WHERE k IS NOT NULL AND s IS NOT NULL) ORDER BY id", "4"},
		{"SELECT id FROM a WHERE (k, s) NOT IN (SELECT k, s FROM b) ORDER BY id", ""},
		{"SELECT id FROM a WHERE (k, s) NOT IN (SELECT k, s FROM b WHERE v > 20 AND k = 2) ORDER BY id", "1 / 3 / 4 / 5"},
		{"SELECT id, (k, s) IN (SELECT k, s FROM b WHERE v > 20) i FROM a ORDER BY id", "1,NULL / 2,1 / 3,NULL / 4,NULL / 5,NULL"},
		{"SELECT id, (id, k, s) IN (SELECT v, k, s FROM b) i FROM a ORDER BY id", "1,0 / 2,NULL / 3,NULL / 4,0 / 5,NULL"},
		{"SELECT a.id, b.v FROM a JOIN b ON a.k < b.k AND a.id < 2 AND b.v < 25 ORDER BY 1, 2", "1,20 / 1,21"},
		{"SELECT a.id, b.v FROM a LEFT JOIN b ON a.k < b.k AND a.id < 2 AND b.v < 25 ORDER BY 1, 2", "1,20 / 1,21 / 2,NULL / 3,NULL / 4,NULL / 5,NULL"},
		{"SELECT COUNT(*), SUM(a.id * b.v) FROM a, b", "30,1215"},
		{"SELECT a.id, x.id, y.id FROM a RIGHT JOIN a x ON a.id = x.k RIGHT JOIN a y ON a.id = y.id - 1 ORDER BY 3, 2", "NULL,NULL,1 / 1,1,2 / 2,2,3 / 2,5,3 / NULL,NULL,4 / 4,4,5"},
		{"SELECT a.id, x.id, y.v FROM a LEFT JOIN (a x JOIN b y ON x.k = y.k AND x.id < y.v) ON a.id = x.id ORDER BY 1, 3", "1,1,10 / 2,2,20 / 2,2,21 / 3,NULL,NULL / 4,NULL,NULL / 5,5,20 / 5,5,21"},
		{"SELECT a.id FROM a LEFT JOIN (a x JOIN b y ON x.id > y.k) ON a.id = x.id AND y.v > 20 WHERE x.id IS NULL ORDER BY 1", "1 / 2"},
		{"SELECT COUNT(*) FROM a CROSS JOIN b WHERE a.id <> b.k", "20"},
		{"SELECT id FROM a WHERE (k, s) IN (SELECT k, s FROM b) ORDER BY id", "1 / 2 / 5"},
		{"SELECT id FROM a WHERE k NOT IN (SELECT k + 1 FROM b WHERE k IN (SELECT k FROM a WHERE s = 'y')) ORDER BY id", "1 / 2 / 4 / 5"},
		{"SELECT x.id FROM (SELECT * FROM a WHERE id > 1) x WHERE NOT EXISTS (SELECT 1 FROM (SELECT k, MAX(v) m FROM b GROUP BY k) y WHERE y.k = x.k AND y.m > 10) ORDER BY id", "3 / 4"},
		{"SELECT a.id FROM a JOIN b ON a.k = b.k WHERE a.id NOT IN (SELECT v FROM b WHERE v IS NOT NULL) AND b.s = 'y' ORDER BY id", "2 / 5"},
		{"SELECT COUNT(*) FROM a WHERE NOT EXISTS (SELECT 1 FROM b JOIN a c ON b.k = c.k WHERE c.id = a.id)", "2"},
	}.check(t, in)
}

func TestSubqueriesOnOtherRowsGoInColumns(t *testing.T) {
	in := start(t, nil)
	in.topic("a", nil, `{"id":1,"k":1,"s":"x"}`, `{"id":2,"k":2,"s":"y"}`)
	in.topic("b", nil, `{"k":1,"s":"x","v":10}`)
	db := in.open("app", "", "")
	for _, query := range []string{
		"SELECT id FROM a WHERE k NOT IN (SELECT k FROM b)",
		"SELECT COUNT(*) FROM a WHERE k NOT IN (SELECT k FROM b WHERE v > 1) AND id > 1",
		"SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k)",
		"SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.s = a.s)",
		"SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.v > a.id)",
		"SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.v > a.id)",
		"SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.v > a.id)",
		"SELECT id FROM a WHERE id = 1 OR k IN (SELECT k FROM b)",
		"SELECT id, (SELECT MAX(v) FROM b WHERE b.k = a.k), EXISTS (SELECT 1 FROM b WHERE b.k = a.k) FROM a",
		"SELECT SUM(m) FROM (SELECT (SELECT COUNT(*) FROM b WHERE b.k = a.k) m FROM a) d",
		"SELECT id FROM a WHERE id * 10 > (SELECT AVG(v) FROM b WHERE b.k = a.k)",
	} {
		plan := ask(t, db, "EXPLAIN "+query)
		if strings.Contains(plan, "Not in columns") || !strings.Contains(plan, "In columns") {
			t.Errorf("%s:\n%s", query, plan)
		}
	}
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

func TestASubquerysErrorsAreToldOnlyWhereItsValueIsAskedFor(t *testing.T) {
	in := start(t, nil)
	in.topic("a", map[string]string{"millrace.columns": "id INT"}, `{"id":1}`, `{"id":2}`)
	in.topic("none", map[string]string{"millrace.columns": "id INT"})
	bothWays(t, in.open("app", "", ""), []struct{ query, want string }{
		{"SELECT COUNT(*) FROM a WHERE id > 100 AND id = (SELECT id FROM a)", "0"},
		{"SELECT COUNT(*) FROM a WHERE FALSE AND id = (SELECT id FROM a)", "0"},
		{"SELECT COUNT(*) FROM none WHERE id = (SELECT id FROM a)", "0"},
		{"SELECT IF(id < 100, 1, id = (SELECT id FROM a)) FROM a", "1 / 1"},
		{"SELECT COUNT(*) FROM a WHERE id = (SELECT id FROM a)", "error 1242: Error 1242 (21000): the subquery returned more than 1 row"},
	})
}

func TestExplainComputesNoSubquery(t *testing.T) {
	in := start(t, nil)
	in.topic("a", map[string]string{"millrace.columns": "id INT, s VARCHAR(9), d DECIMAL(9,2), at DATETIME, day DATE"}, `{"id":1}`, `{"id":2}`)
	db := in.open("app", "", "")
	for _, c := range []struct{ where, want string }{
		{"id > (SELECT AVG(id) FROM a)", "id > (select #2)"},
		{"s = (SELECT MAX(s) FROM a) AND d < (SELECT MIN(d) FROM a)", "s = (select #2)) AND (d < (select #3)"},
		{"at >= (SELECT MAX(at) FROM a)", "a.at >= (select #2)"},
		{"id = (SELECT id FROM a)", "id = (select #2)"},
		{"_offset >= (SELECT MAX(_offset) FROM a)", "counts from partition bounds"},
		{"id = (SELECT SLEEP(100) FROM a)", "Sleep"},
	} {
		plan := ask(t, db, "EXPLAIN SELECT COUNT(*) FROM a WHERE "+c.where)
		if !strings.Contains(strings.ToLower(plan), strings.ToLower(c.want)) {
			t.Errorf("%s: %s", c.where, plan)
		}
		if c.want != "Sleep" && (!strings.Contains(plan, "Computed first: (select #2)") || !strings.Contains(plan, "In columns")) {
			t.Errorf("%s: %s", c.where, plan)
		}
	}
	// Nobody's literal is taken for a subquery's value.
	for _, n := range []int{0, 1, 2} {
		where := fmt.Sprintf("id <> %d AND s <> '⟨%d⟩' AND at <> '1997-01-01 00:00:%02d' AND id > (SELECT AVG(id) FROM a) AND s > (SELECT MAX(s) FROM a) AND at > (SELECT MAX(at) FROM a)", 1_970_010+n, n+1, n)
		plan := ask(t, db, "EXPLAIN SELECT COUNT(*) FROM a WHERE "+where)
		for _, literal := range []string{fmt.Sprint(1_970_010 + n), fmt.Sprintf("⟨%d⟩", n+1), fmt.Sprintf("1997-01-01 00:00:%02d", n)} {
			if !strings.Contains(plan, literal) {
				t.Errorf("%s is not in %s", literal, plan)
			}
		}
	}
	if plan := ask(t, db, "EXPLAIN SELECT COUNT(*) FROM a WHERE day > (SELECT MAX(day) FROM a)"); !strings.Contains(plan, "> (select #2)") {
		t.Error(plan)
	}
	if got := ask(t, db, "EXPLAIN ANALYZE SELECT COUNT(*) FROM a WHERE id = (SELECT id FROM a)"); !strings.HasPrefix(got, "error 1242") {
		t.Error(got)
	}
}

func TestSubqueriesOfAGroupedQueryNameItsGroupingColumns(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "i INT, s VARCHAR(9)"}, `{"i":1,"s":"x"}`, `{"i":2,"s":"x"}`, `{"i":3,"s":"x"}`)
	bothWays(t, in.open("app", "", ""), []struct{ query, want string }{
		{"SELECT SUM(i), (SELECT SUM(x.i) FROM t x WHERE x.i < t.i) FROM t GROUP BY i ORDER BY 1", "1,NULL / 2,1 / 3,3"},
		{"SELECT SUM(i), (SELECT MAX(x.i) FROM t x WHERE x.i <= t.i AND x.s LIKE CONCAT(t.s, '%')) FROM t GROUP BY i, s ORDER BY 1", "1,1 / 2,2 / 3,3"},
		{"SELECT SUM(i) n FROM t GROUP BY i HAVING (SELECT COUNT(*) FROM t x WHERE x.i <= t.i) > 1 ORDER BY n", "2 / 3"},
		{"SELECT SUM(i) FROM t GROUP BY i ORDER BY (SELECT 10 - x.i FROM t x WHERE x.i = t.i)", "3 / 2 / 1"},
		{"SELECT SUM(i) n FROM t GROUP BY i HAVING EXISTS (SELECT 1 FROM t x WHERE x.i > t.i) ORDER BY n DESC", "2 / 1"},
		{"SELECT MAX(s), (SELECT t.i) z FROM t GROUP BY i ORDER BY 2", "x,1 / x,2 / x,3"},
		{"SELECT (SELECT COUNT(*) FROM t x WHERE x.i < t.i AND x.i > 1) m, COUNT(*) FROM t GROUP BY m ORDER BY m", "0,2 / 1,1"},
		{"SELECT EXISTS (SELECT 1 FROM t x WHERE x.i > t.i) m, SUM(i) FROM t GROUP BY m ORDER BY m", "0,3 / 1,3"},
		{"SELECT d.n FROM (SELECT SUM(i) n, (SELECT (SELECT t.i)) z FROM t GROUP BY i) d WHERE d.z > 1 ORDER BY 1", "2 / 3"},
		{"SELECT SUM(i), (SELECT COUNT(*) FROM t x WHERE x.i < t.i) FROM t", "error 1140: Error 1140 (42000): In aggregated query without GROUP BY, expression #2 of SELECT list contains nonaggregated column 't.i'; this is incompatible with sql_mode=only_full_group_by"},
	})
}
