package mysql

import (
	"strconv"
	"strings"
	"testing"
)

func TestJSONFunctionsEscapeNamesAndKeepDigits(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"id":1,"s":"a\"b","n":12345678901234567890.125,"o":{"z\"":9007199254740993,"b":1.10},"flag":true}`)
	cases{
		{`SELECT JSON_OBJECT('a"b', 1, 'n\\', s) FROM t`, `{"n\\": "a\"b", "a\"b": 1}`},
		{`SELECT JSON_OBJECT('bb',1,'a',2,'bb',3), JSON_OBJECT(), JSON_ARRAY()`, `{"a": 2, "bb": 3},{},[]`},
		{`SELECT JSON_OBJECT(n, n), JSON_OBJECT(id, _value->'$.o') FROM t`, `{"12345678901234567890.125": 12345678901234567890.125},{"1": {"b": 1.10, "z\"": 9007199254740993}}`},
		{`SELECT JSON_SET('{"a":12345678901234567890123}', '$."b\\"c"', 1.10)`, `{"a": 12345678901234567890123, "b\"c": 1.10}`},
		{`SELECT JSON_SET(_value->'$.o', '$.b', JSON_OBJECT('k', 18446744073709551615)), JSON_REMOVE(_value->'$.o', '$."z\\""') FROM t`, `{"b": {"k": 18446744073709551615}, "z\"": 9007199254740993},{"b": 1.10}`},
		{`SELECT JSON_INSERT('{"a":1}', '$.a', 2, '$.b', '[1]'), JSON_REPLACE('{"a":1}', '$.a', CAST('[1,2]' AS JSON), '$.b', 2)`, `{"a": 1, "b": "[1]"},{"a": [1, 2]}`},
		{`SELECT JSON_SET('{"a":1}', '$.a', NULL), JSON_SET(NULL, '$.a', 1), JSON_SET('{}', NULL, 1), JSON_SET('{"a":1}', '$.a[3]', 2)`, `{"a": null},NULL,NULL,{"a": [1, 2]}`},
		{`SELECT JSON_ARRAY_APPEND('{"a":1}', '$.a', 2.50, '$.a', 'x'), JSON_ARRAY_INSERT('[1,2]', '$[1]', TRUE)`, `{"a": [1, 2.50, "x"]},[1, true, 2]`},
		{`SELECT JSON_MERGE_PRESERVE('{"a\\"":1}', '{"a\\"":2}', '3'), JSON_MERGE_PATCH('{"a":1,"b":12345678901234567890.5}', '{"a":null}')`, `[{"a\"": [1, 2]}, 3],{"b": 12345678901234567890.5}`},
		{`SELECT JSON_MERGE_PATCH(NULL, '[1]'), JSON_MERGE_PATCH(NULL, '{}'), JSON_MERGE_PATCH('{"a":1}', NULL), JSON_MERGE_PRESERVE('[1]', NULL)`, `[1],NULL,NULL,NULL`},
		{`SELECT JSON_PRETTY('{"bb":[1,{}],"a":1e2}')`, "{\n  \"a\": 1e2,\n  \"bb\": [\n    1,\n    {}\n  ]\n}"},
		{`SELECT JSON_SEARCH('{"b":["x","y"],"a b":"x%"}', 'all', 'x%'), JSON_SEARCH('["a","b"]', 'one', '_'), JSON_SEARCH('["a"]', 'all', 'b'), JSON_SEARCH('["x%","xy"]', 'all', 'x|%', '|'), JSON_SEARCH('{"a":["k"],"b":"k"}', 'all', 'k', NULL, '$.a')`, `["$.b[0]", "$.\"a b\""],"$[0]",NULL,"$[0]","$.a[0]"`},
		{`SELECT JSON_VALUE('{"a":[1,2],"b":null,"c":"x"}', '$.a'), JSON_VALUE('{"b":null}', '$.b'), JSON_VALUE('{"c":"x"}', '$.c'), JSON_VALUE('{}', '$.c')`, `[1,2],NULL,x,NULL`},
		{`SELECT JSON_ARRAYAGG(JSON_OBJECT('q"', n)), JSON_OBJECTAGG(s, n), JSON_ARRAYAGG(_value->'$.o') FROM t`, `[{"q\"": 12345678901234567890.125}],{"a\"b": 12345678901234567890.125},[{"b": 1.10, "z\"": 9007199254740993}]`},
		{`SELECT CAST('{"bb":1, "a":[1 ,2], "bb":3}' AS JSON), CAST(1.50 AS JSON), CAST(id AS JSON), CAST(s AS CHAR) FROM t`, `{"a": [1, 2], "bb": 3},1.50,1,a"b`},
		{`SELECT JSON_ARRAY(1 = 1, TRUE, flag, id IS NULL, NULL, '1', 1e0, 1.5e300, X'41') FROM t`, `[true, true, 1, false, null, "1", 1.0, 1.5e300, "base64:type252:QQ=="]`},
		{`SELECT JSON_ARRAY(CAST('2026-02-28' AS DATE), CAST('2026-02-28 10:00:00' AS DATETIME), CAST('-10:00:00.5' AS TIME(1)))`, `["2026-02-28", "2026-02-28 10:00:00.000000", "-10:00:00.500000"]`},
		{`SELECT UPPER(JSON_OBJECT('a"', 1.50)), CAST(JSON_OBJECT('a"', 1.50) AS CHAR), CAST(JSON_OBJECT('a"', 1) AS CHAR(3)), JSON_OBJECT('a"', 1) LIKE '%\\\\"%', LEFT(_value->'$.o', 40) FROM t`, `{"A\"": 1.50},{"a\"": 1.50},{"a,1,{"z\"":9007199254740993,"b":1.10}`},
		{`SELECT CONCAT(JSON_OBJECT('a"', 1), '!'), LENGTH(JSON_ARRAY('é')), JSON_UNQUOTE(JSON_ARRAY('a"'))`, `{"a\"": 1}!,6,["a\""]`},
		{`SELECT JSON_TYPE(JSON_OBJECT()), JSON_VALID(JSON_OBJECT('a"', 1)), JSON_EXTRACT(JSON_OBJECT('a"', 1), '$."a\\""'), JSON_ARRAY(1,2) = CAST('[1, 2]' AS JSON)`, `OBJECT,1,1,1`},
		{`SELECT JSON_ARRAYAGG(JSON_OBJECT('"', i)) OVER (ORDER BY i) FROM (SELECT 1 AS i UNION SELECT 2) x`, "[{\"\\\"\": 1}] / [{\"\\\"\": 1}, {\"\\\"\": 2}]"},
		{`SELECT j FROM JSON_TABLE('{"a":{"x\\"":[1]}}', '$' COLUMNS (j JSON PATH '$.a')) t`, `{"x\"": [1]}`},
	}.check(t, in)
}

