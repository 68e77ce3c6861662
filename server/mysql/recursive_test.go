package mysql

import "testing"

func TestRecursiveQueriesHaveTheTypesOfTheirFirstPart(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "i INT, d DECIMAL(4,1)"}, `{"i":1,"d":1.5}`, `{"i":2}`, `{"i":3}`)
	in.topic("o", map[string]string{"millrace.columns": "a INT, b INT"}, `{"a":1,"b":2}`)
	const count, lists = "error 1222", "error 1353"
	for _, c := range [][2]string{
		{"WITH RECURSIVE a(x) AS (SELECT 1 UNION SELECT 2 UNION SELECT x IN (SELECT i FROM t) FROM a) SELECT x FROM a", "1 / 2"},
		{"WITH RECURSIVE c(n) AS (SELECT TRUE UNION SELECT 1 FROM c) SELECT n FROM c", "1"},
		{"WITH RECURSIVE c(n) AS (SELECT 1 UNION SELECT 1.0 FROM c) SELECT n FROM c", "1"},
		{"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+0.5 FROM c WHERE n<3) SELECT n FROM c", "1 / 2 / 3"},
		{"WITH RECURSIVE c(n) AS (SELECT d FROM t WHERE i=1 UNION ALL SELECT n*1.1 FROM c WHERE n<2) SELECT n, n+0.00 FROM c", "1.5,1.50 / 1.7,1.70 / 1.9,1.90 / 2.1,2.10"},
		{"WITH RECURSIVE c(n) AS (SELECT 1 UNION SELECT 2.5 UNION ALL SELECT n+1 FROM c WHERE n<2) SELECT n FROM c", "1.0 / 2.5 / 2.0"},
		{"WITH RECURSIVE c(n, l) AS (SELECT 'a', NULL UNION ALL SELECT CONCAT(n,'b'), LENGTH(n) FROM c WHERE LENGTH(n)<3) SELECT n, l FROM c", "a,NULL / ab,1 / abb,2"},
		{"WITH RECURSIVE c(d) AS (SELECT DATE'2024-02-28' UNION ALL SELECT d + INTERVAL 1 DAY FROM c WHERE d<'2024-03-01') SELECT d FROM c", "2024-02-28 / 2024-02-29 / 2024-03-01"},
		{"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n*1e10 FROM c) SELECT n FROM c", "error 1264"},
		{"WITH RECURSIVE c(i,j) AS (SELECT 0,1,2 FROM t UNION ALL SELECT * FROM t,c) SELECT * FROM t", lists},
		{"WITH RECURSIVE c(i,j) AS (SELECT 0 FROM t UNION ALL SELECT i FROM c) SELECT * FROM c", lists},
		{"WITH RECURSIVE c(i) AS (SELECT o.* FROM (SELECT a,b FROM o) o UNION ALL SELECT 1 FROM c) SELECT * FROM c", lists},
		{"WITH RECURSIVE c AS (SELECT 1 UNION ALL SELECT 1,2 FROM c) SELECT * FROM c", count},
		{"WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1, 2 FROM c WHERE i<3) SELECT * FROM c", count},
	} {
		for _, on := range []string{"1", "0"} {
			db := in.open("app", "", "")
			if _, err := db.Exec("SET millrace_pushdown=" + on); err != nil {
				t.Fatal(err)
			}
			if got := ask(t, db, c[0]); got != c[1] && (len(c[1]) == 0 || c[1][0] != 'e' || len(got) < len(c[1]) || got[:len(c[1])] != c[1]) {
				t.Errorf("%s: %s, want %s", c[0], got, c[1])
			}
		}
	}
}
