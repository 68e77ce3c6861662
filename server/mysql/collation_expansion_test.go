package mysql

import "testing"

// utf8mb4_0900_ai_ci takes ß for ss and a combining accent for nothing, wherever text is compared, but for LIKE,
// which goes character by character in MySQL, too.
func TestTextOfATopicWithoutCaseAndAccentsComparesExpanded(t *testing.T) {
	in := start(t, nil)
	run(t, in,
		"CREATE TABLE x (s VARCHAR(20), n BIGINT) COLLATE utf8mb4_0900_ai_ci",
		"INSERT INTO x (s, n) VALUES ('straße',1),('strasse',2),('STRASSE',3),('Ægir',4)",
		"CALL millrace.seal('x')",
		"INSERT INTO x (s, n) VALUES ('aegir',5),('cœur',6),('coeur',7),('cafe\u0301',8),('café',9),('strasze',10),(NULL,11)",
	)
	cases{
		{"SELECT COUNT(*) FROM x WHERE s='strasse'", "3"},
		{"SELECT COUNT(*) FROM x WHERE 'straße'=s", "3"},
		{"SELECT COUNT(*) FROM x WHERE s<=>'AEGIR'", "2"},
		{"SELECT COUNT(*) FROM x WHERE s<>'STRASSE'", "7"},
		{"SELECT COUNT(*) FROM x WHERE s<'straßf'", "9"},
		{"SELECT COUNT(*) FROM x WHERE s>'straße'", "1"},
		{"SELECT COUNT(*) FROM x WHERE s BETWEEN 'strasse' AND 'strasse'", "3"},
		{"SELECT COUNT(*) FROM x WHERE s IN ('straße','coeur')", "5"},
		{"SELECT COUNT(*) FROM x WHERE s NOT IN ('straße','coeur')", "5"},
		{"SELECT COUNT(*) FROM x WHERE s IN (SELECT 'strasse')", "3"},
		{"SELECT COUNT(*) FROM x WHERE s IN (SELECT s FROM x WHERE n IN (1, 4))", "5"},
		{"SELECT COUNT(*) FROM x WHERE s='strasse' COLLATE utf8mb4_0900_bin", "1"},
		{"SELECT COUNT(*) FROM x WHERE s LIKE 'strasse'", "2"},
		{"SELECT COUNT(*) FROM x WHERE s LIKE 'straß_'", "1"},
		{"SELECT COUNT(DISTINCT s) FROM x", "5"},
		{"SELECT COUNT(*) FROM (SELECT DISTINCT s FROM x) d", "6"},
		{"SELECT COUNT(*), MIN(n), SUM(n) FROM x GROUP BY s ORDER BY s", "1,11,11 / 2,4,9 / 2,8,17 / 2,6,13 / 3,1,6 / 1,10,10"},
		{"SELECT SUM(n) FROM x GROUP BY s HAVING s='strasse'", "6"},
		{"SELECT n FROM x ORDER BY s, n", "11 / 4 / 5 / 8 / 9 / 6 / 7 / 1 / 2 / 3 / 10"},
		{"SELECT n FROM x ORDER BY s DESC, n LIMIT 3", "10 / 1 / 2"},
		{"SELECT MAX(s), MIN(s)='aegir' FROM x", "strasze,1"},
		{"SELECT MAX(n) FROM x WHERE s<'st' GROUP BY s ORDER BY MIN(s)", "5 / 9 / 7"},
		{"SELECT COUNT(*) FROM x a JOIN x b ON a.s=b.s", "22"},
		{"SELECT COUNT(*) FROM x a LEFT JOIN x b ON a.s=b.s AND b.n=1", "11"},
		{"SELECT COUNT(*) FROM x a WHERE EXISTS (SELECT 1 FROM x b WHERE b.s=a.s AND b.n<>a.n)", "9"},
		{"SELECT COUNT(*) FROM (SELECT s FROM x UNION SELECT 'COEUR') d", "6"},
		{"SELECT n, ROW_NUMBER() OVER (PARTITION BY s ORDER BY n) FROM x WHERE n<6 ORDER BY n", "1,1 / 2,2 / 3,3 / 4,1 / 5,2"},
		{"SELECT n, RANK() OVER (ORDER BY s) FROM x WHERE n<6 ORDER BY n", "1,3 / 2,3 / 3,3 / 4,1 / 5,1"},
		{"SELECT n, MIN(n) OVER (PARTITION BY s) FROM x WHERE n IN (8,9,10) ORDER BY n", "8,8 / 9,8 / 10,10"},
		{"SELECT CASE s WHEN 'strasse' THEN 1 ELSE 0 END FROM x WHERE n<4 ORDER BY n", "1 / 1 / 1"},
		{"SELECT NULLIF(s,'strasse') IS NULL, NULLIF(s,'x') FROM x WHERE n=1", "1,straße"},
		{"SELECT IF(s='strasse',1,0), STRCMP(s,'strasse') FROM x WHERE n IN (1,10) ORDER BY n", "1,0 / 0,1"},
		{"SELECT FIND_IN_SET(s,'a,Strasse,b'), FIELD(s,'x','STRASSE') FROM x WHERE n=1", "2,2"},
		{"SELECT GROUP_CONCAT(DISTINCT s ORDER BY s) FROM x WHERE n<6", "Ægir,straße"},
		{"SELECT COUNT(*) FROM x WHERE (s,n) IN (SELECT 'strasse',1)", "1"},
		{"SELECT n, (SELECT MAX(b.n) FROM x b WHERE b.s=a.s) FROM x a WHERE n IN (1,4) ORDER BY n", "1,3 / 4,5"},
		{"SELECT COUNT(*) FROM x WHERE s=ANY (SELECT 'STRASSE')", "3"},
		{"SELECT COUNT(*) FROM x WHERE s=(SELECT 'STRASSE')", "3"},
		{"SELECT (s,n)=('strasse',1), (s,n) IN (('strasse',1),('x',2)) FROM x WHERE n=1", "1,1"},
		{"SELECT 'straße'='strasse' COLLATE utf8mb4_0900_ai_ci, 'straße'='strasse' COLLATE utf8mb4_0900_as_ci", "1,0"},
		{"SELECT 'ae'='æ' COLLATE utf8mb4_0900_ai_ci, 'ﬁ'='fi' COLLATE utf8mb4_0900_ai_ci, 'ß'<'st' COLLATE utf8mb4_0900_ai_ci", "1,1,1"},
		{"SELECT 'strasse' LIKE 'straße' COLLATE utf8mb4_0900_ai_ci", "0"},
	}.check(t, in)
}

