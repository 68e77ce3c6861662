package mysql

import "testing"

// numberColumns declares a column of every type that is a number, or is taken for one.
const numberColumns = "s VARCHAR(20), i8 TINYINT, u8 TINYINT UNSIGNED, i16 SMALLINT, u16 SMALLINT UNSIGNED, i24 MEDIUMINT, u24 MEDIUMINT UNSIGNED, i32 INT, u32 INT UNSIGNED, i64 BIGINT, u64 BIGINT UNSIGNED, f FLOAT, d DOUBLE, n DECIMAL(10,2), y YEAR, b BIT(8), dt DATE, at DATETIME(3), tm TIME(2), k BOOLEAN"

func TestTheNegativeOfEveryTypeIsInRange(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": numberColumns},
		`{"s":"Zo","i8":-128,"u8":255,"i16":-32768,"u16":65535,"i24":-8388608,"u24":16777215,"i32":-2147483648,"u32":4294967295,"i64":-9223372036854775807,"u64":9223372036854775808,"f":1.5,"d":0,"n":-3.25,"y":2026,"b":7,"dt":"2026-03-04","at":"2026-03-04T05:06:07.891Z","tm":"10:11:12","k":true}`)
	in.topic("o", map[string]string{"millrace.columns": numberColumns}, `{"i64":-9223372036854775808,"u64":9223372036854775809}`)
	const out = "error 1690: Error 1690 (22003): BIGINT value is out of range in "
	cases{
		{"SELECT -i8, -u8, -i16, -u16, -i24, -u24, -i32, -u32, -i64, -u64 FROM t", "128,-255,32768,-65535,8388608,-16777215,2147483648,-4294967295,9223372036854775807,-9223372036854775808"},
		{"SELECT -f, -d, -n, -y, -b, -k, -s, -dt, -at, -tm FROM t", "-1.5,0,3.25,-2026,-7,-1,0,-20260304,-20260304050607.891,-101112"},
		{"SELECT -ASCII(s), -LENGTH(s), -BIT_COUNT(i8), -SIGN(i8), -FIELD(s,'a','Zo'), -ORD(s), -MONTH(dt), -YEAR(dt), -HOUR(tm), -CRC32(s), -STRCMP(s,'b'), -(i8 < 1), -MICROSECOND(at), -WEEKOFYEAR(dt) FROM t", "-90,-2,-57,1,-2,-90,-3,-2026,-10,-3699432424,1,-1,-891000,-10"},
		{"SELECT ASCII(s) - 200, ASCII(s) * -3, MICROSECOND(at) - 891001, WEEKOFYEAR(dt) - 11, SIGN(i8) * 300, BIT_COUNT(i8) - 300, (i8 < 1) - 300, k - 300 FROM t", "-110,-270,-1,-1,-300,-243,-299,-299"},
		{"SELECT ABS(i8), ABS(ASCII(s) - 200), ABS(-u8), ABS(k), - -u8, -(u8 - 255), -(-u8), 1 - -u8, -u8 - 1 FROM t", "128,110,255,1,255,0,255,256,-256"},
		{"SELECT x FROM (SELECT u8 x FROM t UNION ALL SELECT 0) a ORDER BY -x", "255 / 0"},
		{"SELECT -u8 AS x FROM t WHERE -u8 < -200 GROUP BY -u8 HAVING -MAX(u8) < 0", "-255"},
		{"SELECT MAX(-u8), SUM(-u64), AVG(-i8), -SUM(u8), -(SUM(n)/3), SUM(-n/3) FROM t", "-255,-9223372036854775808,128.0000,-255,1.083333,1.083333"},
		{"SELECT COALESCE(NULL, ASCII(s)), IF(1, ASCII(s), -1), IFNULL(ASCII(s), -1), GREATEST(ASCII(s), -1), CASE WHEN s = 'a' THEN ASCII(s) ELSE -300 END FROM t", "90,90,90,90,-300"},
		{"SELECT -i64 FROM o", out + "'-(o.i64)'"},
		{"SELECT -u64 FROM o", out + "'-(o.u64)'"},
		{"SELECT SUM(-u64) FROM o", out + "'-(o.u64)'"},
		{"SELECT ABS(i64) FROM o", out + "'abs(o.i64)'"},
	}.check(t, in)
}

