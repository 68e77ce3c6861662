package mysql

import "testing"

func TestWindowsGiveMySQLsAnswers(t *testing.T) {
	in := start(t, nil)
	in.topic("w", map[string]string{"millrace.columns": "g VARCHAR(9), a INT, n DECIMAL(9,2), f DOUBLE, d DATETIME"},
		`{"g":"x","a":1,"n":1.5,"f":0.5,"d":"2024-01-01 00:00:00"}`,
		`{"g":"x","a":3,"n":1.50,"f":1.5,"d":"2024-01-01 01:00:00"}`,
		`{"g":"x","a":2,"n":2,"f":2.5,"d":"2024-01-02 00:00:00"}`,
		`{"g":"y","a":5,"f":4.5,"d":"2024-02-01 00:00:00"}`,
		`{"g":"y","n":7,"f":3.5}`,
		`{"g":"y","a":4,"n":7,"d":"2024-03-01 00:00:00"}`)
	in.topic("none", map[string]string{"millrace.columns": "a INT, n DECIMAL(9,2)"}, "-")
	db := in.open("app", "", "")
	for _, c := range []struct{ query, want string }{
		{"SELECT a, ROW_NUMBER() OVER (ORDER BY a) FROM w ORDER BY a", "NULL,1 / 1,2 / 2,3 / 3,4 / 4,5 / 5,6"},
		{
			"SELECT _offset, RANK() OVER (ORDER BY n), DENSE_RANK() OVER (ORDER BY n), PERCENT_RANK() OVER (ORDER BY n), CUME_DIST() OVER (ORDER BY n) FROM w ORDER BY 1",
			"0,2,2,0.2,0.5 / 1,2,2,0.2,0.5 / 2,4,3,0.6,0.6666666666666666 / 3,1,1,0,0.16666666666666666 / 4,5,4,0.8,1 / 5,5,4,0.8,1",
		},
		{
			"SELECT _offset, SUM(a) OVER (ORDER BY g, n), COUNT(*) OVER (ORDER BY g, n), COUNT(n) OVER (PARTITION BY g) FROM w ORDER BY 1",
			"0,4,2,3 / 1,4,2,3 / 2,6,3,3 / 3,11,4,2 / 4,15,6,2 / 5,15,6,2",
		},
		{
			"SELECT _offset, MAX(a) OVER (ORDER BY _offset), MIN(n) OVER (ORDER BY _offset DESC), MAX(a) OVER (PARTITION BY g ORDER BY _offset DESC) FROM w ORDER BY 1",
			"0,1,1.50,3 / 1,3,1.50,3 / 2,3,2.00,2 / 3,5,7.00,5 / 4,5,7.00,4 / 5,5,7.00,4",
		},
		// Frames by rows.
		{
			"SELECT _offset, SUM(a) OVER (ORDER BY _offset ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING), AVG(n) OVER (ORDER BY _offset ROWS 1 PRECEDING) FROM w ORDER BY 1",
			"0,4,1.500000 / 1,6,1.500000 / 2,10,1.750000 / 3,7,2.000000 / 4,9,7.000000 / 5,4,7.000000",
		},
		{
			"SELECT _offset, COUNT(*) OVER (ORDER BY _offset ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING), MAX(a) OVER (ORDER BY _offset ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING) FROM w ORDER BY 1",
			"0,2,NULL / 1,2,NULL / 2,2,1 / 3,1,3 / 4,0,3 / 5,0,5",
		},
		{
			"SELECT _offset, SUM(a) OVER (ORDER BY _offset ROWS UNBOUNDED PRECEDING), SUM(a) OVER (ORDER BY _offset ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), SUM(a) OVER (ORDER BY _offset ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING), SUM(f) OVER (ORDER BY _offset ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM w ORDER BY 1",
			"0,1,15,15,0.5 / 1,4,15,14,2 / 2,6,15,11,4 / 3,11,15,9,7 / 4,11,15,4,8 / 5,15,15,4,3.5",
		},
		// Frames by values.
		{
			"SELECT a, SUM(a) OVER (ORDER BY a RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING), COUNT(*) OVER (ORDER BY a DESC RANGE BETWEEN 2 PRECEDING AND CURRENT ROW) FROM w ORDER BY a",
			"NULL,NULL,1 / 1,3,3 / 2,6,3 / 3,9,3 / 4,12,2 / 5,9,1",
		},
		{
			"SELECT n, COUNT(*) OVER (ORDER BY n RANGE BETWEEN 1 PRECEDING AND CURRENT ROW), COUNT(*) OVER (ORDER BY n RANGE BETWEEN UNBOUNDED PRECEDING AND 5 FOLLOWING) FROM w ORDER BY n",
			"NULL,1,1 / 1.50,2,4 / 1.50,2,4 / 2.00,3,6 / 7.00,2,6 / 7.00,2,6",
		},
		{"SELECT _offset, COUNT(*) OVER (ORDER BY d RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND INTERVAL 1 MONTH FOLLOWING) FROM w ORDER BY 1", "0,4 / 1,4 / 2,2 / 3,2 / 4,1 / 5,1"},
		{"SELECT _offset, COUNT(*) OVER (ORDER BY f DESC RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM w ORDER BY 1", "0,2 / 1,3 / 2,3 / 3,2 / 4,3 / 5,1"},
		// Values of other rows.
		{
			"SELECT _offset, LAG(a) OVER (ORDER BY _offset), LEAD(a, 2, -1) OVER (ORDER BY _offset), LAG(g, 0) OVER (ORDER BY _offset), LAG(a, 1, 0.25) OVER (PARTITION BY g ORDER BY _offset) FROM w ORDER BY 1",
			"0,NULL,2,x,0.25 / 1,1,5,x,1.00 / 2,3,NULL,x,3.00 / 3,2,4,y,0.25 / 4,5,-1,y,5.00 / 5,NULL,-1,y,NULL",
		},
		{
			"SELECT _offset, FIRST_VALUE(a) OVER (ORDER BY n), LAST_VALUE(a) OVER (ORDER BY _offset), LAST_VALUE(a) OVER (PARTITION BY g ORDER BY _offset ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING), NTH_VALUE(a, 2) OVER (ORDER BY _offset) FROM w ORDER BY 1",
			"0,5,1,2,NULL / 1,5,3,2,3 / 2,5,2,2,3 / 3,5,5,4,3 / 4,5,NULL,4,3 / 5,5,4,4,3",
		},
		{
			"SELECT _offset, NTILE(4) OVER (ORDER BY _offset), NTILE(2) OVER (ORDER BY _offset), NTILE(10) OVER (PARTITION BY g ORDER BY _offset) FROM w ORDER BY 1",
			"0,1,1,1 / 1,1,1,2 / 2,2,1,3 / 3,2,2,1 / 4,3,2,2 / 5,4,2,3",
		},
		// Names, and functions that differ little.
		{
			"SELECT _offset, SUM(a) OVER w1, COUNT(*) OVER w2, ROW_NUMBER() OVER (w3 ORDER BY _offset DESC) FROM w WINDOW w1 AS (ORDER BY _offset), w2 AS (w1 ROWS 1 PRECEDING), w3 AS (PARTITION BY g) ORDER BY 1",
			"0,1,1,3 / 1,4,2,2 / 2,6,2,1 / 3,11,2,3 / 4,11,2,2 / 5,15,2,1",
		},
		{"SELECT _offset, LAG(g,1,'a') OVER (ORDER BY _offset), LAG(g,1,'A') OVER (ORDER BY _offset) FROM w ORDER BY 1 LIMIT 1", "0,a,A"},
		{"SELECT _offset FROM (SELECT _offset, ROW_NUMBER() OVER (PARTITION BY g ORDER BY n DESC, _offset) AS r FROM w) x WHERE r=1 ORDER BY 1", "2 / 4"},
		{"SELECT SUM(a) OVER () - a, SUM(a) OVER (PARTITION BY g)/SUM(a) OVER () FROM w WHERE a IS NOT NULL ORDER BY a", "14,0.4000 / 13,0.4000 / 12,0.4000 / 11,0.6000 / 10,0.6000"},
		{"SELECT g, (SELECT MAX(r) FROM (SELECT RANK() OVER (ORDER BY i.n) r FROM w i WHERE i.g=o.g) z) FROM w o GROUP BY g ORDER BY g", "x,3 / y,2"},
		{"SELECT SUM(a) OVER (ORDER BY n), RANK() OVER (ORDER BY a) FROM none", ""},
		{"SELECT VARIANCE(a) OVER (ORDER BY _offset ROWS 1 PRECEDING) FROM w ORDER BY _offset", "0 / 1 / 0.25 / 2.25 / 0 / 0"},
	} {
		for _, on := range []string{"1", "0"} {
			if _, err := db.Exec("SET millrace_pushdown=" + on); err != nil {
				t.Fatal(err)
			}
			if got := ask(t, db, c.query); got != c.want {
				t.Errorf("%s (pushdown %s):\n got %s\nwant %s", c.query, on, got, c.want)
			}
		}
	}
	for _, c := range []struct {
		query  string
		number int
	}{
		{"SELECT SUM(a) OVER (ORDER BY a ROWS -1 PRECEDING) FROM w", 1064},
		{"SELECT SUM(a) OVER (ORDER BY a, n RANGE 1 PRECEDING) FROM w", 3587},
		{"SELECT SUM(a) OVER (ORDER BY g RANGE 1 PRECEDING) FROM w", 3587},
		{"SELECT SUM(a) OVER (ORDER BY d RANGE 1 PRECEDING) FROM w", 3588},
		{"SELECT SUM(a) OVER (ORDER BY a RANGE INTERVAL 1 DAY PRECEDING) FROM w", 3589},
		{"SELECT NTILE(0) OVER (ORDER BY a) FROM w", 1210},
		{"SELECT COUNT(DISTINCT a) OVER () FROM w", 1235},
		{"SELECT BIT_OR(a) OVER () FROM w", 1235},
		{"SELECT SUM(a) OVER nope FROM w", 3579},
		{"SELECT SUM(a) OVER v FROM w WINDOW v AS (u), u AS (v)", 3580},
		{"SELECT SUM(a) OVER (v PARTITION BY g) FROM w WINDOW v AS (ORDER BY a)", 3581},
		{"SELECT SUM(a) OVER (v ORDER BY a) FROM w WINDOW v AS (ROWS 1 PRECEDING)", 3582},
		{"SELECT SUM(a) OVER (v ORDER BY a) FROM w WINDOW v AS (ORDER BY a)", 3583},
	} {
		if _, err := table(t, db, c.query); errNumber(err) != c.number {
			t.Errorf("%s: %v, want %d", c.query, err, c.number)
		}
	}
}

