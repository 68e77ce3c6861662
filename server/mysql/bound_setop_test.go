package mysql

import "testing"

func TestSetOperationsTakeTypesThatHoldBothSides(t *testing.T) {
	in := start(t, nil)
	in.topic("u", map[string]string{"millrace.columns": "i BIGINT, j INT, n DECIMAL(12,2), f DOUBLE, s VARCHAR(40), g VARCHAR(3), d DATE, t DATETIME(3), w BIGINT UNSIGNED"},
		`{"i":9007199254740993,"j":7,"n":1234567890.25,"f":0.5,"s":"hello world","g":"red","d":"2024-02-29","t":"2024-02-29 01:02:03.004","w":18446744073709551615}`)
	cases{
		{"SELECT j FROM u UNION ALL SELECT i FROM u", "7 / 9007199254740993"},
		{"SELECT x, COUNT(*) FROM (SELECT _partition AS x FROM u UNION ALL SELECT i FROM u) v GROUP BY x ORDER BY x", "0,1 / 9007199254740993,1"},
		{"SELECT x, COUNT(*) FROM (SELECT g AS x FROM u UNION ALL SELECT s FROM u) v GROUP BY x ORDER BY x", "hello world,1 / red,1"},
		{"SELECT SUM(x) FROM (SELECT j AS x FROM u UNION ALL SELECT n FROM u) v", "1234567897.25"},
		{"SELECT j FROM u UNION ALL SELECT n FROM u ORDER BY j", "7.00 / 1234567890.25"},
		{"SELECT j FROM u UNION ALL SELECT f FROM u", "7 / 0.5"},
		{"SELECT x+1 FROM (SELECT j AS x FROM u UNION SELECT f FROM u) v", "8 / 1.5"},
		{"SELECT w FROM u UNION ALL SELECT i FROM u", "18446744073709551615 / 9007199254740993"},
		{"SELECT d FROM u UNION ALL SELECT t FROM u", "2024-02-29 00:00:00.000 / 2024-02-29 01:02:03.004"},
		{"SELECT j FROM u UNION ALL SELECT s FROM u UNION ALL SELECT n FROM u", "7 / hello world / 1234567890.25"},
		{"SELECT NULL UNION ALL SELECT i FROM u", "NULL / 9007199254740993"},
		{"SELECT CAST(j AS CHAR) AS j FROM u UNION ALL SELECT CAST(i AS CHAR) FROM u", "7 / 9007199254740993"},
		{"SELECT 1 UNION SELECT 1 UNION ALL SELECT 2.5", "1.0 / 2.5"},
		{"WITH c AS (SELECT j AS x FROM u UNION ALL SELECT i FROM u) SELECT MAX(x) FROM c WHERE x > 8", "9007199254740993"},
		{"SELECT COUNT(*) FROM u WHERE i IN (SELECT j FROM u UNION SELECT i FROM u)", "1"},
		{"SELECT j FROM u INTERSECT SELECT 7.0", "7.0"},
		{"SELECT i FROM u EXCEPT SELECT j FROM u", "9007199254740993"},
		{"WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n+1 FROM r WHERE n < 4) SELECT SUM(n) FROM r", "10"},
	}.check(t, in)
}

func TestInSubqueryComparesWithoutConversion(t *testing.T) {
	in := start(t, nil)
	in.topic("a", map[string]string{"millrace.columns": "s VARCHAR(40), n DECIMAL(12,2), i BIGINT"}, `{"s":"hello world","n":1.5,"i":9007199254740993}`, `{"s":"red","n":2}`, `{"n":7}`)
	in.topic("b", map[string]string{"millrace.columns": "g VARCHAR(3), j INT, f DOUBLE"}, `{"g":"red","j":2,"f":9007199254740992}`, `{"g":null,"j":1}`)
	cases{
		{"SELECT COUNT(*) FROM a WHERE s NOT IN (SELECT g FROM b)", "0"},
		{"SELECT COUNT(*) FROM a WHERE s NOT IN (SELECT g FROM b WHERE g IS NOT NULL)", "1"},
		{"SELECT COUNT(*) FROM a WHERE s NOT IN (SELECT g FROM b WHERE j > 9)", "3"},
		{"SELECT s, s IN (SELECT g FROM b) FROM a ORDER BY _offset", "hello world,NULL / red,1 / NULL,NULL"},
		{"SELECT n FROM a WHERE n IN (SELECT j FROM b)", "2.00"},
		{"SELECT COUNT(*) FROM a WHERE n NOT IN (SELECT j FROM b)", "2"},
		{"SELECT COUNT(*) FROM a WHERE s IN (SELECT g FROM b)", "1"},
		{"SELECT COUNT(*) FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.g = a.s)", "1"},
		{"SELECT COUNT(*) FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.g = a.s)", "2"},
		{"SELECT (SELECT MAX(j) FROM b) IN (SELECT n FROM a)", "1"},
	}.check(t, in)
}
