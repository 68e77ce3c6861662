package mysql

import "testing"

func TestFunctionsGetTheTextOfAnEnum(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "e ENUM('abc','def'), i INT"}, `{"e":"abc","i":1}`, `{"e":"def","i":2}`, `{"i":3}`)
	in.topic("o", map[string]string{"millrace.columns": "o ENUM('one','four')"}, `{"o":"one"}`, `{"o":"four"}`)
	cases{
		{"SELECT CONCAT(e,'!'), LENGTH(e), REPLACE(e,'e','_'), SUBSTRING(e,2), UPPER(e), MD5(e)=MD5('def') FROM t WHERE i=2", "def!,3,d_f,ef,DEF,1"},
		{"SELECT IF(i>1,e,'z'), COALESCE(e,'none'), CASE WHEN i=1 THEN 7 ELSE e END, GREATEST(e,'b') FROM t ORDER BY i", "z,abc,7,b / def,def,def,def / NULL,none,NULL,NULL"},
		{"SELECT JSON_OBJECT('e',e), JSON_ARRAY(e), e BETWEEN 'b' AND 'h', e IN (SELECT 'def') FROM t WHERE i=2", `{"e": "def"},["def"],1,1`},
		{"SELECT GROUP_CONCAT(e ORDER BY i), JSON_ARRAYAGG(e), MAX(e), SUM(e), e.x FROM t, (SELECT MAX(o) x FROM o) e WHERE i<3 GROUP BY e.x", `abc,def,["abc", "def"],def,3,one`},
		{"SELECT i FROM t WHERE e <=> 'def'", "2"},
		{"SELECT COUNT(*) FROM t WHERE NOT (e <=> 'def') AND NOT (e <=> NULL)", "1"},
		{"SELECT i, e LIKE 'a%', e > 'abd', e <= 'zzz', e = 'zzz', e <> 'abc' FROM t ORDER BY i", "1,1,0,1,0,0 / 2,0,1,1,0,1 / 3,NULL,NULL,NULL,NULL,NULL"},
		{"SELECT e AS k, COUNT(*) FROM t GROUP BY k HAVING k > 'b'", "def,1"},
		{"SELECT COUNT(*) FROM t WHERE e LIKE '%e%'", "1"},
		{"SELECT e+0, ABS(e), CAST(e AS SIGNED), CAST(e AS CHAR), e=2, e='def' FROM t WHERE i=2", "2,2,2,def,1,1"},
	}.check(t, in)
}

func TestDecimalsOfDifferentDigitsCompareExactly(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "n DECIMAL(12,2), w DECIMAL(30,10), j INT"}, `{"n":"0.00","w":"0.0000000001","j":1}`, `{"n":"1.50","w":"1.5","j":-1}`)
	cases{
		{"SELECT j FROM t WHERE n = w", "-1"},
		{"SELECT j FROM t WHERE n < w", "1"},
		{"SELECT n <=> w, n <> w, n >= w, w > n FROM t ORDER BY j", "1,0,1,0 / 0,1,0,1"},
		{"SELECT FLOOR(1.5-j) > n, FLOOR(n) = n FROM t ORDER BY j", "1,0 / 0,1"},
		{"SELECT COUNT(*) FROM t a JOIN t b ON a.n > b.w", "1"},
		{"SELECT SIGN(w), SIGN(-w), SIGN('-0.2') FROM t", "1,-1,-1 / 1,-1,-1"},
	}.check(t, in)
}

func TestArithmeticHasTheDigitsOfItsResults(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "j INT, n DECIMAL(4,2)"}, `{"j":100,"n":"99.99"}`, `{"j":5,"n":"1.50"}`)
	cases{
		{"SELECT (SELECT SUM(j*1.5) FROM t), (SELECT MAX(j+0.25) FROM t)", "157.5,100.25"},
		{"SELECT COALESCE(j*1.5,0), IF(j>1,n*j,0), COALESCE(n+n+n,0) FROM t", "150.0,9999.00,299.97 / 7.5,7.50,4.50"},
		{"SELECT MAX(n*n) FROM t UNION SELECT 0.5", "9998.0001 / 0.5000"},
		{"SELECT j*1.5, n-1, -(n*2), n*j DIV 2, j/3*3 FROM t WHERE j=5", "7.5,0.50,-3.00,3,5.0000"},
	}.check(t, in)
}

