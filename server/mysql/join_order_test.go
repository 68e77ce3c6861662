package mysql

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestEveryConditionOfManyJoinsCounts(t *testing.T) {
	in := start(t, nil)
	for i := 1; i <= 10; i++ {
		var rows []string
		for v := 1; v <= 4; v++ {
			rows = append(rows, fmt.Sprintf(`{"a%d":%d,"b%d":%d}`, i, v, i, v))
		}
		in.topic(fmt.Sprintf("t%d", i), map[string]string{"millrace.columns": fmt.Sprintf("a%d INT, b%d INT", i, i)}, rows...)
	}
	in.topic("o", map[string]string{"millrace.columns": "a INT, b INT"}, `{"a":1,"b":2}`, `{"a":2,"b":1}`, `{"a":9,"b":9}`)
	tables := "t1"
	for i := 2; i <= 10; i++ {
		tables += fmt.Sprintf(",t%d", i)
	}
	chain := "t1"
	for i := 2; i <= 10; i++ {
		chain += fmt.Sprintf(" JOIN t%d ON a%d=b%d", i, i, i-1)
	}
	bothWays(t, in.open("app", "", ""), []struct{ query, want string }{
		{"SELECT a1 FROM " + tables + " WHERE 1=a3 AND b9=a3 AND b2=a9 AND b10=a2 AND b5=a10 AND b7=a5 AND b4=a7 AND b1=a4 AND b8=a1 AND b6=a8", "1"},
		{"SELECT COUNT(*), SUM(a1) FROM " + chain + " WHERE a10+a1=4", "1,2"},
		{"SELECT COUNT(*) FROM " + chain + " WHERE a1<>b10", "0"},
		{"SELECT COUNT(*) FROM " + chain + " AND a10<=a1 AND a1+a2+a3>3 AND t1.a1 IN (SELECT a FROM o)", "1"},
		{"SELECT COUNT(*) FROM " + chain + " LEFT JOIN o ON o.a=a1 AND o.b<a10 WHERE o.b IS NULL", "3"},
		{"SELECT a1, o.b FROM " + chain + " LEFT JOIN o ON o.a=a1 WHERE EXISTS (SELECT 1 FROM o p WHERE p.b=a2) ORDER BY 1", "1,2 / 2,1"},
		{"SELECT a1 FROM " + chain + " WHERE a1 NOT IN (SELECT a FROM o) AND NOT EXISTS (SELECT 1 FROM o p WHERE p.a+2=a2) ORDER BY 1", ""},
		{"SELECT x.a, (SELECT COUNT(*) FROM " + tables + " WHERE a1=x.a AND a2=a1 AND a3=b2 AND a4=a3 AND b4=b5 AND a6=b5 AND a7=b6 AND a8=b7 AND a9=a8 AND b9=a10) FROM o x ORDER BY 1", "1,1 / 2,1 / 9,0"},
		{"SELECT COUNT(*) FROM t1, t2, t3, t4 WHERE a1=1 AND a3=2", "16"},
		{"SELECT COUNT(*) FROM t1, t2 JOIN t3 ON a3>a2 WHERE a1+a2=a3", "6"},
		{"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT t2.a2+1 FROM c, t1, t2 WHERE c.n=a1 AND b1=a2) SELECT n FROM c ORDER BY 1", "1 / 2 / 3 / 4 / 5"},
		{"SELECT j.x FROM t1 JOIN t2 ON a1=a2 JOIN JSON_TABLE(CONCAT('[',a1,']'), '$[*]' COLUMNS (x INT PATH '$')) j JOIN t3 ON a3=j.x ORDER BY 1", "1 / 2 / 3 / 4"},
		{"SELECT a1, d.m FROM t1 JOIN LATERAL (SELECT MAX(a2) m FROM t2 WHERE a2<a1) d JOIN t3 ON a3=d.m ORDER BY 1", "2,1 / 3,2 / 4,3"},
	})
}

