package mysql

import "testing"

// cases are statements with their exact answers, asked with pushdown on and off and as prepared
// statements.
type cases []struct{ query, want string }

func (cs cases) check(t *testing.T, in *instance) {
	t.Helper()
	text := in.open("app", "", "interpolateParams=true&multiStatements=true")
	for _, mode := range []string{"SET millrace_pushdown=1", "SET millrace_pushdown=0"} {
		if _, err := text.Exec(mode); err != nil {
			t.Fatal(err)
		}
		for _, c := range cs {
			if got := ask(t, text, c.query); got != c.want {
				t.Errorf("%s: %s\n got %s\nwant %s", mode, c.query, got, c.want)
			}
		}
	}
	for _, c := range cs {
		st, err := text.Prepare(c.query)
		if err != nil {
			t.Errorf("prepare %s: %v", c.query, err)
			continue
		}
		got := askPrepared(t, st)
		if got != c.want {
			t.Errorf("prepared: %s\n got %s\nwant %s", c.query, got, c.want)
		}
		_ = st.Close()
	}
}

func TestSumAndAverageOfIntegersKeepEveryDigit(t *testing.T) { // C26
	in := start(t, nil)
	in.topic("c26", nil, `{"v":9007199254740993}`, `{"v":9007199254740992}`)
	in.topic("c26b", nil, `{"v":9223372036854775807}`, `{"v":9223372036854775807}`)
	in.topic("f", nil, `{"x":1.5}`, `{"x":2.25}`, `{"x":null}`)
	in.topic("none", nil, `{"v":null}`, `{"v":null,"w":1}`)
	cases{
		{"SELECT SUM(v),AVG(v) FROM c26", "18014398509481985,9007199254740992.5000"},
		{"SELECT SUM(v) FROM c26b", "18446744073709551614"},
		{"SELECT sum(v)+1 FROM c26b", "18446744073709551615"},
		{"SELECT SUM(x), AVG(x), COUNT(x) FROM f", "3.75,1.875,2"},
		{"SELECT SUM(w), AVG(w), SUM(v) IS NULL FROM (SELECT w, NULL AS v FROM none) t", "1,1.0000,1"},
		{"SELECT SUM(v) AS s FROM c26 HAVING SUM(v) > 18014398509481984 ORDER BY SUM(v)", "18014398509481985"},
		{"SELECT s FROM (SELECT SUM(v) s FROM c26 UNION ALL SELECT SUM(v) FROM c26b) t ORDER BY s", "18014398509481985 / 18446744073709551614"},
		{"SELECT v, SUM(v) OVER (ORDER BY v) FROM c26 ORDER BY v", "9007199254740992,9007199254740992 / 9007199254740993,18014398509481985"},
		{"SELECT SUM(DISTINCT v) FROM c26b", "9223372036854775807"},
		{"SELECT SUM(v = 9007199254740993) FROM c26", "1"},
		{"SELECT STDDEV(v), VARIANCE(v), VAR_SAMP(v) FROM (SELECT 1 v UNION ALL SELECT 2) t", "0.5,0.25,0.5"},
		{"WITH c AS (SELECT SUM(v) s FROM c26) SELECT s, s*2 FROM c", "18014398509481985,36028797018963970"},
		{"SELECT (SELECT SUM(v) FROM c26)", "18014398509481985"},
	}.check(t, in)
}

func TestDeclaredDecimalsKeepTheirScale(t *testing.T) { // C05
	in := start(t, nil)
	declared := map[string]string{"millrace.columns": "price DECIMAL(10,2)"}
	in.topic("c05", declared, `{"price":12}`, `{"price":12.1}`, `{"price":10.0}`)
	in.topic("c05b", declared, `{"price":0.1}`, `{"price":0.1}`, `{"price":0.1}`, `{"price":0.1}`, `{"price":0.1}`,
		`{"price":0.1}`, `{"price":0.1}`, `{"price":0.1}`, `{"price":0.1}`, `{"price":0.1}`)
	cases{
		{"SELECT price FROM c05 ORDER BY _offset", "12.00 / 12.10 / 10.00"},
		{"SELECT SUM(price) FROM c05", "34.10"},
		{"SELECT SUM(price)=1 , SUM(price) FROM c05b", "1,1.00"},
		{"SELECT AVG(price) FROM c05", "11.366667"},
	}.check(t, in)
}

