package mysql

import "testing"

func TestIntervalsOfAnySizeAreAddedExactly(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"a":1}`)
	db := in.open("app", "", "")
	for query, want := range map[string]string{
		"SELECT DATE_ADD('2024-01-01', INTERVAL 200000 DAY)":                                                                                        "2571-08-01",
		"SELECT DATE_SUB('2024-01-01', INTERVAL 200000 DAY)":                                                                                        "1476-06-02",
		"SELECT '2024-01-01' + INTERVAL 200000 DAY, INTERVAL 1 DAY + '2024-01-31'":                                                                  "2571-08-01,2024-02-01",
		"SELECT DATE_ADD('2024-01-01', INTERVAL 90000 WEEK)":                                                                                        "3748-11-18",
		"SELECT DATE_ADD('2024-01-31', INTERVAL 1 MONTH), DATE_SUB('2024-03-31', INTERVAL 13 MONTH)":                                                "2024-02-29,2023-02-28",
		"SELECT DATE'2024-01-31' + INTERVAL 1 DAY, DATE'2024-01-01' - INTERVAL 1 HOUR, INTERVAL 1 MONTH + DATE'2024-01-31'":                         "2024-02-01,2023-12-31 23:00:00,2024-02-29",
		"SELECT '2024-01-01 00:00:01' - INTERVAL 2 SECOND, TIMESTAMP'2024-01-01 00:00:00' + INTERVAL 1 DAY":                                         "2023-12-31 23:59:59,2024-01-02 00:00:00",
		"SELECT CURDATE() + INTERVAL 0 DAY = CURDATE(), LENGTH(CURDATE() - INTERVAL 1 DAY), LENGTH(UTC_DATE()), UTC_TIME() = TIME(UTC_TIMESTAMP())": "1,10,10,1",
		"SELECT SEC_TO_TIME(3600), SEC_TO_TIME(-1e9), SEC_TO_TIME(2378)":                                                                            "01:00:00,-838:59:59,00:39:38",
		"SELECT DATE_ADD('2024-01-01', INTERVAL 5 QUARTER), ADDDATE('2024-01-01', 31)":                                                              "2025-04-01,2024-02-01",
		"SELECT DATE_ADD('2024-01-01', INTERVAL 1 HOUR)":                                                                                            "2024-01-01 01:00:00",
		"SELECT DATE_ADD('2024-01-01', INTERVAL 1500000 MICROSECOND)":                                                                               "2024-01-01 00:00:01.500000",
		"SELECT DATE_SUB('2024-01-01', INTERVAL 1 MICROSECOND)":                                                                                     "2023-12-31 23:59:59.999999",
		"SELECT TIMESTAMPADD(DAY, 1, '2024-02-28'), DATE_ADD('2024-01-01', INTERVAL 7975 YEAR)":                                                     "2024-02-29,9999-01-01",
		"SELECT DATE_ADD(CAST('2024-01-01' AS DATE), INTERVAL -1 DAY), DATE_ADD(NULL, INTERVAL 1 DAY), DATE_ADD('2024-01-01', INTERVAL NULL DAY)":   "2023-12-31,NULL,NULL",
		"SELECT COUNT(*) FROM t WHERE _timestamp > CAST('2000-01-02' AS DATETIME) - INTERVAL 1 DAY":                                                 "1",
	} {
		if got := ask(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for _, query := range []string{
		"SELECT DATE_ADD('2024-01-01', INTERVAL 9000000 DAY)",
		"SELECT DATE_ADD('2024-01-01', INTERVAL 9223372036854775807 DAY)",
		"SELECT DATE_SUB('2024-01-01', INTERVAL -9223372036854775808 SECOND)",
		"SELECT DATE_ADD('2024-01-01', INTERVAL 9223372036854775807 WEEK)",
		"SELECT DATE_ADD('2024-01-01', INTERVAL 6148914691236517206 QUARTER)",
		"SELECT DATE_SUB('2024-01-01', INTERVAL 99999999999 MONTH)",
		"SELECT DATE_ADD('2024-01-01', INTERVAL 7976 YEAR)",
		"SELECT DATE_ADD('9999-12-31 23:59:59', INTERVAL 1 SECOND)",
		"SELECT ADDDATE('2024-01-01', 99999999999)",
		"SELECT TIMESTAMPADD(DAY, 99999999999, '2024-01-01')",
		"SELECT '2024-01-01' + INTERVAL 9000000000 DAY",
		"SELECT '2024-01-01' - INTERVAL 9223372036854775807 MICROSECOND - INTERVAL 9223372036854775807 HOUR",
	} {
		if got := ask(t, db, query); got != "NULL" {
			t.Errorf("%s: %s, want NULL", query, got)
		}
		if got := ask(t, db, "SHOW WARNINGS"); got != "Warning,1441,Datetime function: datetime field overflow" {
			t.Errorf("%s: warning %q", query, got)
		}
	}
}

func TestMonthsLaterMayBeADecember(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "d DATE, at DATETIME(3), n INT"}, `{"d":"2024-12-05","at":"2024-12-31T23:59:59.5Z","n":12}`, `{"d":"2023-02-25","at":"2023-02-28T01:00:00Z","n":22}`)
	cases{
		{"SELECT DATE'2024-12-05' + INTERVAL 12 MONTH, DATE_ADD('2024-06-30', INTERVAL 18 MONTH), DATE'2023-02-25' + INTERVAL 22 MONTH", "2025-12-05,2025-12-30,2024-12-25"},
		{"SELECT DATE_ADD('2024-09-08', INTERVAL 5 QUARTER), TIMESTAMPADD(MONTH,12,'2024-12-05'), DATE_SUB('2024-12-05', INTERVAL -12 MONTH)", "2025-12-08,2025-12-05,2025-12-05"},
		{"SELECT d + INTERVAL n MONTH, DATE_SUB(at, INTERVAL n MONTH), TIMESTAMPADD(QUARTER,4,at) FROM t ORDER BY n", "2025-12-05,2023-12-31 23:59:59.500,2025-12-31 23:59:59.500 / 2024-12-25,2021-04-28 01:00:00.000,2024-02-28 01:00:00.000"},
		{"WITH RECURSIVE r AS (SELECT DATE'2023-12-31' d UNION ALL SELECT d + INTERVAL 6 MONTH FROM r WHERE d < '2025-06-01') SELECT d FROM r", "2023-12-31 / 2024-06-30 / 2024-12-30 / 2025-06-30"},
		{"SELECT DATE'2024-01-31' - INTERVAL 1 MONTH, DATE'2024-12-31' - INTERVAL 13 MONTH, DATE'2024-02-29' + INTERVAL 1 YEAR, DATE'2024-12-01' + INTERVAL 120 MONTH", "2023-12-31,2023-11-30,2025-02-28,2034-12-01"},
		{"SELECT COUNT(*) FROM t WHERE d + INTERVAL 12 MONTH = DATE'2025-12-05'", "1"},
	}.check(t, in)
}

func TestIntervalsOfSeveralUnits(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "d DATE, at DATETIME(3), s VARCHAR(20)"}, `{"d":"2024-12-05","at":"2024-12-31T23:59:59.5Z","s":"1:30"}`)
	cases{
		{"SELECT at + INTERVAL '1:30' MINUTE_SECOND, at - INTERVAL s hour_minute, DATE_ADD(d, INTERVAL '1 2' DAY_HOUR) FROM t", "2025-01-01 00:01:29.500,2024-12-31 22:29:59.500,2024-12-06 02:00:00"},
		{"SELECT DATE_SUB('2024-03-31', INTERVAL '1-1' YEAR_MONTH), '2024-01-01' + INTERVAL '1 1:1:1' DAY_SECOND, d + INTERVAL '1' YEAR_MONTH FROM t", "2023-02-28,2024-01-02 01:01:01,2025-01-05"},
		{"SELECT d + INTERVAL '1.5' SECOND_MICROSECOND, d + INTERVAL '-1:1' MINUTE_SECOND, d + INTERVAL 1.5 SECOND, d + INTERVAL '90' MINUTE_SECOND FROM t", "2024-12-05 00:00:01.500000,2024-12-04 23:58:59,2024-12-05 00:00:01.5,2024-12-05 00:01:30"},
		{"SELECT EXTRACT(YEAR_MONTH FROM at), 'INTERVAL 1 DAY_HOUR', EXTRACT( DAY_MINUTE FROM at) FROM t", "202412,INTERVAL 1 DAY_HOUR,312359"},
		{"SELECT COUNT(*) FROM t WHERE at > d + INTERVAL '26 10' DAY_HOUR AND at < d + INTERVAL '27 00:00:00' DAY_SECOND", "1"},
	}.check(t, in)
}