func TestIntersectAndExceptCompareByCollation(t *testing.T) {
	in := start(t, nil)
	run(t, in,
		"CREATE TABLE a (s VARCHAR(20)) COLLATE utf8mb4_0900_ai_ci", "CREATE TABLE b (s VARCHAR(20)) COLLATE utf8mb4_0900_ai_ci",
		"INSERT INTO a (s) VALUES ('a'),('A'),('ß'),('b'),(NULL),('b')", "INSERT INTO b (s) VALUES ('Ä'),('ss'),('c'),(NULL),('B')",
	)
	cases{
		{"SELECT s FROM a INTERSECT SELECT s FROM b ORDER BY 1", "NULL / a / b / ß"},
		{"SELECT s FROM a INTERSECT SELECT 'A'", "a"},
		{"SELECT s FROM a EXCEPT SELECT s FROM b", ""},
		{"SELECT s FROM b EXCEPT SELECT s FROM a ORDER BY s LIMIT 5", "c"},
		{"SELECT s FROM a EXCEPT SELECT 'A' ORDER BY 1", "NULL / b / ß"},
		{"SELECT s FROM a INTERSECT ALL SELECT s FROM b ORDER BY 1", "NULL / a / b / ß"},
		{"SELECT s FROM a EXCEPT ALL SELECT s FROM b ORDER BY 1", "A / b"},
		{"SELECT COUNT(*) FROM (SELECT s FROM a UNION SELECT s FROM b) d", "5"},
		{"SELECT s FROM a UNION SELECT s FROM b ORDER BY s DESC LIMIT 1 OFFSET 1", "c"},
		{"SELECT 1 INTERSECT SELECT 1.0", "1.0"},
		{"SELECT 1 EXCEPT SELECT 2 UNION SELECT 1", "1"},
	}.check(t, in)
}

// INSTR, LOCATE and FIELD compare by the collation, the first two character by character.
func TestTextIsFoundByItsCollation(t *testing.T) {
	in := start(t, nil)
	run(t, in,
		"CREATE TABLE f (s VARCHAR(20), n INT) COLLATE utf8mb4_0900_ai_ci", "INSERT INTO f (s, n) VALUES ('a',1),('ä',2),('xÄy',3),('Straße',4)",
		"CREATE TABLE g (s VARCHAR(20), n INT)", "INSERT INTO g (s, n) VALUES ('xÄy',1)",
	)
	cases{
		{"SELECT INSTR(s,'A'), LOCATE('A',s), POSITION('A' IN s) FROM f WHERE n<3 ORDER BY n", "1,1,1 / 1,1,1"},
		{"SELECT INSTR(s,'ä'), INSTR(s,'Y'), LOCATE('y',s,3), LOCATE('y',s,4), LOCATE('x',s,0) FROM f WHERE n=3", "2,3,3,0,0"},
		{"SELECT INSTR(s,'ẞ'), INSTR(s,'TRA'), INSTR(s,''), LOCATE('',s,7), LOCATE('',s,8) FROM f WHERE n=4", "5,2,1,7,0"},
		{"SELECT INSTR(s,'ä'), INSTR(s,'Ä'), INSTR(s,'y'), LOCATE('Y',s), LOCATE('Y' COLLATE utf8mb4_0900_ai_ci,s) FROM g", "0,2,3,0,3"},
		{"SELECT REPLACE(s,'ä','b'), REPLACE(s,'Ä','b') FROM f WHERE n=3", "xÄy,xby"},
		{"SELECT FIELD(s,'A','b'), FIELD(s,NULL,'Ä') FROM f WHERE n<3 ORDER BY n", "1,2 / 1,2"},
		{"SELECT FIELD('ulm','Ulm'), FIELD('b','a','b'), FIELD(NULL,NULL), FIELD(2,1,2.0), FIELD('2',1,2), FIELD(3,1,2)", "0,2,0,2,2,0"},
		{"SELECT INSTR(12345,34), LOCATE(3,12345), INSTR(NULL,'a'), LOCATE('a',NULL)", "3,3,NULL,NULL"},
	}.check(t, in)
}
