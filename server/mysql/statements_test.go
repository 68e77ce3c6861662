package mysql

import (
	"fmt"
	"strings"
	"testing"
)

func TestStatementsAreSummedUpByDigest(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"a":1,"s":"x"}`, `{"a":2,"s":"y"}`)
	db := in.open("app", "", "")
	for i := range 3 {
		ask(t, db, fmt.Sprintf("SELECT s FROM t WHERE a>%d", i))
	}
	ask(t, db, "SELECT a FROM t WHERE LPAD(s,a,'z')<>''")
	ask(t, db, "SELECT nothing FROM t")
	const q = "SELECT statement,count,errors,rows_sent,rows_scanned,fallbacks,fallback_reason IS NULL FROM millrace.statements WHERE statement LIKE '%from `t`%' ORDER BY statement"
	want := "select `a` from `t` where `lpad` ( `s` , `a` , ? ) <> ?,1,0,2,2,1,0 / select `nothing` from `t`,1,1,0,0,0,1 / select `s` from `t` where `a` > ?,3,0,3,4,0,1"
	if got := ask(t, db, q); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestOnlyTheLatestDigestsAreKept(t *testing.T) {
	s := newStatements()
	r := &running{}
	for i := range maxDigests + 10 {
		s.record(fmt.Sprintf("SELECT c%d FROM t", i), 1, false, 1, &r.trace)
	}
	if n := len(s.by); n != maxDigests || s.recency.Len() != n {
		t.Errorf("%d digests in the map, %d in the list", n, s.recency.Len())
	}
}

func TestExplainAnalyzeTellsWhatEachOperatorDid(t *testing.T) {
	in := start(t, nil)
	values := make([]string, 2500)
	for i := range values {
		values[i] = fmt.Sprintf(`{"a":%d,"s":"x%d"}`, i, i%3)
	}
	in.topic("t", nil)
	in.produce(in.id("t"), values...)
	db := in.open("app", "", "")
	got := strings.ReplaceAll(ask(t, db, "EXPLAIN ANALYZE SELECT s,COUNT(*) FROM t WHERE a>=1500 GROUP BY s ORDER BY 2"), " / ", "\n")
	for _, part := range []string{"In columns:", "Aggregate COUNT(*) by s", "Scan t where (a >= 1500)", "Carried out in columns:", "rows scanned", "blocks pruned", "actual: 3 rows"} {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in\n%s", part, got)
		}
	}
	in.topic("u", nil)
	in.produce(in.id("u"), `{"s":"x1","k":"one"}`, `{"s":"x2","k":"two"}`)
	for _, q := range []string{"SELECT UPPER(s),COUNT(*),SUM(a),AVG(a) FROM t GROUP BY 1", "SELECT MAX(a) FROM t WHERE s LIKE '%2'", "SELECT u.k,SUM(t.a) FROM t JOIN u ON t.s=u.s GROUP BY u.k"} {
		if got = ask(t, db, "EXPLAIN ANALYZE "+q); !strings.Contains(got, " answered by synopses, 0 rows scanned") {
			t.Errorf("%s: %s", q, got)
		}
	}
	got = strings.ReplaceAll(ask(t, db, "EXPLAIN SELECT s FROM t WHERE LPAD(s,a,'z')='x'"), " / ", "\n")
	if !strings.Contains(got, "Not in columns: ") {
		t.Error(got)
	}
}
