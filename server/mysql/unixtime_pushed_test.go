package mysql

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// Times that applications count in seconds, milliseconds or microseconds are the same in columns and row by row, in
// zones whose clocks are changed, around these changes, and where times end.
func TestUnixTimesInColumnsAreThoseOfRows(t *testing.T) {
	in := start(t, nil)
	var values []string
	add := func(sec, micros int64) {
		values = append(values, `{"s":`+strconv.FormatInt(sec, 10)+`,"ms":`+strconv.FormatInt(sec*1000+micros/1000, 10)+`,"us":`+strconv.FormatInt(sec*1e6+micros, 10)+`}`)
	}
	for _, sec := range []int64{-2, -1, 0, 1, 3599, 3600, 86399, 32536771198, 32536771199, 32536771200, 1e11} {
		add(sec, 0)
		add(sec, 999_999)
	}
	for _, change := range []time.Time{ // Berlin, Lord Howe, New York
		time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC), time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC),
		time.Date(2026, 4, 4, 15, 0, 0, 0, time.UTC), time.Date(2026, 11, 1, 6, 0, 0, 0, time.UTC),
	} {
		for d := -7200; d <= 7200; d += 450 {
			add(change.Unix()+int64(d)-1, 999_500)
			add(change.Unix()+int64(d), int64(d+7200))
		}
	}
	values = append(values, `{"s":null,"ms":null,"us":null}`, `{}`)
	in.topic("t", nil, values...)
	db := in.open("app", "", "")
	times := []string{
		"FROM_UNIXTIME(s)", "FROM_UNIXTIME(ms/1000)", "FROM_UNIXTIME(us/1000000)", "FROM_UNIXTIME(ms DIV 1000)", "FROM_UNIXTIME(us DIV 1000000)",
		"FROM_UNIXTIME(ms/1000 DIV 3600*3600)", "FROM_UNIXTIME(s-s%900)",
	}
	forms := []string{
		"SELECT _offset, @ FROM t ORDER BY _offset",
		"SELECT @ AS x, COUNT(*), MIN(s) FROM t GROUP BY x ORDER BY x",
		"SELECT TUMBLE(@, INTERVAL 15 MINUTE) AS x, COUNT(*) FROM t GROUP BY x ORDER BY x",
		"SELECT TUMBLE(@, INTERVAL 7 SECOND) AS x, COUNT(*) FROM t GROUP BY x ORDER BY x",
		"SELECT TUMBLE(@, INTERVAL 3 HOUR) AS x, COUNT(*) FROM t GROUP BY x ORDER BY x",
		"SELECT window_start, window_end, COUNT(*) FROM HOP(t, @, INTERVAL 1 HOUR, INTERVAL 20 MINUTE) AS w GROUP BY window_start, window_end ORDER BY window_start",
		"SELECT _offset FROM t WHERE @ >= '2026-10-25 02:30:00' ORDER BY _offset",
		"SELECT _offset FROM t WHERE @ < '2026-03-29 02:30:00.999' ORDER BY _offset",
		"SELECT _offset FROM t WHERE @ BETWEEN '2026-04-05 00:00:00' AND '2026-04-05 03:00:00' ORDER BY _offset",
		"SELECT _offset FROM t WHERE @ = '1970-01-01 01:00:00' OR @ IS NULL ORDER BY _offset",
		"SELECT MIN(@), MAX(@), COUNT(@), COUNT(DISTINCT @) FROM t",
		"SELECT DATE(@) AS x, HOUR(@) AS y, COUNT(*) FROM t GROUP BY x, y ORDER BY x, y",
		"SELECT DATE_FORMAT(@, '%Y-%m-%d %H:%i') AS x, COUNT(*) FROM t GROUP BY x ORDER BY x",
		"SELECT _offset, @ + INTERVAL 1 DAY, UNIX_TIMESTAMP(@) FROM t ORDER BY _offset",
		"SELECT _offset FROM t ORDER BY @ DESC, _offset LIMIT 9",
	}
	for _, zone := range []string{"+00:00", "Europe/Berlin", "Australia/Lord_Howe", "America/New_York", "+05:45"} {
		if _, err := db.Exec("SET time_zone = '" + zone + "'"); err != nil {
			t.Fatal(err)
		}
		for _, at := range times {
			for _, form := range forms {
				query := strings.ReplaceAll(form, "@", at)
				var got [2]string
				for i, pushdown := range []string{"1", "0"} {
					if _, err := db.Exec("SET millrace_pushdown = " + pushdown); err != nil {
						t.Fatal(err)
					}
					got[i] = ask(t, db, query)
				}
				if got[0] != got[1] {
					t.Errorf("%s: %s:\n%s in columns,\n%s row by row", zone, query, got[0], got[1])
				}
			}
		}
	}
}