func TestBranchesHoldUnsignedAndNegativeNumbers(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": numberColumns}, `{"i8":-1,"u8":2,"u32":4294967295,"u64":18446744073709551615,"i64":-5,"k":true}`, `{"k":false}`)
	cases{
		{"SELECT COALESCE(u64,-1), IFNULL(u64,-1), IF(k,u64,-1), IF(NOT k,u64,i8), CASE WHEN k THEN u64 ELSE -1 END, GREATEST(u64,-1), LEAST(u64,-1), NULLIF(u64,-1) FROM t", "18446744073709551615,18446744073709551615,18446744073709551615,-1,18446744073709551615,18446744073709551615,-1,18446744073709551615 / -1,-1,-1,NULL,-1,NULL,NULL,NULL"},
		{"SELECT IF(NOT k,u8,-300), IFNULL(i8,u64), IF(k,i8,u32), IF(k,u32,i8), COALESCE(NULL,i8,u8), IF(k,u8,u64), IF(k,200,-200), IFNULL(NULL,u64), CASE k WHEN 0 THEN u8 ELSE -300 END FROM t WHERE k", "-300,-1,-1,4294967295,-1,2,200,18446744073709551615,-300"},
		{"SELECT IF(NULL,CEIL(0.25+i8),0.25), IF(k,0.5,CAST(i8 AS DECIMAL(10,3))), IF(NOT k,ROUND(i8/3,1),1.234), IFNULL(FLOOR(0.5+i8),0.75), CASE WHEN k THEN ABS(-1.5) ELSE ROUND(1.005,3) END, IF(k,GREATEST(1.5,i8),2) FROM t WHERE k", "0.25,0.500,1.234,-1.00,1.500,1.5"},
		{"SELECT SUM(IF(k,u64,i8)), MAX(COALESCE(u64,-1)), MIN(IFNULL(u8,-7)) FROM t", "18446744073709551615,18446744073709551615,-7"},
		{"SELECT x FROM (SELECT IF(k,u8,-300) x, IFNULL(u64,-1) y FROM t) a WHERE x < 5 AND y > -2 ORDER BY x, y", "-300 / 2"},
		{"SELECT x, COUNT(*) FROM (SELECT u64 x FROM t UNION ALL SELECT -1) a GROUP BY x ORDER BY x", "NULL,1 / -1,1 / 18446744073709551615,1"},
	}.check(t, in)
}

func TestZeroHasNoSign(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "d DOUBLE, f FLOAT, i INT"}, `{"d":-0.0,"f":-0.0,"i":0}`, `{"d":0.0,"f":0.0,"i":0}`)
	cases{
		{"SELECT d, f, CAST(d AS CHAR), CONCAT(f), -d, -f, 0*-1e0, CAST(-d AS CHAR), -i, ROUND(d), ABS(d), d*-1, JSON_ARRAY(d) FROM t", "0,0,0,0,0,0,0,0,0,0,0,0,[0.0] / 0,0,0,0,0,0,0,0,0,0,0,0,[0.0]"},
		{"SELECT d, COUNT(*), COUNT(DISTINCT d), GROUP_CONCAT(d) FROM t GROUP BY d", "0,2,1,0,0"},
		{"SELECT COUNT(DISTINCT CAST(d AS CHAR)), COUNT(DISTINCT CONCAT(f)) FROM t", "1,1"},
	}.check(t, in)
}

func TestAggregatesTakeTimesForNumbers(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": numberColumns}, `{"dt":"2026-03-04","at":"2026-03-04T05:06:07.891Z","tm":"10:11:12","y":2026}`, `{"dt":"2024-02-29","at":"2024-02-29T00:00:00Z","tm":"-00:00:01","y":2024}`, `{}`)
	cases{
		{"SELECT SUM(dt), AVG(dt), SUM(at), AVG(at), SUM(y), AVG(y) FROM t", "40500533,20250266.5000,40500533050607.891,20250266525303.9455000,4050,2025.0000"},
		{"SELECT SUM(DISTINCT dt), SUM(tm)+0, AVG(tm)+0, STDDEV(dt), SUM(dt)+1, AVG(dt)*2 FROM t", "40500533,101111,50555.5,10037.5,40500534,40500533.0000"},
		{"SELECT dt, SUM(dt), AVG(CAST(at AS DATE)) FROM t GROUP BY dt HAVING SUM(dt) > 20250000", "2026-03-04,20260304,20260304.0000"},
		{"SELECT DISTINCT SUM(dt) OVER (), AVG(DATE(at)) OVER () FROM t WHERE dt > '2025-01-01'", "20260304,20260304.0000"},
	}.check(t, in)
}