func TestJSONFunctionsKeepEveryDigit(t *testing.T) { // C06, C07, C17, C18
	in := start(t, nil)
	in.topic("c06", nil, `{"id":9007199254740993,"p":1.10,"s":"a\"b","n":null,"o":{"k":[1,2,{"z":12345678901234567890}]}}`)
	in.topic("c07", nil, `{"id":1,"Id":2}`)
	in.topic("c17", nil, `{"a.b":1,"a":{"b":2}}`, `{"a.b":3}`, `{"a":{"b":4}}`)
	in.topic("c18", nil, `{"v":{"x":1}}`, `{"v":{"x":1,"y":null}}`, `{"v":null}`, `{}`, `{"v":[]}`)
	cases{
		{"SELECT JSON_EXTRACT(_value,'$.id'), JSON_EXTRACT(_value,'$.p'), id FROM c06", "9007199254740993,1.10,9007199254740993"},
		{"SELECT _value->'$.id', _value->>'$.s', _value->>'$.n', _value->'$.missing' FROM c06", `9007199254740993,a"b,null,NULL`},
		{"SELECT COUNT(*) FROM c06 WHERE _value->'$.id' = 9007199254740993", "1"},
		{"SELECT COUNT(*) FROM c06 WHERE _value->'$.id' = 9007199254740992", "0"},
		{"SELECT _value->'$.o.k[2].z', _value->'$.o.k[last].z', _value->'$**.z', _value->'$.o.k[0 to 1]' FROM c06", "12345678901234567890,12345678901234567890,[12345678901234567890],[1, 2]"},
		{"SELECT JSON_LENGTH(_value), JSON_TYPE(_value->'$.o'), JSON_VALID(_value), JSON_VALID('{') FROM c06", "5,OBJECT,1,0"},
		{"SELECT JSON_CONTAINS(_value, '9007199254740993', '$.id'), JSON_CONTAINS(_value, '9007199254740992', '$.id') FROM c06", "1,0"},
		{"SELECT JSON_KEYS(_value), JSON_DEPTH(_value), JSON_TYPE(_value->'$.o.k[2].z'), JSON_OVERLAPS(_value->'$.o.k', '[9,2]') FROM c06", `["n", "o", "p", "s", "id"],5,UNSIGNED INTEGER,1`},
		{"SELECT JSON_EXTRACT(JSON_SET(_value->'$.o', '$.k[0]', 5), '$.k[2].z') FROM c06", "12345678901234567890"},
		{"SELECT JSON_VALUE(_value, '$.id') FROM c06", "9007199254740993"},
		{"SELECT COUNT(*) FROM c06 a JOIN c06 b ON a._value->'$.id' = b._value->'$.id'", "1"},
		{"SELECT SUM(_value->'$.p') FROM c06", "1.1"},
		{"SELECT CAST(_value->'$.id' AS SIGNED) FROM c06", "9007199254740993"},
		{"SELECT CAST(_value->>'$.id' AS SIGNED) FROM c06", "9007199254740993"},
		{"SELECT JSON_EXTRACT(_value,'$.id'),JSON_EXTRACT(_value,'$.Id') FROM c07", "1,2"},
		{"SELECT JSON_EXTRACT(_value,'$.\"a.b\"'),JSON_EXTRACT(_value,'$.a.b') FROM c17 ORDER BY _offset", "1,2 / 3,NULL / NULL,4"},
		{"SELECT COUNT(*),COUNT(`v.x`),SUM(JSON_CONTAINS_PATH(_value,'one','$.v.y')) FROM c18", "5,2,1"},
		{"SELECT _value->>'$.v.x' AS x, COUNT(*) FROM c18 GROUP BY _value->>'$.v.x' ORDER BY 2", "1,2 / NULL,3"},
	}.check(t, in)
}

