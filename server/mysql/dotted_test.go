package mysql

import (
	"fmt"
	"strings"
	"testing"
)

// Most topics that people have are named like this.one: whatever the engine makes of
// a dot, such a table must answer as one without.
func TestTopicsWithDotsInTheirNamesAnswerLikeOthers(t *testing.T) {
	in := start(t, nil)
	var values []string
	for i := range 30 {
		values = append(values, fmt.Sprintf(`{"n":%d,"s":"s%02d","g":%d}`, i*7%30, i*11%30, i%3))
	}
	for _, name := range []string{"d.o.t", "e.f", "plain", "other"} {
		in.topic(name, nil, values...)
	}
	db := in.open("", "", "")
	for _, query := range []string{
		"SELECT * FROM T1 ORDER BY n DESC LIMIT 3",
		"SELECT T1.* FROM T1 ORDER BY s LIMIT 3",
		"SELECT * FROM T1 ORDER BY _timestamp, s LIMIT 3",
		"SELECT * FROM T1 WHERE n > 20 ORDER BY s",
		"SELECT *, n+1 AS m FROM T1 ORDER BY m DESC LIMIT 3",
		"SELECT * FROM T1 ORDER BY 5 DESC LIMIT 3",
		"SELECT T1._offset, T1.n FROM T1 ORDER BY n LIMIT 3",
		"SELECT n AS s FROM T1 ORDER BY s LIMIT 3",
		"SELECT T1.g, COUNT(*), MAX(T1.n) FROM T1 GROUP BY g HAVING MAX(T1.n) > 27 ORDER BY g",
		"SELECT DISTINCT T1.g, T1.n FROM T1 ORDER BY n LIMIT 3",
		"SELECT * FROM T1 JOIN U1 ON T1.n = U1.n ORDER BY T1.s LIMIT 3",
		"SELECT * FROM T1 JOIN U1 USING (n) ORDER BY n LIMIT 3",
		"SELECT T1.n, U1.s FROM T1 LEFT JOIN U1 ON T1.n = U1.n AND U1.g = 1 ORDER BY T1.n",
		"SELECT T1.n, U1.n FROM T1, U1 WHERE T1.n = U1.n + 1 ORDER BY U1.s",
		"SELECT n FROM T1 WHERE EXISTS (SELECT 1 FROM U1 WHERE U1.n = T1.n AND U1.g = 0) ORDER BY n",
		"SELECT * FROM (SELECT * FROM T1) x ORDER BY n LIMIT 3",
		"WITH c AS (SELECT * FROM T1) SELECT * FROM c ORDER BY s LIMIT 3",
		"SELECT * FROM T1 UNION ALL SELECT * FROM U1 ORDER BY s, n LIMIT 4",
		"SELECT n, ROW_NUMBER() OVER (PARTITION BY g ORDER BY n) FROM T1 ORDER BY n",
	} {
		on := func(t, u string) string { return strings.NewReplacer("T1", "`"+t+"`", "U1", "`"+u+"`").Replace(query) }
		want, got := ask(t, db, on("plain", "other")), ask(t, db, on("d.o.t", "e.f"))
		if got != want || want == "" {
			t.Errorf("%s\n    dots: %s\n without: %s", query, got, want)
		}
	}
}
