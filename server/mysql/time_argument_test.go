package mysql

import "testing"

func TestTimesAreSpelledByTheirTypesWhereTextIsAskedFor(t *testing.T) {
	in := start(t, nil)
	in.topic("w", map[string]string{"millrace.columns": "i INT, s VARCHAR(9), d DATE, t DATETIME(3)"},
		`{"i":1,"s":"x","d":"2024-02-29","t":"2024-01-01 00:00:00.500"}`, `{"i":0,"s":"y","d":"2023-12-31","t":"2024-02-01 00:00:00"}`)
	bothWays(t, in.open("app", "", ""), []struct{ query, want string }{
		{
			"SELECT CONCAT(d), CONCAT(d,'x'), UPPER(d), LENGTH(d), REPLACE(d,'-',''), LEFT(d,4), CONCAT(t), LOWER(t) FROM w WHERE i=1",
			"2024-02-29,2024-02-29x,2024-02-29,10,20240229,2024,2024-01-01 00:00:00.500,2024-01-01 00:00:00.500",
		},
		{
			"SELECT REVERSE(d), LPAD(d,12,'x'), HEX(d), MD5(d), INSTR(d,'02'), LOCATE('2',t), SUBSTRING_INDEX(d,'-',2), RIGHT(t,3), CHAR_LENGTH(t) FROM w WHERE i=1",
			"92-20-4202,xx2024-02-29,323032342D30322D3239,d8ee23aa5ffa8f08568918e00a31d3ff,2,1,2024-02,500,23",
		},
		{
			"SELECT CAST(d AS CHAR), CAST(t AS CHAR), CAST(d AS CHAR(4)), CONCAT(t), CONCAT_WS('-',d,s) FROM w WHERE i=0",
			"2023-12-31,2024-02-01 00:00:00.000,2023,2024-02-01 00:00:00.000,2023-12-31-y",
		},
		{
			"SELECT d LIKE '2024-02%', COALESCE(d,s), IF(i>0,d,s), CASE WHEN i>0 THEN d ELSE s END, IFNULL(d,'x') FROM w ORDER BY i",
			"0,2023-12-31,y,y,2023-12-31 / 1,2024-02-29,2024-02-29,2024-02-29,2024-02-29",
		},
		{
			"SELECT GROUP_CONCAT(d ORDER BY d), GROUP_CONCAT(DISTINCT d ORDER BY d DESC), GROUP_CONCAT(d,s ORDER BY i) FROM w",
			"2023-12-31,2024-02-29,2024-02-29,2023-12-31,2023-12-31y,2024-02-29x",
		},
	})
}

func TestGreatestAndLeastAreExactForDecimals(t *testing.T) {
	in := start(t, nil)
	in.topic("g", map[string]string{"millrace.columns": "n DECIMAL(9,2), i BIGINT, w DECIMAL(65,30)"},
		`{"n":1.5,"i":9007199254740993,"w":"0.000000000000000000000000000001"}`, `{"i":2,"w":1}`)
	bothWays(t, in.open("app", "", ""), []struct{ query, want string }{
		{"SELECT LEAST(n,1.5,2), GREATEST(i,n), LEAST(n,i,0.125) FROM g", "1.50,9007199254740993.00,0.125 / NULL,NULL,NULL"},
		{"SELECT GREATEST(w,0), LEAST(w,0.5) FROM g WHERE i>2", "0.000000000000000000000000000001,0.000000000000000000000000000001"},
		{"SELECT GREATEST(i,3), LEAST('a','b') FROM g ORDER BY i", "3,a / 9007199254740993,a"},
	})
}

func TestTrimOfNULLIsNULL(t *testing.T) {
	in := start(t, nil)
	in.topic("n", map[string]string{"millrace.columns": "s VARCHAR(9), p VARCHAR(9)"}, `{"s":"xax","p":"x"}`, `{"s":"xax"}`, `{"p":"x"}`)
	bothWays(t, in.open("app", "", ""), []struct{ query, want string }{
		{"SELECT TRIM(BOTH p FROM s), TRIM(LEADING NULL FROM s), TRIM(s) FROM n ORDER BY _offset", "a,NULL,xax / NULL,NULL,xax / NULL,NULL,NULL"},
	})
}
