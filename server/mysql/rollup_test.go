package mysql

import "testing"

func TestRollupAddsTotals(t *testing.T) {
	in := start(t, nil)
	in.topic("w", nil, `{"s":"x","a":1}`, `{"s":"y","a":2}`, `{"s":"y","a":5}`, `{"a":2}`, `{"s":"z","a":2}`)
	in.topic("nothing", nil, `{"s":"x","a":1}`)
	db := in.open("app", "", "")
	for _, test := range [][2]string{
		{"SELECT s, a, COUNT(*), SUM(a) FROM w GROUP BY s, a WITH ROLLUP", "NULL,2,1,2 / NULL,NULL,1,2 / x,1,1,1 / x,NULL,1,1 / y,2,1,2 / y,5,1,5 / y,NULL,2,7 / z,2,1,2 / z,NULL,1,2 / NULL,NULL,5,12"},
		{"SELECT s, COUNT(*) AS c FROM w GROUP BY s WITH ROLLUP HAVING c > 1", "y,2 / NULL,5"},
		{"SELECT s FROM w GROUP BY s with  rollup HAVING SUM(a) > 2 AND COUNT(*) < 5", "y"},
		{"SELECT UPPER(s) AS u, COUNT(*) FROM w WHERE s IS NOT NULL GROUP BY u WITH ROLLUP", "X,1 / Y,2 / Z,1 / NULL,4"},
		{"SELECT UPPER(s), COUNT(*) FROM w WHERE s IS NOT NULL GROUP BY 1 WITH ROLLUP ORDER BY COUNT(*) DESC, UPPER(s) LIMIT 3", "NULL,4 / Y,2 / X,1"},
		{"SELECT IF(GROUPING(s), 'total', s) AS s, AVG(a) FROM w GROUP BY w.s WITH ROLLUP", "NULL,2.0000 / x,1.0000 / y,3.5000 / z,2.0000 / total,2.4000"},
		{"SELECT GROUPING(s, a), GROUPING(a), COUNT(*) FROM w WHERE s = 'y' GROUP BY s, a WITH ROLLUP", "0,0,1 / 0,0,1 / 1,1,2 / 3,1,2"},
		{"SELECT IFNULL(s, 'all') AS s, SUM(a) + 1 FROM w WHERE s > '' GROUP BY s WITH ROLLUP", "x,2 / y,8 / z,3 / all,11"},
		{"SELECT COUNT(DISTINCT a), GROUP_CONCAT(a ORDER BY a) FROM w GROUP BY s WITH ROLLUP LIMIT 4, 1", "3,1,2,2,2,5"},
		{"SELECT s, a FROM nothing WHERE a > 9 GROUP BY s, a WITH ROLLUP", ""},
		{"SELECT s, SUM(a), ROUND(SUM(a) / MAX(SUM(a)) OVER (), 2) FROM w WHERE s > 'x' GROUP BY s WITH ROLLUP", "y,7,0.78 / z,2,0.22 / NULL,9,1.00"},
		{"SELECT x.s, COUNT(*) FROM w AS x JOIN w AS y ON x.s = y.s GROUP BY x.s WITH ROLLUP", "x,1 / y,4 / z,1 / NULL,6"},
		{"SELECT COUNT(*) FROM (SELECT s, a, COUNT(*) FROM w GROUP BY s, a WITH ROLLUP) AS g", "10"},
		{"SELECT s, COUNT(*) FROM w WHERE a = (SELECT MAX(a) FROM w) GROUP BY s WITH ROLLUP UNION ALL SELECT 'WITH ROLLUP', 0", "y,1 / NULL,1 / WITH ROLLUP,0"},
		{"SELECT s, MAX(a) AS m FROM w WHERE s > '' GROUP BY s WITH ROLLUP ORDER BY s IS NULL, m DESC, s", "y,5 / z,2 / x,1 / NULL,5"},
		{"SELECT CONCAT(s, 'a'), COUNT(*) FROM w WHERE s = 'x' GROUP BY CONCAT(w.s, 'a') WITH ROLLUP", "xa,1 / NULL,1"},
		{"SELECT s, (SELECT SUM(v.a) FROM w AS v WHERE v.s = w.s) FROM w WHERE s > '' GROUP BY s WITH ROLLUP", "x,1 / y,7 / z,2 / NULL,NULL"},
		{"SELECT s FROM w WHERE s > '' GROUP BY s WITH ROLLUP HAVING EXISTS (SELECT 1 FROM w AS v WHERE v.s = w.s AND v.a = 5)", "y"},
		{"SELECT DISTINCT a FROM w WHERE s = 'y' GROUP BY s, a WITH ROLLUP ORDER BY a", "NULL / 2 / 5"},
		{"SELECT s AS k, MAX(a) FROM w WHERE s > 'x' GROUP BY k WITH ROLLUP ORDER BY GROUPING(k) DESC, k DESC", "NULL,5 / z,2 / y,5"},
	} {
		for _, pushdown := range []string{"1", "0"} {
			if _, err := db.Exec("SET millrace_pushdown = " + pushdown); err != nil {
				t.Fatal(err)
			}
			if got := ask(t, db, test[0]); got != test[1] {
				t.Errorf("pushdown %s: %s: %s, want %s", pushdown, test[0], got, test[1])
			}
		}
	}
	if _, err := db.Exec("CREATE VIEW totals AS SELECT s, SUM(a) AS a FROM w GROUP BY s WITH ROLLUP"); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, db, "SELECT a FROM totals WHERE s IS NULL ORDER BY a"); got != "2 / 12" {
		t.Errorf("through a view: %s", got)
	}
	const named = "SELECT s, COUNT(*), GROUPING( s ) FROM w GROUP BY s WITH ROLLUP"
	if got, want := columnNames(t, db, named), "s|COUNT(*)|GROUPING( s )"; got != want {
		t.Errorf("%s: %s, want %s", named, got, want)
	}
	if got := ask(t, db, "SELECT s, COUNT(*) FROM w WHERE a > ? GROUP BY s WITH ROLLUP HAVING COUNT(*) > ?", 1, 1); got != "y,2 / NULL,4" {
		t.Errorf("prepared: %s", got)
	}
	for query, number := range map[string]int{
		"SELECT s, a, COUNT(*) FROM w GROUP BY s WITH ROLLUP":                                                                        1055,
		"SELECT s, COUNT(*) FROM w GROUP BY s WITH ROLLUP ORDER BY a":                                                                1055,
		"SELECT CONCAT(s, 'A') FROM w GROUP BY CONCAT(s, 'a') WITH ROLLUP":                                                           1055,
		"SELECT s FROM w GROUP BY s, a, a+1, a+2, a+3, a+4, a+5, a+6, a+7, a+8, a+9, a+10, a+11, a+12, a+13, a+14, a+15 WITH ROLLUP": 1235,
		"SELECT s, GROUPING(a) FROM w GROUP BY s WITH ROLLUP":                                                                        3602,
		"SELECT s, nothing FROM w GROUP BY s WITH ROLLUP":                                                                            1055,
		"SELECT COUNT(*) FROM w GROUP BY nothing WITH ROLLUP":                                                                        1054,
		"SELECT COUNT(*) AS n FROM w GROUP BY 1 WITH ROLLUP":                                                                         1056,
		"SELECT COUNT(*) AS n FROM w WITH ROLLUP":                                                                                    1064,
		"SELECT * FROM (SELECT s FROM w) AS x GROUP BY s WITH ROLLUP":                                                                1235,
	} {
		if _, err := db.Exec(query); errNumber(err) != number {
			t.Errorf("%s: %v, want %d", query, err, number)
		}
	}
}
