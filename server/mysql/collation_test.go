package mysql

import "testing"

// A topic with millrace.collation=utf8mb4_0900_ai_ci compares without regard to case and accents, in columns and row by row; C25.
func TestATopicMayCompareWithoutCaseAndAccents(t *testing.T) {
	in := start(t, nil)
	run(t, in,
		"CREATE TABLE c25 (s VARCHAR(20), n BIGINT) COLLATE utf8mb4_0900_ai_ci",
		"INSERT INTO c25 (_key, s, n) VALUES ('k','a',1),('K','A',2),('x','a ',3)",
		"CALL millrace.seal('c25')",
		"INSERT INTO c25 (_key, s, n) VALUES ('y','b',4),('z','ä',5),('w','É',6),('w','e',7),('v',NULL,8)",
	)
	cases{
		{"SELECT COUNT(*) FROM c25 WHERE s='a'", "3"},
		{"SELECT COUNT(*) FROM c25 WHERE s<>'A'", "4"},
		{"SELECT COUNT(*) FROM c25 WHERE s<=>'A'", "3"},
		{"SELECT COUNT(*) FROM c25 WHERE s<'B'", "4"},
		{"SELECT COUNT(*) FROM c25 WHERE s>='E'", "2"},
		{"SELECT COUNT(*) FROM c25 WHERE s BETWEEN 'A' AND 'A'", "3"},
		{"SELECT COUNT(*) FROM c25 WHERE s IN ('A','B')", "4"},
		{"SELECT COUNT(*) FROM c25 WHERE s NOT IN ('A','B')", "3"},
		{"SELECT COUNT(*) FROM c25 WHERE s IN (SELECT 'A')", "3"},
		{"SELECT COUNT(*) FROM c25 WHERE s LIKE 'A%'", "4"},
		{"SELECT COUNT(*) FROM c25 WHERE s LIKE 'e'", "2"},
		{"SELECT COUNT(*) FROM c25 WHERE s COLLATE utf8mb4_0900_bin='a'", "1"},
		{"SELECT COUNT(*) FROM c25 WHERE _key='K'", "2"},
		{"SELECT COUNT(DISTINCT s), COUNT(DISTINCT _key) FROM c25", "4,6"},
		{"SELECT COUNT(*) FROM (SELECT DISTINCT s FROM c25) d", "5"},
		{"SELECT COUNT(*) FROM (SELECT s FROM c25 UNION SELECT 'B') d", "5"},
		{"SELECT COUNT(*) FROM (SELECT s FROM c25 UNION SELECT s FROM c25 ORDER BY 1 LIMIT 4) d", "4"},
		{"SELECT LOWER(s)='e' FROM c25 WHERE n>5 UNION SELECT 2 ORDER BY 1", "NULL / 1 / 2"},
		{"SELECT COUNT(*) FROM c25 WHERE s IN (SELECT s FROM c25 WHERE n IN (2, 6))", "5"},
		{"SELECT COUNT(*) FROM c25 WHERE s NOT IN (SELECT s FROM c25 WHERE n IN (2, 6))", "2"},
		{"SELECT COUNT(*), SUM(n) FROM c25 GROUP BY s ORDER BY s", "1,8 / 3,8 / 1,3 / 1,4 / 2,13"},
		{"SELECT MAX(n) FROM c25 GROUP BY s HAVING s='A'", "5"},
		{"SELECT MIN(s)='A', MAX(s)='E' FROM c25", "1,1"},
		{"SELECT n FROM c25 ORDER BY s, n", "8 / 1 / 2 / 5 / 3 / 4 / 6 / 7"},
		{"SELECT n FROM c25 ORDER BY s DESC, n LIMIT 3", "6 / 7 / 4"},
		{"SELECT COUNT(*) FROM c25 x JOIN c25 y ON x.s=y.s", "15"},
		{"SELECT COUNT(*) FROM c25 x LEFT JOIN c25 y ON x.s=y.s AND y.n=2", "8"},
		{"SELECT COUNT(*) FROM c25 x WHERE EXISTS (SELECT 1 FROM c25 y WHERE y.s=x.s AND y.n<>x.n)", "5"},
		{"SELECT n, ROW_NUMBER() OVER (PARTITION BY s ORDER BY n) FROM c25 ORDER BY n", "1,1 / 2,2 / 3,1 / 4,1 / 5,3 / 6,1 / 7,2 / 8,1"},
		{"SELECT CASE s WHEN 'A' THEN 1 ELSE 0 END FROM c25 ORDER BY n", "1 / 1 / 0 / 0 / 1 / 0 / 0 / 0"},
		{"SELECT STRCMP(s,'A') FROM c25 ORDER BY n", "0 / 0 / 1 / 1 / 0 / 1 / 1 / NULL"},
		{"SELECT IF(s='A',1,0), NULLIF(s,'A') IS NULL FROM c25 WHERE n<3 ORDER BY n", "1,1 / 1,1"},
		{"SELECT COUNT(*) FROM `c25$latest` WHERE s='A'", "3"},
		{"SHOW FULL COLUMNS FROM c25 LIKE 's'", "s,varchar(20),utf8mb4_0900_ai_ci,YES,,NULL,,,"},
		{
			"SELECT column_name, collation_name, character_set_name FROM information_schema.columns WHERE table_name='c25' AND column_name IN ('s','n','_key')",
			"_key,utf8mb4_0900_ai_ci,utf8mb4 / s,utf8mb4_0900_ai_ci,utf8mb4 / n,NULL,NULL",
		},
		{"SELECT table_collation FROM information_schema.tables WHERE table_name='c25'", "utf8mb4_0900_ai_ci"},
	}.check(t, in)
}
