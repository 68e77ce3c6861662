package mysql

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func unixText(micros int64) string {
	return time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05.000000Z")
}

// Dashboards group by windows of time in many spellings; columns compute them once per window, and must meet its edges.
func TestWindowsOfTimeHaveTheSameEdgesInColumns(t *testing.T) {
	in := start(t, nil)
	var values []string
	add := func(seconds int64) {
		for _, d := range []int64{-500_001, -500_000, -499_999, -100, -51, -50, -49, -1, 0, 1, 49, 50, 51, 499_999, 500_000, 500_001} {
			us := seconds*1_000_000 + d
			ms := seconds*1000 + d/1000
			values = append(values, fmt.Sprintf(`{"s":%d,"ms":%d,"us":%d,"ns":%d,"ts":"%s","dt":"%s"}`, seconds+d/1000, ms, us, us*1000+d%1000, unixText(us), unixText(us)))
		}
	}
	// Hours, days and changes of offset in Europe, America, and zones of half hours; the first and last times.
	for _, s := range []int64{
		0, 60, 3600, 86400, 1_700_000_000, 1_700_000_100, 1_700_002_800, 1_700_006_400, 1_700_092_800, 1_698_541_200, 1_698_544_800, 1_710_054_000,
		1_710_050_400, 1_711_846_800, 1_711_850_400, -60, -3600, -1_700_000_000, 32_536_771_200, 4_102_444_800, 1_800, 5_400, 1_700_004_600,
	} {
		add(s)
	}
	values = append(values, `{"s":null,"ms":9223372036854775807,"us":-9223372036854775808,"ns":-1,"ts":null,"dt":null}`)
	in.topic("t", map[string]string{"millrace.columns": "s BIGINT, ms BIGINT, us BIGINT, ns BIGINT, ts TIMESTAMP(6), dt DATETIME(6)"}, values...)
	on, off := in.open("app", "", ""), in.open("app", "", "")
	if _, err := off.Exec("SET millrace_pushdown=0"); err != nil {
		t.Fatal(err)
	}
	var exprs []string
	for _, at := range []string{
		"ts", "dt", "_timestamp", "FROM_UNIXTIME(s)", "FROM_UNIXTIME(ms/1000)", "FROM_UNIXTIME(ms DIV 1000)", "FROM_UNIXTIME(FLOOR(ms/1000))",
		"FROM_UNIXTIME(us/1000000)", "FROM_UNIXTIME(us DIV 1000000)", "FROM_UNIXTIME(FLOOR(us/1000000))", "FROM_UNIXTIME(ns/1000000000)",
	} {
		for _, f := range []string{
			"HOUR(@)", "MINUTE(@)", "SECOND(@)", "DATE(@)", "YEAR(@)", "DAYOFWEEK(@)", "DATE_FORMAT(@,'%Y-%m-%d %H:%i:00')", "DATE_FORMAT(@,'%d %l %p')",
			"UNIX_TIMESTAMP(@) DIV 60*60", "UNIX_TIMESTAMP(@) DIV 3600", "UNIX_TIMESTAMP(@) DIV 100", "FLOOR(UNIX_TIMESTAMP(@)/300)",
			"DATE_ADD(DATE(@),INTERVAL HOUR(@) HOUR)", "DATE_ADD(DATE(@),INTERVAL (HOUR(@)*60+MINUTE(@)) MINUTE)", "DATE(DATE_SUB(@,INTERVAL DAYOFWEEK(@)-1 DAY))",
			"STR_TO_DATE(CONCAT(DATE_FORMAT(@,'%Y-%m-%d %H'),':00'),'%Y-%m-%d %H:%i')", "STR_TO_DATE(CONCAT(DATE_FORMAT(@,'%Y-%m'),'-01'),'%Y-%m-%d')",
			"MAKEDATE(YEAR(@),1)+INTERVAL QUARTER(@) QUARTER-INTERVAL 1 QUARTER", "TO_DAYS(@)", "@",
		} {
			exprs = append(exprs, strings.ReplaceAll(f, "@", at))
		}
	}
	exprs = append(exprs, "ms DIV 60000", "us DIV 60000000*60", "ms-ms%60000", "ms%60000", "FLOOR(ms/60000)", "FLOOR(us/1000000)", "FLOOR(s/60)", "us/1000000", "ns/1000000000",
		"FROM_UNIXTIME(ms DIV 60000*60)", "FROM_UNIXTIME(ms/1000,'%Y-%m-%d %H:%i')", "FROM_UNIXTIME(us/1000000,'%H')", "FROM_UNIXTIME(s,'%Y-%m-%d')", "ms DIV 1", "us DIV 200", "us%200",
		"HOUR(FROM_UNIXTIME(us/1000000))*100+us DIV 1000000000", "CEIL(us/1000000)")
	for _, zone := range []string{"+00:00", "+05:30", "Europe/Berlin", "America/New_York", "Asia/Kathmandu"} {
		if _, err := on.Exec("SET time_zone='" + zone + "'"); err != nil {
			t.Fatal(err)
		}
		if _, err := off.Exec("SET time_zone='" + zone + "'"); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(exprs); i += 20 {
			q := "SELECT _offset," + strings.Join(exprs[i:min(i+20, len(exprs))], ",") + " FROM t ORDER BY _offset"
			got, onErr := table(t, on, q)
			want, offErr := table(t, off, q)
			if (onErr == nil) != (offErr == nil) || len(got) != len(want) {
				t.Fatalf("%s in %s: %v, rows %v", q, zone, onErr, offErr)
			}
			told := map[int]bool{}
			for r := range got {
				for c := range got[r] {
					if c > 0 && got[r][c] != want[r][c] && !told[c] {
						told[c] = true
						t.Errorf("%s in %s of %s:\n got %s\nwant %s", exprs[i+c-1], zone, values[r], got[r][c], want[r][c])
					}
				}
			}
			if offErr != nil {
				t.Errorf("%s: %v", q, offErr)
			}
		}
	}
	for _, e := range exprs {
		lines, err := table(t, on, "EXPLAIN SELECT "+e+" w,COUNT(*) FROM t GROUP BY w")
		if err != nil || lines[0][0] != "In columns:" {
			t.Errorf("%s: %v %v", e, lines, err)
		}
	}
}
