package mysql

import "testing"

func TestFormsThatTheParserLacksMeanWhatMySQLMeans(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"s":"Robert","a":1,"b":2,"c":1}`, `{"s":"blue","a":0,"b":0,"c":1}`)
	cases{
		{"SELECT SUBSTRING(s FROM 2), SUBSTRING(UPPER(s) FROM -3 FOR 2), MID(s FROM 2 FOR 1), SUBSTR('abc' FROM LENGTH(TRIM(BOTH 'x' FROM 'xx1'))), SUBSTRING((SELECT 'from' FROM t LIMIT 1) FROM 2), SUBSTRING(s, 1, 2) FROM t", "obert,ER,o,abc,rom,Ro / lue,LU,l,abc,rom,bl"},
		{"SELECT s SOUNDS LIKE 'Rupert', 1 = ('blew' SOUNDS LIKE s), a + 1 AS x FROM t WHERE NOT s SOUNDS LIKE CONCAT('x', 'y') AND (s SOUNDS LIKE 'rupert' OR LEFT(s, 3) SOUNDS LIKE 'blue')", "1,0,2 / 0,1,1"},
		{"SELECT a = b = c, 3 > 2 > 1, a <= b < 1 = 1, 1 = 1 = 1 = 1, (a = b) = 0, a = b IS NULL FROM t", "0,0,0,1,1,0 / 1,0,0,1,0,0"},
		{"SELECT s FROM t x JOIN (SELECT 1 o) y ON x.a = y.o = x.c WHERE x.b = 2 = 1 AND CASE WHEN a = b = 0 THEN 1 END = 1 = TRUE ORDER BY a = 1 = 1", "Robert"},
		{"SELECT COUNT(*) n, LEFT(s, 1) = 'R' = 1 AS r FROM t GROUP BY r HAVING n = 1 = 1 ORDER BY r", "1,0 / 1,1"},
	}.check(t, in)

	db := in.open("app", "", "")
	rows, err := db.Query("SELECT SUBSTRING(s FROM 2), a = b = c, s SOUNDS LIKE 'x' FROM t")
	if err != nil {
		t.Fatal(err)
	}
	names, err := rows.Columns()
	if err != nil || rows.Close() != nil || len(names) != 3 || names[0] != "SUBSTRING(s FROM 2)" || names[1] != "a = b = c" || names[2] != "s SOUNDS LIKE 'x'" {
		t.Error(names, err)
	}
	for _, x := range []struct{ query, want string }{
		{"CREATE VIEW v AS SELECT 1 AS a", ""},
		{"ALTER VIEW v AS SELECT s FROM t WHERE a = 1", ""},
		{"SELECT * FROM v", "Robert"},
		{"ALTER ALGORITHM = MERGE SQL SECURITY INVOKER VIEW v (x, y) AS SELECT a, b FROM t", ""},
		{"SELECT x, y FROM v ORDER BY x", "0,0 / 1,2"},
		{"ALTER VIEW nosuch AS SELECT 1", "error 1146: Error 1146 (42S02): Table 'kafka.nosuch' doesn't exist"},
		{"ALTER VIEW t AS SELECT 1", "error 1347: Error 1347 (HY000): 'kafka.t' is not VIEW"},
		{"START TRANSACTION READ ONLY, WITH CONSISTENT SNAPSHOT", ""},
		{"START TRANSACTION WITH CONSISTENT SNAPSHOT, READ WRITE", ""},
		{"START TRANSACTION WITH CONSISTENT SNAPSHOT", ""},
		{"COMMIT", ""},
	} {
		if got := ask(t, db, x.query); got != x.want {
			t.Errorf("%s\n got %s\nwant %s", x.query, got, x.want)
		}
	}
}