func TestFramesOfMonthsFollowTheCalendar(t *testing.T) {
	in := start(t, nil)
	in.topic("w", map[string]string{"millrace.columns": "d DATE, q DATE"}, `{"d":"2023-11-30"}`, `{"d":"2023-12-31"}`, `{"d":"2024-01-31"}`, `{"d":"2024-02-29"}`, `{"d":"2024-12-31"}`, `{"d":"2025-12-31"}`)
	cases{
		{"SELECT d, COUNT(*) OVER (ORDER BY d RANGE BETWEEN INTERVAL 1 MONTH PRECEDING AND CURRENT ROW), COUNT(*) OVER (ORDER BY d RANGE BETWEEN CURRENT ROW AND INTERVAL 1 MONTH FOLLOWING) FROM w ORDER BY d", "2023-11-30,1,1 / 2023-12-31,2,2 / 2024-01-31,2,2 / 2024-02-29,2,1 / 2024-12-31,1,1 / 2025-12-31,1,1"},
		{"SELECT d, COUNT(*) OVER (ORDER BY d RANGE BETWEEN INTERVAL 12 MONTH PRECEDING AND CURRENT ROW), COUNT(*) OVER (ORDER BY d DESC RANGE BETWEEN INTERVAL 1 YEAR PRECEDING AND CURRENT ROW), COUNT(*) OVER (ORDER BY d RANGE BETWEEN INTERVAL 4 QUARTER PRECEDING AND INTERVAL 9000 YEAR FOLLOWING) FROM w ORDER BY d", "2023-11-30,1,4,6 / 2023-12-31,2,4,6 / 2024-01-31,3,3,6 / 2024-02-29,4,2,6 / 2024-12-31,4,2,5 / 2025-12-31,2,1,2"},
	}.check(t, in)
}

