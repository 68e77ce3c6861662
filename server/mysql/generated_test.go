package mysql

import "testing"

// What generated queries found (test/differential), each in the shortest form that showed it.
func TestWhatGeneratedQueriesFound(t *testing.T) {
	in := start(t, nil)
	in.topic("g", map[string]string{"millrace.columns": "id INT, s VARCHAR(20), n DECIMAL(12,2), w DECIMAL(65,30), d DATE, t DATETIME(3), e ENUM('small','large','Big')"},
		`{"id":1,"s":"red","n":"0.10","w":"0.1","d":"2024-02-29","t":"2024-01-01 00:00:00.000","e":"Big"}`,
		`{"id":2,"s":"blue","n":"0.01","w":"0.000000000000000000000000000001","d":"2023-12-31","t":"2024-02-29 12:34:56.789","e":"small"}`,
		`{"id":3,"n":"1.50","w":"2","d":"2025-06-15"}`)
	cases{
		{"SELECT id, TIMESTAMPDIFF(MONTH, t, LAST_DAY(t)), TIMESTAMPDIFF(MONTH, LAST_DAY(t), t), TIMESTAMPDIFF(YEAR, t, '2025-02-28 12:34:56.788') FROM g ORDER BY id", "1,0,0,1 / 2,0,0,0 / 3,NULL,NULL,NULL"},
		{"SELECT TIMESTAMPDIFF(MONTH, '2024-01-31', '2024-02-29'), TIMESTAMPDIFF(MONTH, '2024-03-01', '2024-02-01'), TIMESTAMPDIFF(QUARTER, '2024-01-01', '2024-07-01'), TIMESTAMPDIFF(YEAR, '1600-03-01', '2024-02-29')", "0,-1,2,423"},
		{"SELECT TIMESTAMPDIFF(SECOND, '1000-01-01', '9999-12-31'), TIMESTAMPDIFF(MICROSECOND, '2024-01-01 00:00:00.5', '2024-01-01'), TIMESTAMPDIFF(DAY, '2024-01-02', '2024-01-01 00:00:01')", "284012438400,-500000,0"},
		{"SELECT EXTRACT(WEEK FROM d) FROM g ORDER BY id", "8 / 53 / 24"},
		{"SELECT id FROM g WHERE w BETWEEN n AND 2 ORDER BY id", "1 / 3"},
		{"SELECT id FROM g WHERE n BETWEEN w AND 2 ORDER BY id", "1 / 2"},
		{"SELECT MIN(s), MAX(s) FROM (SELECT UPPER(e) AS s FROM g ORDER BY _offset LIMIT 10) i", "BIG,SMALL"},
		{"SELECT s FROM (SELECT UPPER(e) AS s FROM g) i ORDER BY 1", "NULL / BIG / SMALL"},
		{"SELECT MAX(x), MAX(z) FROM (SELECT UPPER(id + 0.5) AS x, REVERSE(id + 10) AS z FROM g) i", "3.5,31"},
		{"SELECT 1 DIV 0 UNION ALL SELECT SUM(id) / 7 FROM g UNION ALL SELECT CAST('12x' AS SIGNED)", "NULL / 0.8571 / 12.0000"},
		{"SELECT k, SUM(c) FROM (SELECT IF(s REGEXP '^r', 'yes', 'no') AS k, COUNT(*) AS c FROM g WHERE id > 1 GROUP BY k UNION ALL SELECT IF(s REGEXP '^r', 'yes', 'no') AS k, COUNT(*) AS c FROM g WHERE NOT (id > 1) GROUP BY k UNION ALL SELECT IF(s REGEXP '^r', 'yes', 'no') AS k, COUNT(*) AS c FROM g WHERE (id > 1) IS NULL GROUP BY k) u GROUP BY k ORDER BY k", "no,2 / yes,1"},
		{"SELECT k, SUM(c) FROM (SELECT IF(s REGEXP '^r', 'yes', 'no') AS k, COUNT(*) AS c FROM g WHERE id > 1 GROUP BY k UNION ALL SELECT IF(s REGEXP '^r', 'yes', 'no') AS k, COUNT(*) AS c FROM g WHERE id <= 1 GROUP BY k) u GROUP BY k ORDER BY k", "no,2 / yes,1"},
		{"SELECT '2023-12-31' + INTERVAL 12 MONTH, '2023-12-31' - INTERVAL 24 MONTH, DATE_ADD(CAST('2023-12-31' AS DATE), INTERVAL 4 QUARTER), CAST('2024-02-29' AS DATE) + INTERVAL 1 YEAR, CAST('2024-03-31' AS DATE) - INTERVAL 1 MONTH", "2024-12-31,2021-12-31,2024-12-31,2025-02-28,2024-02-29"},
		{"SELECT CAST('2024-01-31' AS DATE) + INTERVAL 13 MONTH, CAST('2024-12-31' AS DATETIME) + INTERVAL 14 MONTH, CAST('9999-12-01' AS DATE) + INTERVAL 1 MONTH", "2025-02-28,2026-02-28 00:00:00,NULL"},
		{"SELECT ABS(s = 'red'), ABS(JSON_VALID(s)), ABS(id - 2), ABS(-n) FROM g ORDER BY id", "1,0,1,0.10 / 0,0,0,0.01 / NULL,NULL,1,1.50"},
		{"SELECT id, LEAST(id - 1, 1.5) < 0.01, 0.01 > LEAST(id - 1, 1.5), LEAST(id - 1, 1.5) BETWEEN -0.01 AND 0.01 FROM g ORDER BY id", "1,1,1,1 / 2,0,0,0 / 3,0,0,0"},
		{"SELECT ROUND(x), ROUND(x + 2, 0), ROUND(2.5e0), ROUND(2.5), ROUND(25e0, -1), ROUND(0.25e0, 1) FROM (SELECT 0.5e0 AS x UNION ALL SELECT -0.5e0) v ORDER BY x DESC", "0,2,2,3,20,0.2 / 0,2,2,3,20,0.2"},
		{"SELECT s = 'red' AS x, id FROM g ORDER BY ABS(x), id", "NULL,3 / 0,2 / 1,1"},
		{"SELECT id AS x FROM g UNION SELECT 5 ORDER BY x DESC LIMIT 2 OFFSET 1", "3 / 2"},
		{"SELECT id AS x FROM g UNION ALL SELECT 5 UNION ALL SELECT NULL ORDER BY x LIMIT 9 OFFSET 2", "2 / 3 / 5"},
		{"SELECT QUOTE(NULL) = 'NULL', QUOTE(s) FROM g ORDER BY id", "1,'red' / 1,'blue' / 1,NULL"},
		{"SELECT COALESCE(n, (SELECT SUM(id) FROM g)), COALESCE(n, (SELECT MAX(id) FROM g), 1) FROM g ORDER BY id", "0.10,0.10 / 0.01,0.01 / 1.50,1.50"},
		{"SELECT COALESCE(CAST(n AS DECIMAL(12,1)), n), COALESCE(n, CAST(w AS DECIMAL(12,0))) FROM g ORDER BY id", "0.10,0.10 / 0.00,0.01 / 1.50,1.50"},
		{"SELECT COALESCE(n, SUM(id)) FROM g GROUP BY n ORDER BY n", "0.01 / 0.10 / 1.50"},
		{"SELECT k, SUM(c) FROM (SELECT DATE(t) AS k, COUNT(*) AS c FROM g WHERE s IN (SELECT s FROM g) GROUP BY k UNION ALL SELECT DATE(t) AS k, COUNT(*) AS c FROM g WHERE id IN (SELECT id + 1 FROM g) GROUP BY k UNION ALL SELECT DATE(t) AS k, COUNT(*) AS c FROM g WHERE NOT (s IN (SELECT s FROM g)) GROUP BY k) u GROUP BY k ORDER BY k", "NULL,1 / 2024-01-01,1 / 2024-02-29,2"},
	}.check(t, in)
}

