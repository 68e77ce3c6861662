package mysql

import "testing"

func TestFunctionsOfTimesOfDay(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "d DATE, dt DATETIME, ti TIME, ts TIMESTAMP(3)"}, `{"d":"2026-02-28","dt":"2026-02-28 10:11:12","ti":"01:02:03","ts":"2026-02-28 10:11:12.5"}`)
	cases{
		{"SELECT CONCAT(MAKETIME(12,15,30)), MAKETIME(-1,2,3.5), MAKETIME(1,60,0), MAKETIME(1,0,60), CONCAT(MAKETIME(900,0,0)), MAKETIME(NULL,1,1)", "12:15:30,-01:02:03.500000,NULL,NULL,838:59:59,NULL"},
		{"SELECT ADDTIME('2007-12-31 23:59:59.999999', '1 1:1:1.000002'), ADDTIME('01:00:00.999999', '02:00:00.999998'), ADDTIME('01:00:00','1'), ADDTIME('x','1'), ADDTIME('1:0','2024-01-01 00:00:00')", "2008-01-02 01:01:01.000001,03:00:01.999997,01:00:01,NULL,NULL"},
		{"SELECT SUBTIME('2007-12-31 23:59:59.999999','1 1:1:1.000002'), SUBTIME('01:00:00.999999', '02:00:00.999998')", "2007-12-30 22:58:58.999997,-00:59:59.999999"},
		{"SELECT ADDTIME(dt,'01:00:00'), ADDTIME(dt,'01:00:00.5'), CONCAT(ADDTIME(ti,'1')), ADDTIME(d,'01:00:00') FROM t", "2026-02-28 11:11:12,2026-02-28 11:11:12.5,01:02:04,01:00:00"},
		{"SELECT TIME_TO_SEC('22:23:00'), TIME_TO_SEC(dt), TIME_TO_SEC(ti), TIME_TO_SEC('2024-01-01 00:01:00'), TIME_TO_SEC(10203), TIME_TO_SEC('-1:00:00'), TIME_TO_SEC('x') FROM t", "80580,36672,3723,60,3723,-3600,NULL"},
		{"SELECT TO_SECONDS(950501), TO_SECONDS('2009-11-29'), TO_SECONDS('2009-11-29 13:43:32'), TO_SECONDS(d), TO_SECONDS('x'), TO_SECONDS(NULL) FROM t", "62966505600,63426672000,63426721412,63939456000,NULL,NULL"},
		{"SELECT TIMESTAMP(DATE'2026-02-28'), TIMESTAMP('2003-12-31 12:00:00','12:00:00'), TIMESTAMP('2024-01-01 00:00:00.5'), TIMESTAMP(dt), TIMESTAMP(d,'01:02:03'), TIMESTAMP('x') FROM t", "2026-02-28 00:00:00,2004-01-01 00:00:00,2024-01-01 00:00:00.5,2026-02-28 10:11:12,2026-02-28 01:02:03,NULL"},
		{"SELECT CONCAT(CAST(TIMESTAMP'2026-07-01 12:34:56.789012' AS TIME)), CONCAT(CAST('12:34:56.5' AS TIME)), CONCAT(CAST('-12:34:56.5' AS TIME)), CAST('1:2:3.789' AS TIME(2)), CONCAT(CAST(ts AS TIME)), CAST('x' AS TIME) FROM t", "12:34:57,12:34:57,-12:34:57,01:02:03.790000,10:11:13,NULL"},
		{"SELECT COALESCE(dt,d), COALESCE(d,dt), IFNULL(d,dt), IFNULL(d,ts), COALESCE(NULL,dt), IF(d IS NULL,'x',dt), COALESCE(d,'x'), IFNULL(ti,'x') FROM t", "2026-02-28 10:11:12,2026-02-28 00:00:00,2026-02-28 00:00:00,2026-02-28 00:00:00.000,2026-02-28 10:11:12,2026-02-28 10:11:12,2026-02-28,01:02:03"},
	}.check(t, in)
}

func TestTimesHaveTheTypeThatHoldsAllBranches(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "d DATE, dt DATETIME, ts TIMESTAMP(3)"}, `{"d":"2026-02-28"}`)
	for sql, want := range map[string]string{
		"TIMESTAMP(DATE'2026-02-28')": "DATETIME", "TIMESTAMP(d)": "DATETIME", "COALESCE(dt,d)": "DATETIME", "IFNULL(d,ts)": "DATETIME", "COALESCE(NULL,dt)": "DATETIME", "IFNULL(dt,'x')": "TEXT", "COALESCE(d,d)": "DATE", "CAST(dt AS TIME)": "TIME",
	} {
		r, err := in.open("app", "", "").Query("SELECT " + sql + " FROM t")
		if err != nil {
			t.Error(sql, err)
			continue
		}
		columns, err := r.ColumnTypes()
		if err != nil || columns[0].DatabaseTypeName() != want {
			t.Error(sql, columns[0].DatabaseTypeName(), want, err)
		}
		_ = r.Close()
	}
}
