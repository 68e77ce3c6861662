package mysql

import "testing"

func TestDistinctRowsAreSortedByWhatTheyHaveComputed(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"a":1,"b":"x"}`, `{"a":2,"b":"y"}`, `{"a":9,"b":"y"}`, `{"a":null,"b":"y"}`)
	cases{
		{"SELECT DISTINCT a AS x, b FROM t ORDER BY 2, 1 LIMIT 2", "1,x / NULL,y"},
		{"SELECT DISTINCT UPPER(b) FROM t ORDER BY 1 DESC", "Y / X"},
		{"SELECT DISTINCT a IS NULL, b FROM t ORDER BY 2, 1", "0,x / 0,y / 1,y"},
		{"SELECT DISTINCT b, COUNT(*) FROM t GROUP BY b ORDER BY 2 DESC, 1", "y,3 / x,1"},
		{"SELECT DISTINCT COUNT(*), b FROM t GROUP BY b ORDER BY 1, 2", "1,x / 3,y"},
		{"SELECT DISTINCT COUNT(*) c, b FROM t GROUP BY b ORDER BY c DESC", "3,y / 1,x"},
		{"SELECT DISTINCT ROW_NUMBER() OVER (ORDER BY _offset) FROM t ORDER BY 1 DESC LIMIT 1", "4"},
	}.check(t, in)
}

func TestErrorsOfWhatIsSortedByKeepTheirNumber(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"a":9223372036854775807}`, `{"a":1}`)
	db := in.open("app", "", "")
	for _, mode := range []string{"1", "0"} {
		if _, err := db.Exec("SET millrace_pushdown=" + mode); err != nil {
			t.Fatal(err)
		}
		if _, err := table(t, db, "SELECT a FROM t ORDER BY a+1"); errNumber(err) != 1690 {
			t.Error(mode, err)
		}
		if got := ask(t, db, "SELECT 1--1, a FROM t WHERE a < 9 -- and 1--1"); got != "2,1" {
			t.Error(mode, got)
		}
	}
}
