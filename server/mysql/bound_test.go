package mysql

import "testing"

func TestALimitBeyondAllRowsIsNone(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"a":3}`, `{"a":1}`, `{"a":2}`)
	cases{
		{"SELECT a FROM t ORDER BY a LIMIT 1, 18446744073709551615", "2 / 3"},
		{"SELECT a FROM t ORDER BY a LIMIT 18446744073709551615 OFFSET 2", "3"},
		{"SELECT a FROM t LIMIT 1, 18446744073709551615", "1 / 2"},
		{"SELECT a FROM t ORDER BY a DESC LIMIT 9223372036854775807 OFFSET 1", "2 / 1"},
		{"SELECT COUNT(*) FROM (SELECT a FROM t ORDER BY a LIMIT 5, 18446744073709551615) x", "0"},
		{"SELECT (SELECT a FROM t ORDER BY a LIMIT 2, 18446744073709551615)", "3"},
		{"SELECT a FROM t WHERE a = 1 UNION ALL SELECT a FROM t ORDER BY a LIMIT 1, 18446744073709551615", "1 / 2 / 3"},
		{"SELECT a FROM t ORDER BY a LIMIT 0", ""},
	}.check(t, in)
	st, err := in.open("app", "", "").Prepare("SELECT a FROM t ORDER BY a LIMIT ?, ?")
	if err != nil {
		t.Fatal(err)
	}
	if got := askPrepared(t, st, 1, uint64(18446744073709551615)); got != "2 / 3" {
		t.Error("as parameters:", got)
	}
}

func TestAComparisonIsAsExactInEveryClause(t *testing.T) { // the kind of C30
	in := start(t, nil)
	in.topic("big", nil, `{"n":9223372036854775807,"m":-9223372036854775808,"d":0.1}`, `{"n":1,"m":3,"d":0.2}`)
	const most = "9223372036854775808" // one more than there is
	cases{
		{"SELECT n=" + most + ", n<" + most + ", n>=9223372036854775806.5 FROM big ORDER BY n", "0,1,0 / 0,1,1"},
		{"SELECT m<-" + most + ", m<=-" + most + ", m>-" + most + ".5 FROM big ORDER BY n", "0,0,1 / 0,1,1"},
		{"SELECT n FROM big HAVING n=" + most, ""},
		{"SELECT n FROM big WHERE n=" + most, ""},
		{"SELECT COUNT(*) FROM big WHERE m<-" + most, "0"},
		{"SELECT COUNT(*) FROM big a JOIN big b ON a.n=" + most + " OR b.n=" + most, "0"},
		{"SELECT SUM(n=" + most + "), SUM(n IN (" + most + ", 1)) FROM big", "0,1"},
		{"SELECT n IN (1.5), n NOT IN (1.5, " + most + "), n IN (" + most + ", NULL), m IN (-9223372036854775808.0) FROM big ORDER BY n", "0,1,NULL,0 / 0,1,NULL,1"},
		{"SELECT n FROM big WHERE n IN (1.5, " + most + ", 1)", "1"},
		{"SELECT n FROM big ORDER BY n=" + most + " DESC, n", "1 / 9223372036854775807"},
		{"SELECT d=0.1, d>0.15 FROM big ORDER BY n", "0,1 / 1,0"},
		{"SELECT CASE WHEN n=" + most + " THEN 'y' ELSE 'n' END FROM big ORDER BY n", "n / n"},
	}.check(t, in)
}

func TestJSONKeepsEveryDigitWhereverItIsMade(t *testing.T) { // the kind of C06
	in := start(t, nil)
	in.topic("j", nil, `{"id":9007199254740993,"p":1.10,"l":[{"x":18446744073709551615},{"x":-9223372036854775808}]}`)
	cases{
		{"SELECT CAST('9007199254740993' AS JSON), CAST(' [1.10, 2] ' AS JSON)", "9007199254740993,[1.10, 2]"},
		{"SELECT JSON_EXTRACT(CAST(_value AS JSON),'$.id'), JSON_EXTRACT(CAST(_value AS JSON),'$.p') FROM j", "9007199254740993,1.10"},
		{"SELECT CONVERT('9007199254740993', JSON)", "9007199254740993"},
		{"SELECT CAST(1 AS JSON), CAST(NULL AS JSON), CAST(CAST('\"a\"' AS JSON) AS JSON)", `1,NULL,"a"`},
		{"SELECT x.id FROM j, JSON_TABLE(j._value, '$' COLUMNS(id BIGINT PATH '$.id')) x", "9007199254740993"},
		{"SELECT x.x FROM j, JSON_TABLE(j._value, '$.l[*]' COLUMNS(x DECIMAL(20) PATH '$.x')) x", "18446744073709551615 / -9223372036854775808"},
		{"SELECT x.id FROM JSON_TABLE('[{\"id\":9007199254740993}]', '$[*]' COLUMNS(id BIGINT PATH '$.id')) x", "9007199254740993"},
		{"SELECT COUNT(*) FROM j WHERE JSON_EXTRACT(_value,'$.l') = CAST('[{\"x\":18446744073709551615},{\"x\":-9223372036854775808}]' AS JSON)", "1"},
		{"SELECT COUNT(*) FROM j WHERE l = CAST('[{\"x\":18446744073709551614},{\"x\":-9223372036854775808}]' AS JSON)", "0"},
	}.check(t, in)
	if _, err := table(t, in.open("app", "", ""), "SELECT CAST('{' AS JSON)"); errNumber(err) != 3141 {
		t.Error("what is no JSON:", err)
	}
}
