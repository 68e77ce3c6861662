package mysql

import "testing"

func TestFoundRowsCountsWhatLimitLeavesOut(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"a":1}`, `{"a":2}`, `{"a":3}`, `{"a":4}`)
	db := in.open("app", "", "")
	db.SetMaxOpenConns(1)
	for _, x := range []struct{ query, rows, found string }{
		{"SELECT SQL_CALC_FOUND_ROWS a FROM t ORDER BY a LIMIT 1", "1", "4"},
		{"SELECT SQL_CALC_FOUND_ROWS a FROM t WHERE a > 1 ORDER BY a DESC LIMIT 1, 1", "3", "3"},
		{"SELECT SQL_CALC_FOUND_ROWS a FROM t LIMIT 0", "", "4"},
		{"SELECT SQL_CALC_FOUND_ROWS a FROM t ORDER BY a LIMIT 2 OFFSET 3", "4", "4"},
		{"SELECT SQL_CALC_FOUND_ROWS a FROM t WHERE a > 9 LIMIT 2", "", "0"},
		{"SELECT SQL_CALC_FOUND_ROWS a FROM t UNION SELECT 1 ORDER BY a LIMIT 1", "1", "4"},
		{"SELECT SQL_CALC_FOUND_ROWS a % 2 x, COUNT(*) FROM t GROUP BY x ORDER BY x LIMIT 1", "0,2", "2"},
		{"SELECT SQL_CALC_FOUND_ROWS a FROM t WHERE a < 3 ORDER BY a", "1 / 2", "2"},
		{"SELECT a FROM t ORDER BY a LIMIT 3", "1 / 2 / 3", "3"},
	} {
		if got := ask(t, db, x.query); got != x.rows {
			t.Errorf("%s: got %s, want %s", x.query, got, x.rows)
		}
		if got := ask(t, db, "SELECT FOUND_ROWS()"); got != x.found {
			t.Errorf("%s: found %s, want %s", x.query, got, x.found)
		}
	}
	st, err := db.Prepare("SELECT SQL_CALC_FOUND_ROWS a FROM t ORDER BY a LIMIT ? OFFSET ?")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var a int
		if err := st.QueryRow(1, 2).Scan(&a); err != nil || a != 3 {
			t.Error(a, err)
		}
		if got := ask(t, db, "SELECT FOUND_ROWS()"); got != "4" {
			t.Error(got)
		}
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
}
