package mysql

import (
	"fmt"
	"strings"
	"testing"
)

func TestAStatementThatKeepsTooManyRowsFailsAndTheOthersGoOn(t *testing.T) {
	in := start(t, func(o *Options) { o.MemoryBytes, o.FewRows = 1, 0 }) // less than there is in use
	in.topic("t", nil, `{"i":-1,"s":"x"}`)
	values := make([]string, 5000)
	for i := range values {
		values[i] = fmt.Sprintf(`{"i":%d,"s":"%s"}`, i, strings.Repeat("x", 500))
	}
	in.produce(in.id("t"), values...)
	db := in.open("app", "", "")
	for _, query := range []string{
		"SELECT i FROM t ORDER BY s, i",
		"SELECT COUNT(*) FROM (SELECT i, s FROM t ORDER BY s, i) x",
		"SELECT i, ROW_NUMBER() OVER (ORDER BY s) FROM t",
		"SELECT GROUP_CONCAT(s) FROM t",
		"SELECT GROUP_CONCAT(DISTINCT s ORDER BY i DESC) FROM t",
		"SELECT JSON_ARRAYAGG(s) FROM t",
		"SELECT JSON_OBJECTAGG(i, s) FROM t",
	} {
		if got := ask(t, db, query); !strings.HasPrefix(got, "error 1038") {
			t.Errorf("%s: %.100s, want error 1038", query, got)
		}
	}
	for query, want := range map[string]string{
		"SELECT COUNT(*) FROM t": "5001",
		// Groups and joins are computed part by part.
		"SELECT COUNT(*) FROM t a JOIN t b ON CONCAT(a.s, a.i) = CONCAT(b.s, b.i)":   "5001",
		"SELECT COUNT(*) FROM (SELECT CONCAT(s, i) k, COUNT(*) FROM t GROUP BY k) x": "5001",
		"SELECT COUNT(*) FROM (SELECT DISTINCT CONCAT(s, i) FROM t) x":               "5001",
		"SELECT i FROM t WHERE i = 7":                                                "7",
		"SELECT i FROM t ORDER BY _offset DESC LIMIT 1":                              "4999",
		"SELECT SUM(i), MAX(i) FROM t WHERE s LIKE 'xx%'":                            "12497500,4999",
	} {
		if got := ask(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

func TestRowByRowAStatementThatKeepsTooManyRowsFailsToo(t *testing.T) {
	in := start(t, func(o *Options) { o.MemoryBytes, o.FewRows = 1, 0 })
	in.topic("t", nil, `{"i":-1,"s":"x"}`, `{"i":1,"s":"y"}`, `{"i":2,"s":"z"}`)
	db := in.open("app", "", "")
	db.SetMaxOpenConns(1)
	if got := ask(t, db, "SET millrace_pushdown=0"); got != "" {
		t.Fatal(got)
	}
	for _, query := range []string{
		"SELECT COUNT(*) FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE b.i = a.i AND b.s <> CONCAT(a.s, 'x'))",
		"SELECT i, (SELECT MAX(b.s) FROM t b WHERE b.i = a.i) FROM t a",
		"SELECT COUNT(*) FROM t WHERE (i, s) NOT IN (SELECT i + 1, s FROM t)",
		"SELECT i IN (SELECT i + 1 FROM t) FROM t",
		"SELECT COUNT(DISTINCT i, s) FROM t",
		"SELECT COUNT(DISTINCT i) FROM t",
		"SELECT SUM(DISTINCT i) FROM t",
	} {
		if got := ask(t, db, query); !strings.HasPrefix(got, "error 1038") {
			t.Errorf("%s: %.100s, want error 1038", query, got)
		}
	}
	if got := ask(t, db, "SELECT COUNT(*), SUM(i), COUNT(s) FROM t"); got != "3,2,3" {
		t.Errorf("what keeps no rows: %s", got)
	}
}
