package mysql

import (
	"fmt"
	"strings"
	"testing"
)

// The groups of BI tools: of a minute, and of a week made a date again.
func TestTimesAreGroupedAsToolsWriteThem(t *testing.T) {
	in := start(t, nil)
	in.topic("rides", map[string]string{"millrace.columns": "at DATETIME, n BIGINT"},
		`{"at":"2026-01-01T10:00:05Z","n":1}`, `{"at":"2026-01-01T10:00:59Z","n":2}`, `{"at":"2026-01-03T10:01:00Z","n":3}`, `{"at":"2026-01-04T11:01:00Z","n":4}`)
	db := in.open("app", "", "")
	for _, c := range []struct{ query, want string }{
		{"SELECT MINUTE(at), SUM(n) FROM rides GROUP BY MINUTE(at) ORDER BY 1", "0,3 / 1,7"},
		{"SELECT DATE_ADD(DATE(at), INTERVAL (HOUR(at)*60 + MINUTE(at)) MINUTE) AS at, SUM(n) FROM rides GROUP BY DATE_ADD(DATE(at), INTERVAL (HOUR(at)*60 + MINUTE(at)) MINUTE) ORDER BY at LIMIT 2",
			"2026-01-01 10:00:00,3 / 2026-01-03 10:01:00,3"},
		{"SELECT STR_TO_DATE(CONCAT(YEARWEEK(at), ' Sunday'), '%X%V %W') AS w, SUM(n) FROM rides GROUP BY STR_TO_DATE(CONCAT(YEARWEEK(at), ' Sunday'), '%X%V %W') ORDER BY 1",
			"2025-12-28,6 / 2026-01-04,4"},
		{"SELECT STR_TO_DATE(CONCAT(YEARWEEK(at, 3), ' monday'), '%x%v %W') AS w, SUM(n) FROM rides GROUP BY 1 ORDER BY 1", "2025-12-29,10"},
		{"SELECT STR_TO_DATE('200442 Monday', '%X%V %W'), STR_TO_DATE('202653 Friday', '%x%v %W'), STR_TO_DATE('202600 Monday', '%X%V %W'), STR_TO_DATE('2026 Monday', '%X%V %W'), STR_TO_DATE('202601 Moonday', '%X%V %W'), STR_TO_DATE(NULL, '%X%V %W')",
			"2004-10-18,2027-01-01,NULL,NULL,NULL,NULL"},
		{"SELECT STR_TO_DATE('3,2,2026', '%d,%m,%Y')", "2026-02-03"},
	} {
		if got := ask(t, db, c.query); got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
}

// Drivers list their types in a UNION of forty; each was looked at twice as often as the one after it.
func TestAUnionOfManyIsPlannedInTime(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"n":1}`)
	db := in.open("app", "", "")
	parts := make([]string, 60)
	for i := range parts {
		parts[i] = fmt.Sprintf("SELECT %d AS a, 'x' AS b, NULL AS c", i)
	}
	query := "SELECT COUNT(*), SUM(a) FROM (" + strings.Join(parts, " UNION ") + " UNION SELECT n + 100, 'y', _key FROM t) u"
	if got := ask(t, db, query); got != "61,1871" {
		t.Error(got)
	}
}