func TestTheNameOfACommonTableExpressionHidesOthersOnlyInItsScope(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "i INT"}, `{"i":1}`, `{"i":2}`)
	db := in.open("app", "", "")
	if _, err := db.Exec("CREATE VIEW v AS SELECT i FROM t"); err != nil {
		t.Fatal(err)
	}
	cases{
		{"WITH v AS (SELECT * FROM v WHERE i=2) SELECT * FROM v", "2"},
		{"WITH t AS (SELECT * FROM t WHERE i=2) SELECT * FROM t", "0,1,2023-11-14 22:13:20.000,NULL,2"},
		{"WITH v AS (SELECT * FROM v), w AS (SELECT i+1 FROM v) SELECT * FROM w", "2 / 3"},
		{"SELECT (SELECT COUNT(*) FROM v), (WITH v AS (SELECT 7 x) SELECT x FROM v)", "2,7"},
		{"WITH RECURSIVE v AS (SELECT 1 x UNION ALL SELECT x+1 FROM v WHERE x<3) SELECT * FROM v", "1 / 2 / 3"},
		{"SELECT X.* FROM t x WHERE x.i=1", "0,0,2023-11-14 22:13:20.000,NULL,1"},
	}.check(t, in)
}

func TestARowEqualsASubqueryInThreeValues(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "i INT, j INT"}, `{"i":1,"j":2}`, `{"i":3}`)
	cases{
		{"SELECT (1,NULL)=(SELECT 1,NULL), (1,2)=(SELECT 1,2), (1,2)<>(SELECT 1,3), (SELECT 1,3)=(1,3), (1,NULL)=(SELECT 2,NULL)", "NULL,1,1,1,0"},
		{"SELECT (1,2)=(SELECT i,j FROM t WHERE i=7), (3,2)=(SELECT i,j FROM t WHERE i=3)", "NULL,NULL"},
		{"SELECT i FROM t WHERE (i,j)=(SELECT 1,2)", "1"},
		{"SELECT (1,2)=(SELECT i,j FROM t)", "error 1242: Error 1242 (21000): the subquery returned more than 1 row"},
	}.check(t, in)
}

func TestMicrosecondsOfStrToDateSurviveTheBinaryProtocol(t *testing.T) {
	in := start(t, nil)
	st, err := in.open("app", "", "").Prepare("SELECT STR_TO_DATE('01/02/99 314', '%m/%e/%y %f')")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if got := askPrepared(t, st); got != "1999-01-02 00:00:00.314000" {
		t.Error(got)
	}
}

func TestAverageInsideOfArithmeticKeepsItsDigits(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "b BOOLEAN, j INT, f DOUBLE"}, `{"b":true,"j":5,"f":0.1}`, `{"b":false,"j":100,"f":0.2}`, `{"b":false,"j":1,"f":0.7}`)
	cases{
		{"SELECT AVG(b)*100, 100*(AVG(b)), AVG(j)/7, AVG(j)+AVG(b), AVG(f)*2, AVG(DISTINCT j)*3, AVG(b) FROM t", "33.3333,33.3333,5.04761905,35.6667,0.6666666666666666,106.0000,0.3333"},
		{"SELECT b, AVG(j)*2 p FROM t GROUP BY b HAVING AVG(j)*2 > 1 ORDER BY AVG(j)*2", "1,10.0000 / 0,101.0000"},
	}.check(t, in)
}

func TestBetweenComparesDecimalsExactly(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "n DECIMAL(12,2), w DECIMAL(40,20)"}, `{"n":1.5,"w":"1.501"}`, `{"n":1.5,"w":"1.49"}`)
	cases{{"SELECT n BETWEEN w AND w+1, n BETWEEN 1.499 AND 1.501, NOT (n BETWEEN w AND 2), n BETWEEN NULL AND w FROM t", "0,1,1,NULL / 1,1,0,0"}}.check(t, in)
}

