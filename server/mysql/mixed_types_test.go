package mysql

import "testing"

// mixed is a topic of every kind of type.
func mixed(t *testing.T) *instance {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "id INT, qty INT, f DOUBLE, price DECIMAL(10,2), u BIGINT UNSIGNED, s VARCHAR(20), ok BOOLEAN, day DATE, at DATETIME(3), tm TIME"},
		`{"id":1,"qty":7,"f":0.1,"price":"323.72","u":5,"s":"Köln","ok":true,"day":"2026-01-15","at":"2026-01-15T09:59:48.931Z","tm":"09:59:48"}`,
		`{"id":2,"f":3.5,"price":"-1.50","s":"5abc","ok":false,"day":"2026-12-31","at":"2026-12-31T23:00:00Z","tm":"18:00:00"}`,
		`{"id":3,"qty":-5,"f":1e20,"u":18446744073709551615}`)
	return in
}

func TestBranchesHaveTheTypeThatHoldsAllOfThem(t *testing.T) {
	cases{
		{"SELECT IFNULL(qty,f), COALESCE(qty,f), IF(ok,price,f) FROM t ORDER BY id", "7,7,323.72 / 3.5,3.5,3.5 / -5,-5,1e+20"},
		{"SELECT IFNULL(qty,'none'), COALESCE(qty,'none'), IF(ok,qty,'no'), IFNULL(price,'x') FROM t ORDER BY id", "7,7,7,323.72 / none,none,no,-1.50 / -5,-5,no,x"},
		{"SELECT IFNULL(SUM(qty),'none') FROM t WHERE id<0", "none"},
		{"SELECT IFNULL(SUM(qty),0), COALESCE(MAX(f),'none'), IFNULL(AVG(qty),'x') FROM t WHERE id=1", "7,0.1,7.0000"},
		{
			"SELECT IF(ok,NULL,day), IF(ok,day,NULL), IFNULL(day,at), IFNULL(day,'none'), IFNULL(at,'none'), IF(ok,day,5) FROM t ORDER BY id",
			"NULL,2026-01-15,2026-01-15 00:00:00.000,2026-01-15,2026-01-15 09:59:48.931,2026-01-15 / 2026-12-31,NULL,2026-12-31 00:00:00.000,2026-12-31,2026-12-31 23:00:00.000,5 / NULL,NULL,NULL,none,none,5",
		},
		{"SELECT CASE WHEN ok THEN qty ELSE 'x' END, CASE WHEN ok THEN qty ELSE f END, CASE WHEN ok THEN day ELSE 'x' END FROM t ORDER BY id", "7,7,2026-01-15 / x,3.5,x / x,1e+20,x"},
		{"SELECT NULLIF(qty,7), NULLIF(qty,'7'), NULLIF(s,'5abc'), NULLIF(price,-1.5), NULLIF(day,'2026-01-15') FROM t ORDER BY id", "NULL,NULL,Köln,323.72,NULL / NULL,NULL,NULL,NULL,2026-12-31 / -5,-5,NULL,NULL,NULL"},
		{"SELECT IFNULL(qty,'none') k, COUNT(*) FROM t GROUP BY k ORDER BY k", "-5,1 / 7,1 / none,1"},
		{"SELECT COUNT(*) FROM t WHERE IFNULL(qty,f) > 3.2", "2"},
		{"SELECT SUM(IFNULL(qty,f)) FROM t WHERE id<3", "10.5"},
		{"SELECT IFNULL(tm,'-'), CONCAT(COALESCE(NULL,tm)), IFNULL(u,'x'), IFNULL(ok,'x') FROM t ORDER BY id", "09:59:48,09:59:48,5,1 / 18:00:00,18:00:00,x,0 / -,NULL,18446744073709551615,x"},
	}.check(t, mixed(t))
}

