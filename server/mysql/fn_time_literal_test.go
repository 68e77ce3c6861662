package mysql

import (
	"strings"
	"testing"
)

func TestLiteralsOfTimesAreTimes(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "d DATE, dt DATETIME, dt3 DATETIME(3), dt6 DATETIME(6), ts6 TIMESTAMP(6), y TIME"}, `{"d":"2026-02-28","dt":"2026-02-28T10:00:00","dt3":"2026-02-28T10:00:00.5","dt6":"2026-02-28T10:00:00","ts6":"2026-02-28T10:00:00Z","y":"10:00:00"}`)
	cases{
		{"SELECT DATE'2026-02-28', CONCAT(TIME'10:00:00'), TIMESTAMP'2026-02-28 10:00:00', TIMESTAMP '2026-02-28 10:00:00.50', DATE\"2026-2-8\"", "2026-02-28,10:00:00,2026-02-28 10:00:00,2026-02-28 10:00:00.50,2026-02-08"},
		{"SELECT DATE'2026-02-28'+0, d+0, d*1, 1+d, dt+0, dt3+0, d DIV 100, d%100, TIME'10:00:00'+0, y+0 FROM t", "20260228,20260228,20260228,20260229,20260228100000,20260228100000.500,202602,28,100000,100000"},
		{"SELECT dt6, ts6, dt3, dt FROM t", "2026-02-28 10:00:00.000000,2026-02-28 10:00:00.000000,2026-02-28 10:00:00.500,2026-02-28 10:00:00"},
		{"SELECT COUNT(*) FROM t WHERE d = DATE'2026-02-28' AND dt BETWEEN TIMESTAMP'2026-02-28 09:00:00' AND TIMESTAMP '2026-02-28 11:00:00' AND dt >= DATE'2026-02-28' AND ts6 < DATE'2026-03-01' AND y > TIME'09:00:00' AND d IN (DATE'2026-02-28', DATE'2026-03-01')", "1"},
		{"SELECT DATE'2026-02-28' + INTERVAL 1 DAY, TIMESTAMP'2026-02-28 10:00:00' - INTERVAL 1 HOUR, DATEDIFF(DATE'2026-03-01', d), CONCAT(DATE'2026-02-28', ''), JSON_ARRAY(DATE'2026-02-28') FROM t", "2026-03-01,2026-02-28 09:00:00,1,2026-02-28,[\"2026-02-28\"]"},
		{"SELECT COUNT(*) FROM t AS OF TIMESTAMP '2020-01-01 00:00:00'", "0"},
		{"SELECT 'DATE''2026-02-28''', \"TIME'1'\" AS `date 'x'`", "DATE'2026-02-28',TIME'1'"},
		{"SELECT d+1, DATE'2026-12-31' > d, CASE WHEN 1 THEN DATE'2026-01-01' ELSE d END FROM t", "20260229,1,2026-01-01"},
	}.check(t, in)

	text := in.open("app", "", "")
	rows, err := text.Query("SELECT DATE'2026-02-28', TIME'10:00:00', TIMESTAMP'2026-02-28 10:00:00', DATE'2026-02-28' + INTERVAL 1 DAY")
	if err != nil {
		t.Fatal(err)
	}
	columns, err := rows.ColumnTypes()
	if err != nil || rows.Close() != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range columns {
		got = append(got, c.Name()+" "+c.DatabaseTypeName())
	}
	if want := "DATE'2026-02-28' DATE; TIME'10:00:00' TIME; TIMESTAMP'2026-02-28 10:00:00' DATETIME; DATE'2026-02-28' + INTERVAL 1 DAY DATE"; strings.Join(got, "; ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, "; "), want)
	}
	for _, query := range []string{"SELECT DATE'2026-13-01'", "SELECT DATE'x'", "SELECT TIMESTAMP'2026-02-30 10:00:00'", "SELECT DATE'2026-02-28 10:00:00'"} {
		var v any
		if err := text.QueryRow(query).Scan(&v); err == nil || query[7:11] == "DATE" && !strings.HasPrefix(err.Error(), "Error 1525 (HY000)") {
			t.Errorf("%s: %v, %v", query, v, err)
		}
	}
}

func TestBytesAreCastAsNumbersAndText(t *testing.T) {
	in := start(t, nil)
	cases{
		{"SELECT CAST(X'20' AS DECIMAL), CAST(0x20 AS DECIMAL(10,2)), CAST(b'100000' AS DECIMAL), CAST(X'' AS DECIMAL), CAST(X'01FFFFFFFFFFFFFFFF' AS DECIMAL(30))", "32,32.00,32,0,18446744073709551615"},
		{"SELECT CAST(X'20' AS DOUBLE), CAST(X'20' AS SIGNED), CAST(X'20' AS UNSIGNED), X'20'+0", "32,32,32,32"},
		{"SELECT CAST(X'9876543210' AS CHAR(10)), CAST(X'9876543210' AS CHAR), CAST(X'4142' AS CHAR(1)), CAST(X'4142' AS CHAR), CAST('32' AS DECIMAL)", "NULL,NULL,A,AB,32"},
	}.check(t, in)
}

func TestAnENUMUnitedWithTextIsText(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "e ENUM('b','a','c')"}, `{"e":"b"}`, `{"e":"a"}`, `{"e":"c"}`)
	cases{
		{"SELECT e FROM t UNION SELECT 'zzz' UNION SELECT 'aaa' ORDER BY 1", "a / aaa / b / c / zzz"},
		{"SELECT e FROM t UNION ALL SELECT e FROM t WHERE e = 'c' ORDER BY e DESC", "c / c / b / a"},
		{"SELECT e FROM t ORDER BY e", "b / a / c"},
		{"SELECT x, COUNT(*) FROM (SELECT e AS x FROM t UNION ALL SELECT 'a') u GROUP BY x ORDER BY x", "a,2 / b,1 / c,1"},
		{"SELECT x FROM (SELECT e AS x FROM t UNION ALL SELECT 'a') u ORDER BY x", "a / a / b / c"},
		{"SELECT x FROM (SELECT e AS x FROM t UNION ALL SELECT 'a') u GROUP BY x ORDER BY x", "a / b / c"},
		{"WITH u AS (SELECT e AS x FROM t UNION ALL SELECT 'a') SELECT MAX(x), MIN(x), CONCAT(MAX(x), 1) FROM u", "c,a,c1"},
	}.check(t, in)
}
