package mysql

import (
	"database/sql"
	"testing"
)

// bothWays asks with pushdown and without.
func bothWays(t *testing.T, db *sql.DB, list []struct{ query, want string }) {
	t.Helper()
	for _, c := range list {
		for _, on := range []string{"1", "0"} {
			if _, err := db.Exec("SET millrace_pushdown=" + on); err != nil {
				t.Fatal(err)
			}
			if got := ask(t, db, c.query); got != c.want {
				t.Errorf("%s (pushdown %s):\n got %s\nwant %s", c.query, on, got, c.want)
			}
		}
	}
}

func TestInnerJoinsOverOuterOnesKeepAllOfTheirConditions(t *testing.T) {
	in := start(t, nil)
	in.topic("a", map[string]string{"millrace.columns": "j INT, s VARCHAR(9)"}, `{"j":1,"s":"x"}`, `{"j":2,"s":"x"}`, `{"j":3,"s":"x"}`)
	in.topic("b", map[string]string{"millrace.columns": "j INT, n INT"}, `{"j":1,"n":10}`, `{"j":2,"n":20}`)
	in.topic("c", map[string]string{"millrace.columns": "n INT, s VARCHAR(9)"}, `{"n":10,"s":"x"}`, `{"s":"x"}`, `{"n":20,"s":"y"}`)
	bothWays(t, in.open("app", "", ""), []struct{ query, want string }{
		{"SELECT a.j, c.n FROM a LEFT JOIN b ON a.j=b.j JOIN c ON c.n=b.n AND c.s=a.s", "1,10"},
		{"SELECT a.j, b.n, c.n FROM a LEFT JOIN b ON a.j=b.j JOIN c ON c.n<=>b.n AND c.s=a.s ORDER BY 1", "1,10,10 / 3,NULL,NULL"},
		{"SELECT a.j, c.n FROM c JOIN (a LEFT JOIN b ON a.j=b.j) ON c.s=a.s AND COALESCE(b.n,0)<15 AND c.n IS NOT NULL ORDER BY 1", "1,10 / 3,10"},
		{"SELECT COUNT(*) FROM a LEFT JOIN b ON a.j=b.j LEFT JOIN c ON c.n=b.n AND c.s=a.s", "3"},
	})
}

func TestRowsCompareByTheirPartsWithNULLs(t *testing.T) {
	in := start(t, nil)
	in.topic("r", map[string]string{"millrace.columns": "a INT, s VARCHAR(9)"}, `{"a":1,"s":"x"}`, `{"s":"x"}`, `{"a":2}`, `{"a":2,"s":"5abc"}`)
	bothWays(t, in.open("app", "", ""), []struct{ query, want string }{
		{"SELECT (a,s)=(1,'x'), (a,s)<>(1,'x'), (a,s)<=>(NULL,'x') FROM r ORDER BY _offset", "1,0,0 / NULL,NULL,1 / 0,1,0 / 0,1,0"},
		{
			"SELECT (a,s) IN ((1,'x'),(2,'y')), (a,s) NOT IN ((1,'x'),(NULL,'z')), (a,s) IN ((1,NULL),(2,5)) FROM r ORDER BY _offset",
			"1,0,NULL / NULL,NULL,NULL / NULL,NULL,NULL / 0,1,1",
		},
		{"SELECT (a,s)<(2,'6'), (a,s)>=(1,'x'), (a,s)<=(1,'w'), (a,_offset,s)>(1,7,'a') FROM r ORDER BY _offset", "1,1,0,0 / NULL,NULL,NULL,NULL / NULL,1,0,1 / 1,1,0,1"},
		{"SELECT _offset FROM r WHERE (a,s) NOT IN ((1,'x'))", "2 / 3"},
		{"SELECT (a,s) IN (SELECT a,s FROM r), (a,s) IN (SELECT a,s FROM r WHERE a=2 AND s IS NOT NULL), (a,s) NOT IN (SELECT a,s FROM r WHERE _offset>7) FROM r ORDER BY _offset", "1,0,1 / NULL,0,1 / NULL,NULL,1 / 1,1,1"},
		{"SELECT _offset FROM r WHERE (a,s) IN (SELECT a,s FROM r) ORDER BY 1", "0 / 3"},
		{"SELECT _offset FROM r WHERE (a,s) NOT IN (SELECT a,s FROM r WHERE a=1) ORDER BY 1", "2 / 3"},
		{"SELECT _offset FROM r x WHERE (a,s) IN (SELECT y.a+0.0,y.s FROM r y WHERE y._offset=x._offset) ORDER BY 1", "0 / 3"},
	})
}
