package mysql

import "testing"

func TestFunctionsGetTheTextOfAnEnum(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "e ENUM('abc','def'), i INT"}, `{"e":"abc","i":1}`, `{"e":"def","i":2}`, `{"i":3}`)
	cases{
		{"SELECT CONCAT(e,'!'), LENGTH(e), REPLACE(e,'e','_'), SUBSTRING(e,2), UPPER(e), MD5(e)=MD5('def') FROM t WHERE i=2", "def!,3,d_f,ef,DEF,1"},
		{"SELECT IF(i>1,e,'z'), COALESCE(e,'none'), CASE WHEN i=1 THEN 7 ELSE e END, GREATEST(e,'b') FROM t ORDER BY i", "z,abc,7,b / def,def,def,def / NULL,none,NULL,NULL"},
		{"SELECT JSON_OBJECT('e',e), JSON_ARRAY(e), e BETWEEN 'b' AND 'h', e IN (SELECT 'def') FROM t WHERE i=2", `{"e": "def"},["def"],1,1`},
		{"SELECT GROUP_CONCAT(e ORDER BY i), JSON_ARRAYAGG(e), MAX(e), SUM(e) FROM t WHERE i<3", `abc,def,["abc", "def"],def,3`},
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
	if got := askPrepared(t, st); got != "1999-01-02 00:00:00.000314" {
		t.Error(got)
	}
}