func TestTimesCompareWithTextAndNumbers(t *testing.T) {
	cases{
		{"SELECT TIME('09:59:48')<'12:00:00', TIME('09:59:48')='09:59:48', TIME(at) BETWEEN '09:00:00' AND '17:00:00', tm>'1:00', tm IN ('18:00','9:00') FROM t WHERE id<3 ORDER BY id", "1,1,1,1,0 / 1,1,0,1,1"},
		{"SELECT id FROM t WHERE TIME(at) < '12:00:00'", "1"},
		{"SELECT id FROM t WHERE tm BETWEEN '17:00' AND '19:00'", "2"},
		{"SELECT COUNT(*) FROM t WHERE day=20260115", "1"},
		{"SELECT COUNT(*) FROM t WHERE day BETWEEN 20260101 AND 20260131", "1"},
		{"SELECT COUNT(*) FROM t WHERE day IN (20260115,20261231)", "2"},
		{"SELECT COUNT(*) FROM t WHERE day > 20260115", "1"},
		{"SELECT COUNT(*) FROM t WHERE at >= 20261231", "1"},
		{"SELECT COUNT(*) FROM t WHERE at = 20261231230000 AND day <> 5 AND day > id", "1"},
		{"SELECT CAST(at AS UNSIGNED), CAST(day AS SIGNED), CAST(at AS DECIMAL(20,3)), CAST(tm AS SIGNED), CAST(at AS DOUBLE) FROM t WHERE id=1", "20260115095949,20260115,20260115095948.931,95948,2.026011509594893e+13"},
		{"SELECT at+0, day+0, MAX(at)-MIN(at) FROM t WHERE id=1 GROUP BY at, day", "20260115095948.931,20260115,0.000"},
	}.check(t, mixed(t))
}

func TestTextFunctionsSpellNumbersAndTimes(t *testing.T) {
	cases{
		{"SELECT LEFT(price,3), RIGHT(price,2), SUBSTR(price,2), MID(price,1,2), INSTR(price,'.'), REVERSE(price), LOCATE('7',price) FROM t WHERE id=1", "323,72,23.72,32,4,27.323,5"},
		{"SELECT LEFT(id,1), LEFT(ok,1), SUBSTRING(20260105,1,6), SUBSTRING(qty FROM 1 FOR 1), INSTR(f,'1'), LOCATE('.',f), SUBSTRING_INDEX(price,'.',1), SUBSTRING_INDEX(price,'.',-1) FROM t WHERE id=1", "1,1,202601,7,3,2,323,72"},
		{"SELECT LEFT(day,4), RIGHT(at,3), SUBSTR(at,1,13), MID(day,6,2), LEFT(tm,2), LOCATE('-',day), REVERSE(day) FROM t WHERE id=1", "2026,931,2026-01-15 09,01,09,5,51-10-6202"},
		{"SELECT SUBSTR(at,1,13) m, COUNT(*) FROM t WHERE id<3 GROUP BY m ORDER BY m", "2026-01-15 09,1 / 2026-12-31 23,1"},
		{
			"SELECT LPAD(id,3,'0'), RPAD(price,8,'*'), REPEAT(id,2), CONCAT(at,id), UPPER(day), INSERT(id,1,1,'x'), TRIM(id), LTRIM(price), ASCII(id), LENGTH(price), CHAR_LENGTH(day), QUOTE(id), REPLACE(price,'.',',') FROM t WHERE id=1",
			"001,323.72**,11,2026-01-15 09:59:48.9311,2026-01-15,x,1,323.72,49,6,10,'1',323,72",
		},
		{"SELECT LOCATE('l','Köln'), LOCATE('l','Köln',2), POSITION('n' IN 'Köln'), LOCATE('l',s), INSTR(s,'n'), LOCATE('','ab'), LOCATE('','ab',3), LOCATE('','ab',4), LOCATE('a','ab',0), LOCATE('A','ab'), LOCATE(NULL,'a') FROM t WHERE id=1", "3,3,4,3,4,1,3,0,0,0,NULL"},
		{"SELECT FIELD('ulm','Ulm'), FIELD('ulm','Ulm','ulm'), FIELD(qty,5,7), FIELD(s,'a',NULL,'Köln'), FIELD(NULL,1), FIELD(price,'323.72'), FIELD('7',7.0), FIELD(day,'2026-01-15') FROM t WHERE id=1", "0,2,2,3,0,1,1,1"},
		{"SELECT LOCATE('U' COLLATE utf8mb4_0900_ai_ci, 'aub'), FIELD('ulm' COLLATE utf8mb4_0900_ai_ci,'Ulm')", "2,1"},
	}.check(t, mixed(t))
}