func TestOrdersComputeWithAliasesOfWindows(t *testing.T) {
	in := start(t, nil)
	in.topic("w", map[string]string{"millrace.columns": "a INT, s VARCHAR(9)"}, `{"a":3,"s":"x"}`, `{"a":1,"s":"y"}`, `{"a":2,"s":"x"}`)
	cases{
		{"SELECT a, ROW_NUMBER() OVER (ORDER BY a) n FROM w ORDER BY -n", "3,3 / 2,2 / 1,1"},
		{"SELECT a, ROW_NUMBER() OVER (ORDER BY a) AS n, a * 2 AS b FROM w WHERE a > 1 ORDER BY n % 2, s, b DESC LIMIT 1", "3,2,6"},
		{"SELECT s, SUM(a) OVER (PARTITION BY s) t FROM w ORDER BY t * 2 DESC, a + 1 DESC, 1", "x,5 / x,5 / y,1"},
		{"SELECT s, RANK() OVER (ORDER BY COUNT(*)) r, COUNT(*) c FROM w GROUP BY s HAVING c > 0 ORDER BY r + c, s", "y,1,1 / x,2,2"},
		{"SELECT DISTINCT s, COUNT(*) OVER (PARTITION BY s) c FROM w ORDER BY -c, s", "x,2 / y,1"},
		{"SELECT x.a, ROW_NUMBER() OVER o r FROM w x JOIN w y ON x.a = y.a WINDOW o AS (ORDER BY x.a DESC) ORDER BY r * y.a, x.a", "1,3 / 3,1 / 2,2"},
		{"SELECT * FROM (SELECT a, ROW_NUMBER() OVER (ORDER BY a) r FROM (SELECT a FROM w) c ORDER BY r + 0 DESC LIMIT 2) d ORDER BY a", "2,2 / 3,3"},
		{"SELECT -a AS a, ROW_NUMBER() OVER (ORDER BY a) n FROM w ORDER BY n + 0", "-1,1 / -2,2 / -3,3"},
	}.check(t, in)
	if got := ask(t, in.open("app", "", ""), "SELECT a, LAG(s) OVER (ORDER BY a) AS s FROM w ORDER BY CONCAT(s, 'x'), a"); got != "2,y / 3,x / 1,NULL" {
		t.Error(got) // the column hides the alias
	}
}