func TestCastsToIntegersKeepTheBits(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "u BIGINT UNSIGNED"}, `{"u":18446744073709551615}`)
	cases{
		{"SELECT CAST(u AS SIGNED), CAST(u AS UNSIGNED), CAST('18446744073709551615' AS SIGNED), CAST('18446744073709551616' AS UNSIGNED) FROM t", "-1,18446744073709551615,-1,18446744073709551615"},
		{"SELECT CAST('-99999999999999999999' AS SIGNED), CAST(-5.7 AS UNSIGNED), CAST(-5.7 AS SIGNED), CAST('-5' AS UNSIGNED), CAST('12abc' AS SIGNED)", "-9223372036854775808,18446744073709551610,-6,18446744073709551611,12"},
	}.check(t, in)
}

func TestOrderByKnowsAliasesInExpressions(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "j INT, s VARCHAR(9)"}, `{"j":5,"s":"bb"}`, `{"j":100,"s":"a"}`, `{"s":"c"}`)
	cases{
		{"SELECT j AS x FROM t ORDER BY -x", "NULL / 100 / 5"},
		{"SELECT j AS x FROM t ORDER BY x IS NULL, x", "5 / 100 / NULL"},
		{"SELECT s AS y, j*2 AS x FROM t ORDER BY LENGTH(y) DESC, ISNULL(x) DESC", "bb,10 / c,NULL / a,200"},
		{"SELECT DISTINCT j AS x FROM t ORDER BY x+1 DESC", "100 / 5 / NULL"},
		{"SELECT -j AS j FROM t ORDER BY j+0", "NULL / -5 / -100"}, // a column comes first
		{"SELECT -j AS x FROM (SELECT j FROM t WHERE j > 0) q ORDER BY x+1", "-100 / -5"},
		{"SELECT s AS x, COUNT(*) FROM t GROUP BY x ORDER BY CONCAT(x,'!')", "a,1 / bb,1 / c,1"},
		{"SELECT s, MAX(j) AS m FROM t GROUP BY s ORDER BY m IS NULL, -m", "a,100 / bb,5 / c,NULL"}, // MySQL refuses it
	}.check(t, in)
}

func TestWeekHasAllModes(t *testing.T) {
	in := start(t, nil)
	cases{
		{"SELECT WEEK('2008-02-20'), WEEK('2008-02-20',0), WEEK('2008-02-20',1), WEEK('2008-12-31',1), WEEK('2000-01-01'), WEEK('2000-01-01',2)", "7,7,8,53,0,52"},
		{"SELECT WEEK('2024-01-01',0), WEEK('2024-01-01',1), WEEK('2024-01-01',2), WEEK('2024-01-01',3), WEEK('2024-01-01',4), WEEK('2024-01-01',5), WEEK('2024-01-01',6), WEEK('2024-01-01',7)", "0,1,53,1,1,1,1,1"},
		{"SELECT WEEK('2023-12-31',0), WEEK('2023-12-31',1), WEEK('2023-12-31',2), WEEK('2023-12-31',3), WEEK('2023-12-31',4), WEEK('2023-12-31',5), WEEK('2023-12-31',6), WEEK('2023-12-31',7)", "53,52,53,52,53,52,1,52"},
		{"SELECT WEEK('2024-12-31',6), WEEK('2024-12-31',3), WEEK('2024-12-31',7), WEEK(NULL), WEEK('2024-06-15 12:00:00',3)", "1,1,53,NULL,24"},
	}.check(t, in)
}

func TestQuotientsInsideOfQuotientsKeepTheirDigitsInColumns(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "j INT, n DECIMAL(12,2)"}, `{"j":-100,"n":"-99999.99"}`)
	cases{{"SELECT (j+n)/3/7, -((j+n)/3), (j+n)/3*7 FROM t", "-4766.6661904761,33366.663333,-233566.643333"}}.check(t, in)
}
