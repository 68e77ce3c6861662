package mysql

import (
	"fmt"
	"strings"
	"testing"

	"millrace/server/mysql/rewrite"
)

func TestAFROMClauseJoinsUpTo61Tables(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"id":1}`, `{"id":2}`)
	db := in.open("app", "", "")
	join := func(n int) string {
		s := "t t0"
		for i := 1; i < n; i++ {
			s += fmt.Sprintf(" JOIN t t%d ON t%d.id = t0.id", i, i)
		}
		return s
	}
	tooMany := "error 1116"
	for query, want := range map[string]string{
		"SELECT COUNT(*) FROM " + join(8):                                                                                      "2",
		"SELECT COUNT(*) FROM " + join(rewrite.MaxJoin+1):                                                                      tooMany,
		"SELECT COUNT(*) FROM t" + strings.Repeat(", t", rewrite.MaxJoin):                                                      tooMany,
		"SELECT (SELECT COUNT(*) FROM " + join(rewrite.MaxJoin+1) + ")":                                                        tooMany,
		"EXPLAIN SELECT COUNT(*) FROM " + join(rewrite.MaxJoin+1):                                                              tooMany,
		"SELECT COUNT(*) FROM t WHERE 1" + strings.Repeat(" AND id IN (SELECT id FROM t)", rewrite.MaxJoin):                    "2",
		"SELECT COUNT(*) FROM (SELECT t0.id FROM " + join(6) + ") a JOIN (SELECT t0.id FROM " + join(6) + ") b ON a.id = b.id": "2",
		"SELECT COUNT(*) FROM (SELECT id FROM t" + strings.Repeat(" UNION ALL SELECT id FROM t", 20) + ") u":                   "42",
	} {
		if got := ask(t, db, query); got != want && !strings.HasPrefix(got, want+":") {
			t.Errorf("%.120s: %s, want %s", query, got, want)
		}
	}
}
