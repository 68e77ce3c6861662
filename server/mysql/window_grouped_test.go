package mysql

import (
	"database/sql"
	"strings"
	"testing"
)

func TestWindowsLookAtGroups(t *testing.T) {
	in := start(t, nil)
	in.topic("w", nil, `{"s":"x","a":1}`, `{"s":"y","a":2}`, `{"s":"y","a":5}`, `{"s":"z","a":2}`)
	db := in.open("app", "", "")
	for _, test := range [][2]string{
		{"SELECT s, SUM(COUNT(*)) OVER () FROM w GROUP BY s ORDER BY s", "x,4 / y,4 / z,4"},
		{"SELECT s, COUNT(*) AS n, ROUND(100 * COUNT(*) / SUM(COUNT(*)) OVER (), 1) AS share FROM w GROUP BY s ORDER BY share DESC, s", "y,2,50.0 / x,1,25.0 / z,1,25.0"},
		{"SELECT s, SUM(SUM(a)) OVER (ORDER BY s) running FROM w GROUP BY s ORDER BY 1", "x,1 / y,8 / z,10"},
		{"SELECT SUM(SUM(a)) OVER () FROM w", "10"},
		{"SELECT COUNT(*) OVER (ORDER BY AVG(a)) FROM w", "1"},
		{"SELECT s, RANK() OVER v r FROM w GROUP BY s WINDOW v AS (ORDER BY MAX(a) DESC) ORDER BY r, s", "y,1 / z,2 / x,3"},
		{"SELECT MAX(GROUP_CONCAT(s ORDER BY s)) OVER () FROM w", "x,y,y,z"},
		{"SELECT s, ROW_NUMBER() OVER (ORDER BY s DESC) FROM w GROUP BY s ORDER BY s", "x,3 / y,2 / z,1"},
		{"SELECT s, SUM(a), ROW_NUMBER() OVER (ORDER BY SUM(a), s) FROM w GROUP BY s HAVING SUM(a) > 1 ORDER BY SUM(a) DESC", "y,7,2 / z,2,1"},
		{"SELECT UPPER(s) AS u, SUM(a) total, SUM(a) / SUM(SUM(a)) OVER () AS part FROM w GROUP BY u HAVING total > 1 ORDER BY u", "Y,7,0.7778 / Z,2,0.2222"},
		{"SELECT a % 2 AS odd, s, COUNT(*), COUNT(*) OVER (PARTITION BY a % 2) FROM w GROUP BY 1, 2 ORDER BY odd, s", "0,y,1,2 / 0,z,1,2 / 1,x,1,2 / 1,y,1,2"},
		{"SELECT COUNT(*) OVER () AS n, s, a % 2 AS odd FROM w GROUP BY 2, 3 ORDER BY 2, 3", "4,x,1 / 4,y,0 / 4,y,1 / 4,z,0"},
		{"SELECT t.s, SUM(t.a) - LAG(SUM(t.a), 1, 0) OVER (ORDER BY t.s) AS d FROM w AS t WHERE t.a > 0 GROUP BY t.s ORDER BY t.s", "x,1 / y,6 / z,-5"},
		{"SELECT DISTINCT COUNT(*) OVER () FROM w GROUP BY s, a", "4"},
		{"SELECT s, 7, SUM(a) OVER (ORDER BY s, a) FROM w GROUP BY s, a ORDER BY s, a LIMIT 2", "x,7,1 / y,7,3"},
		{"SELECT * FROM (SELECT s, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM w GROUP BY s) g WHERE r = 1", "y,1"},
		{"WITH g AS (SELECT s, SUM(a) AS n FROM w GROUP BY s) SELECT s, MAX(n), MAX(MAX(n)) OVER () FROM g GROUP BY s ORDER BY s", "x,1,7 / y,7,7 / z,2,7"},
		{"SELECT w.s, (SELECT COUNT(*) FROM w AS o WHERE o.s < w.s) AS below, SUM(COUNT(*)) OVER (ORDER BY w.s) FROM w GROUP BY w.s ORDER BY w.s", "x,0,1 / y,1,3 / z,3,4"},
		{"SELECT a FROM w WHERE a IN (SELECT MAX(MAX(a)) OVER () FROM w GROUP BY s)", "5"},
		{"SELECT IFNULL(SUM(SUM(a)) OVER (), 0), COUNT(*) FROM w WHERE a > 100", "0,0"},
		{"SELECT s, RANK() OVER (ORDER BY COUNT(*) DESC) AS r, MAX(a) AS m FROM w GROUP BY s ORDER BY r, -m, s", "y,1,5 / z,2,2 / x,2,1"},
		{"SELECT s, COUNT(*) AS c FROM w GROUP BY s ORDER BY -c, s", "y,2 / x,1 / z,1"},
		{"SELECT s, SUM(n) OVER () FROM (SELECT s, COUNT(*) AS n FROM w GROUP BY s) AS g ORDER BY s", "x,4 / y,4 / z,4"},
		{"SELECT s, SUM(a) OVER (ORDER BY _offset) FROM w WHERE a < (SELECT MAX(a) FROM w) ORDER BY _offset", "x,1 / y,3 / z,5"},
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
	const named = "SELECT s, COUNT(*), SUM(COUNT(*)) OVER (), COUNT(*)  / 2 AS Half FROM w GROUP BY s"
	if got, want := columnNames(t, db, named), "s|COUNT(*)|SUM(COUNT(*)) OVER ()|Half"; got != want {
		t.Errorf("%s: %s, want %s", named, got, want)
	}
	for query, number := range map[string]int{
		"SELECT s, a, COUNT(*) OVER () FROM w GROUP BY s":                        1055,
		"SELECT s, SUM(a) OVER (ORDER BY a) FROM w GROUP BY s":                   1055,
		"SELECT s, COUNT(*) OVER () AS n FROM w GROUP BY s HAVING n > 1":         1054,
		"SELECT RANK() OVER (ORDER BY s) AS r, s FROM w GROUP BY 1":              1056,
		"SELECT s, nothing, SUM(COUNT(*)) OVER () FROM w GROUP BY s":             1054,
		"SELECT *, SUM(COUNT(*)) OVER () FROM (SELECT s FROM w) AS x GROUP BY s": 1235,
	} {
		if _, err := db.Exec(query); errNumber(err) != number {
			t.Errorf("%s: %v, want %d", query, err, number)
		}
	}
}

func TestWindowsOverGroupsDoNotTakeOneRandomValueForAnother(t *testing.T) {
	in := start(t, nil)
	in.topic("w", nil, `{"s":"x"}`, `{"s":"y"}`, `{"s":"y"}`)
	db := in.open("app", "", "")
	for _, query := range []string{
		"SELECT COUNT(*) FROM (SELECT s, UUID() AS u, IF(SUM(COUNT(*)) OVER () > 0, UUID(), '') AS v FROM w GROUP BY s) AS g WHERE u <> v",
		"SELECT COUNT(*) FROM (SELECT s, UUID() AS u, MAX(UUID()) OVER (PARTITION BY s) AS v FROM w GROUP BY s) AS g WHERE u <> v",
		"SELECT COUNT(*) FROM (SELECT s, (SELECT UUID()) AS u, IF(SUM(COUNT(*)) OVER () > 0, (SELECT UUID()), '') AS v FROM w GROUP BY s) AS g WHERE u <> v",
	} {
		if got := ask(t, db, query); got != "2" {
			t.Errorf("%s: %s, want 2", query, got)
		}
	}
}

// columnNames are those of query's answer.
func columnNames(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, "|")
}