func TestGreatestAndLeastTakeAnything(t *testing.T) {
	cases{
		{
			"SELECT GREATEST(day,'2026-06-01'), LEAST(day,'2026-06-01'), GREATEST(day,at), LEAST(day,DATE'2026-03-01'), CONCAT(GREATEST(tm,TIME'10:00:00')) FROM t WHERE id<3 ORDER BY id",
			"2026-06-01,2026-01-15,2026-01-15 09:59:48.931,2026-01-15,10:00:00 / 2026-12-31,2026-06-01,2026-12-31 23:00:00.000,2026-03-01,18:00:00",
		},
		{"SELECT GREATEST(1,2.5,'3'), GREATEST(1,2.5), GREATEST(1,2.5e0), LEAST(1.5,2e0), GREATEST('a','B'), GREATEST(qty,f), LEAST(price,f), GREATEST(NULL,1) FROM t WHERE id=1", "3,2.5,2.5,1.5,a,7,0.1,NULL"},
		{"SELECT GREATEST(qty,s), GREATEST(s,qty), LEAST(at,'2026-06-01'), GREATEST(18446744073709551615,1), GREATEST(ok,qty) FROM t WHERE id=1", "Köln,Köln,2026-01-15 09:59:48.931,18446744073709551615,7"},
		{"SELECT GREATEST(-5,'5abc'), GREATEST('5abc',-5)", "5abc,5abc"},
		{"SELECT MAX(GREATEST(day,'2026-06-01')), COUNT(*) FROM t WHERE LEAST(day,DATE'2026-06-01') < DATE'2026-06-01'", "2026-06-01,1"},
	}.check(t, mixed(t))
}

func TestNumbersAtTheirLimits(t *testing.T) {
	in := mixed(t)
	cases{
		{"SELECT ABS(-5), ABS(-1.5), ABS('-2.5x'), ABS(u), ABS(TRUE), ABS(-2.5e0), POW(2,10), POWER(2,0.5), POW(-8,1/3) IS NULL FROM t WHERE id=3", "error 1690: Error 1690 (22003): DOUBLE value is out of range in 'pow(-8,(1 / 3))'"},
		{"SELECT ABS(-5), ABS(-1.5), ABS('-2.5x'), ABS(u), ABS(TRUE), ABS(-2.5e0), POW(2,10), ABS(price) FROM t WHERE id=2", "5,1.5,2.5,NULL,1,2.5,1024,1.50"},
		{"SELECT CAST('5abc' AS DOUBLE), CAST('5abc' AS FLOAT), CAST(s AS DOUBLE), CAST(' 7.5' AS DOUBLE), CAST('' AS DOUBLE) FROM t WHERE id=2", "5,5,5,7.5,0"},
		{"SELECT FROM_DAYS(TO_DAYS('2024-12-27')+3), TO_DAYS('2024-12-31'), FROM_DAYS(739616), TO_DAYS(day), FROM_DAYS(366), TO_DAYS('1999-01-01') FROM t WHERE id=1", "2024-12-30,739616,2024-12-31,739996,0001-01-01,730120"},
	}.check(t, in)
	db := in.open("app", "", "")
	for query, want := range map[string]string{
		"SELECT ABS(-9223372036854775808)": "BIGINT value is out of range in 'abs(-9223372036854775808)'",
		"SELECT POW(10,400)":               "DOUBLE value is out of range in 'pow(10,400)'",
	} {
		if got := ask(t, db, query); got != "error 1690: Error 1690 (22003): "+want {
			t.Errorf("%s: %s", query, got)
		}
	}
}