func TestNullsInSubqueriesFollowThreeValuedLogic(t *testing.T) { // C27, C29, C30, C31
	in := start(t, nil)
	in.topic("c27", nil, `{"id":1}`, `{"id":2}`)
	in.topic("c29", nil, `{"id":1,"n":5}`, `{"id":2,"n":null}`, `{"id":3,"n":7}`, `{"id":4,"n":0}`, `{"id":5,"n":-1}`)
	in.topic("c30", nil, `{"c1":-1}`)
	in.topic("c31", nil, `{"id":1,"k":"keep"}`, `{"id":2,"k":"key"}`, `{"id":3}`, `{"id":4,"k":"keep"}`)
	cases{
		{"SELECT id FROM c27 WHERE id NOT IN (SELECT NULL)", ""},
		{"SELECT id FROM c27 WHERE NOT (id IN (SELECT NULL))", ""},
		{"SELECT id FROM c27 WHERE id NOT IN (SELECT 1) ORDER BY id", "2"},
		{"SELECT id NOT IN (SELECT NULL) FROM c27", "NULL / NULL"},
		{"SELECT id FROM c29 x WHERE NOT EXISTS (SELECT 1 FROM c29 y WHERE y.n=x.n AND y.id<>x.id) ORDER BY id", "1 / 2 / 3 / 4 / 5"},
		{"SELECT id FROM c29 x WHERE NOT EXISTS (SELECT 1 FROM c27 y WHERE y.id=x.id) ORDER BY id", "3 / 4 / 5"},
		{"SELECT COT(-939932070)<c1 FROM c30", "1"},
		{"SELECT COUNT(*) FROM c30 WHERE COT(-939932070)<c1", "1"},
		{"SELECT COUNT(*) FROM c31 WHERE k IN ('keep',NULL)", "2"},
		{"SELECT COUNT(*) FROM c31 WHERE k NOT IN ('keep',NULL)", "0"},
	}.check(t, in)
}

func TestStarsStandForVisibleColumns(t *testing.T) {
	in := start(t, nil)
	in.topic("a", nil, `{"x":1}`)
	in.topic("b", nil, `{"y":2}`)
	cases{
		{"SELECT * FROM a", "0,0,2023-11-14 22:13:20.000,NULL,1"},
		{"SELECT x, t.* FROM a t", "1,0,0,2023-11-14 22:13:20.000,NULL,1"},
		{"SELECT * FROM (SELECT * FROM a) t", "0,0,2023-11-14 22:13:20.000,NULL,1"},
		{"SELECT a.*, b.y FROM a JOIN b ON a._offset = b._offset", "0,0,2023-11-14 22:13:20.000,NULL,1,2"},
		{"SELECT * FROM kafka.a CROSS JOIN (SELECT 5 AS z) s", "0,0,2023-11-14 22:13:20.000,NULL,1,5"},
		{"WITH a AS (SELECT 7 AS q) SELECT * FROM a", "7"},
		{"WITH a AS (SELECT 7 AS q) SELECT * FROM (SELECT * FROM a) s", "7"},
		{"SELECT x, _value FROM a", `1,{"x":1}`},
		{"SELECT COUNT(*) FROM a", "1"},
		{"SELECT * FROM a UNION ALL SELECT * FROM a", "0,0,2023-11-14 22:13:20.000,NULL,1 / 0,0,2023-11-14 22:13:20.000,NULL,1"},
		{"SELECT EXISTS (SELECT * FROM a)", "1"},
		{"SELECT * FROM a JOIN b USING (_partition, _offset)", "0,0,2023-11-14 22:13:20.000,NULL,1,2023-11-14 22:13:20.000,NULL,2"},
		{"SELECT * FROM a LEFT JOIN b ON a.x = b.y", "0,0,2023-11-14 22:13:20.000,NULL,1,NULL,NULL,NULL,NULL,NULL"},
		{"SELECT * FROM (a JOIN b ON a._offset=b._offset)", "0,0,2023-11-14 22:13:20.000,NULL,1,0,0,2023-11-14 22:13:20.000,NULL,2"},
		{"SELECT * FROM a, b", "0,0,2023-11-14 22:13:20.000,NULL,1,0,0,2023-11-14 22:13:20.000,NULL,2"},
	}.check(t, in)
}