func TestMoreThan64RelationsKeepAllOfTheirConditions(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "id INT, other INT"}, `{"id":1,"other":2}`, `{"id":2,"other":1}`)
	db := in.open("app", "", "")
	const exists = " AND EXISTS (SELECT 1 FROM t x WHERE x.id = 2)"
	joins, commas, where := "t t0", "t t0", " WHERE 1"
	for i := 1; i < 61; i++ {
		joins += fmt.Sprintf(" JOIN t t%d ON t%d.id = t%d.id", i, i, i-1)
		commas += fmt.Sprintf(", t t%d", i)
		where += fmt.Sprintf(" AND t%d.id = t%d.id", i, i-1)
	}
	for _, n := range []int{4, 8} {
		more := strings.Repeat(exists, n)
		bothWays(t, db, []struct{ query, want string }{
			{"SELECT COUNT(*) FROM " + joins + " WHERE 1" + more, "2"},
			{"SELECT COUNT(*) FROM " + commas + where + more, "2"},
			{"SELECT COUNT(*) FROM " + joins + " WHERE t60.id < 2" + more, "1"},
			{"SELECT t0.id, t60.id FROM " + joins + " WHERE t0.other + t60.other = 4" + more, "1,1"},
			{"SELECT COUNT(*) FROM " + joins + " WHERE 1" + more + " AND EXISTS (SELECT 1 FROM t x WHERE x.id = 3)", "0"},
		})
	}
	var right string
	for i := 1; i < 61; i++ {
		right += fmt.Sprintf("t t%d JOIN (", i)
	}
	right += "t t0"
	for i := 60; i > 0; i-- {
		right += fmt.Sprintf(") ON t%d.id = t0.id", i)
	}
	bothWays(t, db, []struct{ query, want string }{{"SELECT COUNT(*), SUM(t60.other) FROM " + right + " WHERE 1" + strings.Repeat(exists, 70), "2,3"}})
}

func TestUpTo61TablesAreJoinedInTime(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "id INT, next INT"}, `{"id":1,"next":2}`, `{"id":2,"next":3}`, `{"id":3}`)
	db := in.open("app", "", "")
	for shape, query := range map[string]func(n int) string{
		"star": func(n int) string {
			s := "SELECT COUNT(*) FROM t t0"
			for i := 1; i < n; i++ {
				s += fmt.Sprintf(" JOIN t t%d ON t%d.id = t0.id", i, i)
			}
			return s
		},
		"chain by commas": func(n int) string {
			s, where := "SELECT COUNT(*) FROM t t0", "1"
			for i := 1; i < n; i++ {
				s += fmt.Sprintf(", t t%d", i)
				where += fmt.Sprintf(" AND t%d.id = t%d.id", i, i-1)
			}
			return s + " WHERE " + where
		},
		"outer": func(n int) string {
			s := "SELECT COUNT(*) FROM t t0"
			for i := 1; i < n; i++ {
				s += fmt.Sprintf(" LEFT JOIN t t%d ON t%d.id = t%d.next", i, i, i-1)
			}
			return s
		},
		"beside independent subqueries": func(n int) string {
			s := "SELECT COUNT(*) FROM t t0"
			for i := 1; i < n; i++ {
				s += fmt.Sprintf(" JOIN t t%d ON t%d.id = t%d.id", i, i, i-1)
			}
			return s + " WHERE 1" + strings.Repeat(" AND EXISTS (SELECT 1 FROM t x WHERE x.id = 2)", 20)
		},
		"mixed": func(n int) string {
			s := "SELECT COUNT(*) FROM t t0"
			for i := 1; i < n; i++ {
				s += fmt.Sprintf(" %s JOIN t t%d ON t%d.id = t%d.id", []string{"", "LEFT", "RIGHT"}[i%3], i, i, i-1)
			}
			return s + " WHERE t0.id IN (SELECT id FROM t)" + strings.Repeat(" AND EXISTS (SELECT 1 FROM t x WHERE x.id = t0.id)", 20)
		},
	} {
		began := time.Now()
		for _, n := range []int{9, 12, 14, 16, 30, 61} {
			if got := ask(t, db, query(n)); got != "3" {
				t.Errorf("%s of %d: %s, want 3", shape, n, got)
			}
		}
		t.Logf("%s: %v", shape, time.Since(began))
	}
}