func TestJSONFunctionsRefuseWhatMySQLRefuses(t *testing.T) {
	in := start(t, nil)
	text := in.open("app", "", "")
	for query, number := range map[string]string{
		"SELECT JSON_OBJECT(NULL, 1)":                                                 "Error 3158 (22032)",
		"SELECT JSON_OBJECT('a')":                                                     "Error 1582 (42000)",
		"SELECT JSON_OBJECT(X'41', 1)":                                                "Error 3144 (22032)",
		"SELECT JSON_SET('{}', '$.a')":                                                "Error 1582 (42000)",
		"SELECT JSON_SET('{', '$.a', 1)":                                              "Error 3141 (22032)",
		"SELECT JSON_SET(1, '$.a', 1)":                                                "Error 3146 (22032)",
		"SELECT JSON_SET('{}', '$.*', 1)":                                             "Error 3149 (42000)",
		"SELECT JSON_SET('{}', '$.b\"c', 1)":                                          "Error 3143 (42000)",
		"SELECT JSON_REMOVE('{}', '$')":                                               "Error 3153 (42000)",
		"SELECT JSON_ARRAY_INSERT('[]', '$.a', 1)":                                    "Error 3165 (42000)",
		"SELECT JSON_SEARCH('[]', 'some', 'a')":                                       "Error 3154 (42000)",
		"SELECT CAST('{' AS JSON)":                                                    "Error 3141 (22032)",
		"SELECT JSON_ARRAY(CAST(CONCAT(REPEAT('[', 512), REPEAT(']', 512)) AS JSON))": "Error 3157 (22032)",
	} {
		var v any
		if err := text.QueryRow(query).Scan(&v); err == nil || !strings.HasPrefix(err.Error(), number) {
			t.Errorf("%s: %v, want %s", query, err, number)
		}
	}
}

func TestJSONFunctionsMakeNoDocumentWithoutBound(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"s":"`+strings.Repeat("x", 800_000)+`"}`)
	repeated := func(format string) (out string) {
		for i := range 60 {
			out += strings.ReplaceAll(format, "?", strconv.Itoa(i))
		}
		return out
	}
	cases{
		{"SELECT LENGTH(JSON_SET('{}'" + repeated(", '$.a?', s") + ")) FROM t", "NULL"},
		{"SELECT LENGTH(JSON_INSERT('[]'" + repeated(", '$[?]', s") + ")) FROM t", "NULL"},
		{"SELECT LENGTH(JSON_REPLACE('[" + strings.Repeat("1,", 60) + "1]'" + repeated(", '$[?]', s") + ")) FROM t", "NULL"},
		{"SELECT LENGTH(JSON_ARRAY_APPEND('[]'" + repeated(", '$', s") + ")) FROM t", "NULL"},
		{"SELECT LENGTH(JSON_ARRAY_INSERT('[]'" + repeated(", '$[0]', s") + ")) FROM t", "NULL"},
		{"SELECT LENGTH(JSON_MERGE_PRESERVE('[]'" + repeated(", JSON_ARRAY(s)") + ")) FROM t", "NULL"},
		{"SELECT LENGTH(JSON_MERGE_PATCH('{}'" + repeated(", JSON_OBJECT('a?', s)") + ")) FROM t", "NULL"},
		// One on top of the other they are no more than the last one.
		{"SELECT LENGTH(JSON_SET('{}'" + repeated(", '$.a', s") + ")) FROM t", "800009"},
		{"SELECT JSON_LENGTH(JSON_ARRAY_APPEND('[]'" + repeated(", '$', '?'") + ")) FROM t", "60"},
	}.check(t, in)
	db := in.open("app", "", "")
	db.SetMaxOpenConns(1)
	ask(t, db, "SELECT JSON_SET('{}'"+repeated(", '$.a?', s")+") FROM t")
	if got := ask(t, db, "SHOW WARNINGS"); !strings.HasPrefix(got, "Warning,1301,Result of json_set()") {
		t.Error(got)
	}
}