func TestArithmeticDoesNotWrapAround(t *testing.T) { // C23, C37 and error 1690
	in := start(t, nil)
	in.topic("n", nil, `{"a":9223372036854775807,"b":-9223372036854775808,"u":18446744073709551615,"f":1e308,"d":"2026-01-31","s":"x"}`)
	const big, ubig, dbl = "error 1690: Error 1690 (22003): BIGINT value is out of range in ", "error 1690: Error 1690 (22003): BIGINT UNSIGNED value is out of range in ", "error 1690: Error 1690 (22003): DOUBLE value is out of range in "
	cases{
		{"SELECT 9223372036854775807+1", big + "'(9223372036854775807 + 1)'"},
		{"SELECT a+1 FROM n", big + "'(n.a + 1)'"},
		{"SELECT b-1 FROM n", big + "'(n.b - 1)'"},
		{"SELECT a*2 FROM n", big + "'(n.a * 2)'"},
		{"SELECT b*-1 FROM n", big + "'(n.b * -1)'"},
		{"SELECT a+b, a-1, b+1, a*1, b*1, a*0 FROM n", "-1,9223372036854775806,-9223372036854775807,9223372036854775807,-9223372036854775808,0"},
		{"SELECT CAST(1 AS UNSIGNED)-2", ubig + "'(convert(1, unsigned) - 2)'"},
		{"SELECT u-1, u+0 FROM n", "18446744073709551614,18446744073709551615"},
		{"SELECT 1e308*10", dbl + "'(1e+308 * 10)'"},
		{"SELECT f*10 FROM n", dbl + "'(n.f * 10)'"},
		{"SELECT 0.1+0.2, 1/3, 1.5*2, 7 DIV 2, 7 % 3, -(5-3)", "0.3,0.3333,3.0,3,1,-2"},
		{"SELECT DATE('2026-01-31') + INTERVAL 1 DAY, CAST('2026-01-31' AS DATETIME) - INTERVAL 1 HOUR", "2026-02-01,2026-01-30 23:00:00"},
		{"SELECT a+1-1 FROM (SELECT 5 AS a) t GROUP BY a+1-1 ORDER BY a+1-1", "5"},
		{"SELECT COUNT(*) FROM n WHERE _offset + 1 > 0 AND a - 1 = 9223372036854775806", "1"},
		{"SELECT CAST('2020-01-01 a' AS DATETIME), CAST('2020-01-01' AS DATE), CAST('2020-01-01T10:11:12.5' AS DATETIME(3)), CAST('x' AS DATETIME)", "2020-01-01 00:00:00,2020-01-01,2020-01-01 10:11:12.500,NULL"},
		{"SELECT NULL+1, 1-NULL", "NULL,NULL"},
		{"SELECT 1767225659701 DIV 60000, 9223372036854775807 DIV 9223372036854775806, -7 DIV 2, 7 DIV -2, -7.5 DIV 2, 0.999999 DIV 1, 1.0e0 DIV 0.3", "29453760,1,-3,-3,-3,0,3"},
		{"SELECT a DIV 2, b DIV 3, u DIV 3, b DIV 1, a DIV 0, d DIV 2, '7x' DIV 2 FROM n", "4611686018427387903,-3074457345618258602,6148914691236517205,-9223372036854775808,NULL,1013,3"},
		{"SELECT z, COUNT(*) FROM (SELECT -f % 0.5 AS z FROM n UNION ALL SELECT f-f FROM n) t GROUP BY z", "0,2"},
		{"SELECT f % 0 FROM n", "NULL"},
		{"SELECT b DIV -1 FROM n", big + "'(n.b div -1)'"},
		{"SELECT f DIV 1 FROM n", big + "'(n.f div 1)'"},
		{"SELECT 99999999999999999 % 100000000000000000, -7 % 3, 7 % -3, a % 10, b % 10, u % 10, 7 % 0, 7.5 % 2 FROM n", "99999999999999999,-1,1,7,-8,5,NULL,1.5"},
		{"SELECT (1/3)*(1/3), 1/2.0+1, (2/1+3/1)/5/4/3, 1.5+1", "0.11111111,1.5000,0.0833333333333333,2.5"},
	}.check(t, in)
}

