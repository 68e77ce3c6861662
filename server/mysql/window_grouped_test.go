package mysql

import (
	"strings"
	"testing"
)

func TestWindowsOverGroupsAreRefusedWithTheWayRound(t *testing.T) {
	in := start(t, nil)
	in.topic("w", nil, `{"s":"x","a":1}`, `{"s":"y","a":2}`, `{"s":"y","a":5}`)
	db := in.open("app", "", "")
	for _, query := range []string{
		"SELECT s, SUM(COUNT(*)) OVER () FROM w GROUP BY s",
		"SELECT s, SUM(SUM(a)) OVER (PARTITION BY s) FROM w GROUP BY s",
		"SELECT SUM(SUM(a)) OVER () FROM w",
		"SELECT COUNT(*) OVER (ORDER BY AVG(a)) FROM w",
		"SELECT RANK() OVER v FROM w WINDOW v AS (ORDER BY MAX(a))",
		"SELECT MAX(GROUP_CONCAT(s)) OVER () FROM w",
		"SELECT s, ROW_NUMBER() OVER (ORDER BY s) FROM w GROUP BY s",
		"SELECT s, SUM(a), ROW_NUMBER() OVER () FROM w GROUP BY s",
	} {
		_, err := db.Exec(query)
		if errNumber(err) != 1235 || !strings.Contains(err.Error(), "subquery") {
			t.Errorf("%s: %v", query, err)
		}
	}
	for query, want := range map[string]string{
		"SELECT s, SUM(n) OVER () FROM (SELECT s, COUNT(*) AS n FROM w GROUP BY s) AS g ORDER BY s":   "x,3 / y,3",
		"SELECT s, SUM(a) OVER (ORDER BY _offset) FROM w WHERE a < (SELECT MAX(a) FROM w) ORDER BY a": "x,1 / y,3",
		"SELECT a, SUM((SELECT COUNT(*) FROM w)) OVER (ORDER BY _offset) FROM w ORDER BY a":           "1,3 / 2,6 / 5,9",
	} {
		if got := ask(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}