// The engine shows conditions of a join that stands right of another what stands left of it, too.
func TestConditionsOfJoinsWithinJoinsReadTheirOwnColumns(t *testing.T) {
	in := start(t, nil)
	in.topic("a", nil, `{"i":1,"j":5}`, `{"i":2,"j":6}`, `{"i":3,"j":7}`)
	in.topic("b", nil, `{"i":1,"j":7}`, `{"i":3,"j":5}`)
	in.topic("c", nil, `{"j":7}`, `{"j":5}`, `{"j":7}`, `{"j":6}`, `{"j":5}`, `{"j":8}`, `{"j":9}`)
	cases{
		{"SELECT a.i, b.j FROM a LEFT JOIN b ON a.i = b.i WHERE b.j IN (SELECT c.j FROM c) ORDER BY 1", "1,7 / 3,5"},
		{"SELECT a.i, b.j FROM a LEFT JOIN b ON a.i = b.i WHERE a.j IN (SELECT c.j FROM c WHERE c.j > 5) ORDER BY 1", "2,NULL / 3,5"},
		{"SELECT COUNT(*) FROM c LEFT JOIN (a LEFT JOIN b ON a.i = b.i) ON c.j = b.j", "7"},
		{"SELECT a.i, c.j, b.j FROM c JOIN (a LEFT JOIN b ON a.i = b.i) ON c.j = a.j ORDER BY 1, 2", "1,5,7 / 1,5,7 / 2,6,NULL / 3,7,5 / 3,7,5"},
		{"SELECT COUNT(*), SUM(x.n) FROM c LEFT JOIN (SELECT a.i, a.j, COUNT(b.j) AS n FROM a LEFT JOIN b ON a.i = b.i GROUP BY a.i, a.j) x ON c.j = x.j", "7,4"},
	}.check(t, in)
}