func TestArithmeticWorksWhereverExpressionsDo(t *testing.T) {
	in := start(t, nil)
	in.topic("w", nil, `{"x":1,"g":"a"}`, `{"x":2,"g":"a"}`, `{"x":3,"g":"b"}`)
	cases{
		{"SELECT g, SUM(x)+1 FROM w GROUP BY g HAVING SUM(x)+1 > 3 ORDER BY SUM(x)*2 DESC, g", "a,4 / b,4"},
		{"SELECT g, COUNT(*)*100/SUM(x) FROM w GROUP BY g ORDER BY COUNT(*)+1", "b,33.3333 / a,66.6667"},
		{"SELECT x, SUM(x) OVER () + 1, SUM(x+1) OVER (ORDER BY x) FROM w ORDER BY x", "1,7,2 / 2,7,5 / 3,7,9"},
		{"SELECT (SELECT COUNT(*) FROM w)+1, (SELECT MAX(x) FROM w i WHERE i.x < o.x+1)-1 FROM w o ORDER BY x", "4,0 / 4,1 / 4,2"},
		{"SELECT x FROM w WHERE x+1 IN (SELECT x FROM w) ORDER BY x", "1 / 2"},
		{"SELECT x FROM w WHERE x+1 NOT IN (SELECT x FROM w)", "3"},
		{"SELECT x FROM w WHERE x = (SELECT MAX(x)-1 FROM w)", "2"},
		{"SELECT DISTINCT x*0 FROM w", "0"},
		{"SELECT GROUP_CONCAT(x+1 ORDER BY x*-1) FROM w", "4,3,2"},
		{"SELECT x FROM w WHERE x BETWEEN 3-2 AND 1+1 ORDER BY -x", "2 / 1"},
		{"SELECT x IN (1+1, 5) FROM w ORDER BY x", "0 / 1 / 0"},
		{"SELECT CASE WHEN x+1 > 3 THEN x-1 ELSE x*10 END FROM w ORDER BY x", "10 / 20 / 2"},
		{"SELECT DATE_ADD('2026-01-01', INTERVAL x+1 DAY) FROM w WHERE x=1", "2026-01-03"},
		{"SELECT x+1 AS y FROM w GROUP BY x+1 ORDER BY y", "2 / 3 / 4"},
		{"SELECT x+1 AS y FROM w GROUP BY y HAVING y > 2 ORDER BY 1 DESC", "4 / 3"},
		{"SELECT a.x FROM w a JOIN w b ON a.x+1 = b.x ORDER BY a.x", "1 / 2"},
		{"SELECT a.x, b.x FROM w a LEFT JOIN w b ON a.x = b.x-1 ORDER BY a.x", "1,2 / 2,3 / 3,NULL"},
		{"SELECT COUNT(DISTINCT x-x), MAX(x+1), MIN(x-1), AVG(x+1) FROM w", "1,4,0,3.0000"},
		{"SELECT s FROM (SELECT x+1 AS s FROM w UNION ALL SELECT x*2 FROM w) u WHERE s+0 > 3 ORDER BY s", "4 / 4 / 6"},
		{"WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n+1 FROM r WHERE n < 4) SELECT SUM(n) FROM r", "10"},
		{"SELECT IF(x+1=2, 'one', 'other') FROM w ORDER BY x LIMIT 1", "one"},
		{"SELECT SUM(x)+SUM(x)*2-1 FROM w", "17"},
		{"SELECT g FROM w GROUP BY g ORDER BY SUM(x)-COUNT(*) DESC, g", "b / a"},
	}.check(t, in)
}
