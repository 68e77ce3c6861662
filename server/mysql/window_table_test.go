package mysql

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestWindowsTumbleAndHop(t *testing.T) {
	in := start(t, nil)
	run(t, in, "CREATE TABLE people (name VARCHAR(20), age INT, state VARCHAR(2) AS (_value->>'$.address.state'), company VARCHAR(20), calories INT, at TIMESTAMP(3) AS (FROM_UNIXTIME(_value->>'$.ts'/1000)))")
	base := time.Date(2024, 5, 6, 7, 8, 0, 0, time.UTC)
	var values []string
	type person struct {
		at  time.Time
		age int
	}
	var people []person
	for i := range 60 {
		at := base.Add(time.Duration(i*1700) * time.Millisecond)
		people = append(people, person{at, 20 + i%7})
		values = append(values, fmt.Sprintf(`{"name":"p%d","age":%d,"ts":%d}`, i, 20+i%7, at.UnixMilli()))
	}
	in.produce(in.id("people"), values...)
	db := in.open("app", "", "")

	// The average age per 10 s window sliding by 5 s, against a plain computation.
	sum, n := map[time.Time]int{}, map[time.Time]int{}
	for _, p := range people {
		for start := p.at.Truncate(5 * time.Second); p.at.Before(start.Add(10 * time.Second)); start = start.Add(-5 * time.Second) {
			sum[start] += p.age
			n[start]++
		}
	}
	var want []string
	for start := base.Add(-5 * time.Second); n[start] > 0; start = start.Add(5 * time.Second) {
		want = append(want, fmt.Sprintf("%s,%s,%d,%d", start.Format("2006-01-02 15:04:05"), start.Add(10*time.Second).Format("2006-01-02 15:04:05"), n[start], sum[start]))
	}
	for _, pushdown := range []string{"1", "0"} {
		if _, err := db.Exec("SET millrace_pushdown=" + pushdown); err != nil {
			t.Fatal(err)
		}
		got := ask(t, db, "SELECT window_start, window_end, COUNT(*), SUM(age) FROM HOP(people, at, INTERVAL 10 SECOND, INTERVAL 5 SECOND) AS w GROUP BY window_start, window_end ORDER BY window_start")
		if got != strings.Join(want, " / ") {
			t.Errorf("got  %s\nwant %s", got, strings.Join(want, " / "))
		}
		if got := ask(t, db, "SELECT AVG(age) FROM HOP(people, at, INTERVAL 10 SECOND, INTERVAL 5 SECOND) GROUP BY window_start ORDER BY window_start LIMIT 1"); got != "21.0000" {
			t.Error(got)
		}
		// More windows than are read one by one.
		if got := ask(t, db, "SELECT COUNT(*), COUNT(DISTINCT window_start) FROM HOP(people, people.at, INTERVAL 1 MINUTE, INTERVAL 2 SECOND) w"); got != "1800,80" {
			t.Error(got)
		}
		if got := ask(t, db, "SELECT name, age, window_start FROM HOP(kafka.people, at, INTERVAL 3 SECOND, INTERVAL 2 SECOND) h WHERE name = 'p1' ORDER BY window_start"); got != "p1,21,2024-05-06 07:08:00" {
			t.Error(got)
		}
		if got := ask(t, db, "SELECT * FROM HOP(people, at, INTERVAL 1 DAY, INTERVAL 1 DAY) h WHERE name = 'p0'"); !strings.HasSuffix(got, ",2024-05-06 00:00:00,2024-05-07 00:00:00") {
			t.Error(got)
		}
		if got := ask(t, db, "SELECT TUMBLE(at, INTERVAL 1 MINUTE) AS m, COUNT(*) FROM people GROUP BY TUMBLE(at, INTERVAL 1 MINUTE) ORDER BY m"); got != "2024-05-06 07:08:00,36 / 2024-05-06 07:09:00,24" {
			t.Error(got)
		}
		if got := ask(t, db, "SELECT TUMBLE(at, INTERVAL 500000 MICROSECOND) FROM people WHERE name='p1'"); got != "2024-05-06 07:08:01.500000" {
			t.Error(got)
		}
		if got := ask(t, db, "SELECT TUMBLE(NULL, INTERVAL 1 HOUR), TUMBLE('1969-12-31 23:59:59', INTERVAL 1 HOUR)"); got != "NULL,1969-12-31 23:00:00" {
			t.Error(got)
		}
	}
	// Days begin when the session's do.
	if _, err := db.Exec("SET time_zone='+05:30'"); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, db, "SELECT DISTINCT TUMBLE(at, INTERVAL 1 DAY) FROM people"); got != "2024-05-06 00:00:00" {
		t.Error(got)
	}
	run(t, in, "CREATE VIEW averages AS SELECT window_start, AVG(age) AS age FROM HOP(people, at, INTERVAL 10 SECOND, INTERVAL 5 SECOND) w GROUP BY window_start")
	if got := ask(t, db, "SELECT COUNT(*) FROM averages"); got != fmt.Sprint(len(want)) {
		t.Error(got)
	}
	for q, number := range map[string]int{
		"SELECT TUMBLE(at) FROM people":                                                          1582,
		"SELECT TUMBLE(at, 10) FROM people":                                                      1210,
		"SELECT TUMBLE(at, INTERVAL 1 MONTH) FROM people":                                        1210,
		"SELECT TUMBLE(at, INTERVAL 0 SECOND) FROM people":                                       1210,
		"SELECT TUMBLE(nosuch, INTERVAL 1 SECOND) FROM people":                                   1054,
		"SELECT * FROM HOP(people, at, INTERVAL 1 DAY)":                                          1582,
		"SELECT * FROM HOP(people, at, INTERVAL 1 DAY, INTERVAL 1 SECOND) h":                     1210,
		"SELECT * FROM HOP(nosuch, at, INTERVAL 1 DAY, INTERVAL 1 DAY) h":                        1146,
		"SELECT * FROM HOP(people, nosuch, INTERVAL 1 DAY, INTERVAL 1 DAY) h":                    1054,
		"SELECT * FROM HOP('people', at, INTERVAL 1 DAY, INTERVAL 1 DAY) h":                      1210,
		"SELECT * FROM HOP(people, at, INTERVAL 1 DAY, INTERVAL 1 DAY) h WHERE window_begin = 1": 1054,
	} {
		if _, err := table(t, db, q); errNumber(err) != number {
			t.Errorf("%s: %v, want %d", q, err, number)
		}
	}
}

func TestPeopleOfAStateAndACompanyWhoAteMuchToday(t *testing.T) {
	in := start(t, nil)
	in.topic("people", nil)
	today, yesterday := time.Now().UTC(), time.Now().UTC().AddDate(0, 0, -1)
	var values []string
	for _, p := range []struct {
		name, state, company string
		calories             int
		at                   time.Time
	}{
		{"ann", "CA", "Acme", 2500, today},
		{"bob", "CA", "Acme", 1900, today},
		{"cid", "NY", "Acme", 2500, today},
		{"dee", "CA", "Other", 2500, today},
		{"eve", "CA", "Acme", 2001, yesterday},
		{"fay", "CA", "Acme", 2001, today},
	} {
		values = append(values, fmt.Sprintf(`{"name":%q,"address":{"state":%q},"company":{"name":%q},"calories":%d,"ts":%d}`, p.name, p.state, p.company, p.calories, p.at.UnixMilli()))
	}
	in.produce(in.id("people"), values...)
	run(t, in, "ALTER TABLE people ADD COLUMN at TIMESTAMP(3) AS (FROM_UNIXTIME(_value->>'$.ts'/1000))")
	db := in.open("app", "", "")
	if got := ask(t, db, "SELECT name FROM people WHERE `address.state` = 'CA' AND `company.name` = 'Acme' AND calories > 2000 AND at >= CURDATE() ORDER BY name"); got != "ann / fay" {
		t.Error(got)
	}
}

func TestArraysBecomeRows(t *testing.T) {
	in := start(t, nil)
	in.topic("orders", nil, `{"id":1,"items":[{"sku":"a","qty":2},{"sku":"b","qty":1}]}`, `{"id":2,"items":[]}`, `{"id":3,"items":[{"sku":"c"}]}`, `{"id":4}`)
	db := in.open("app", "", "")
	for q, want := range map[string]string{
		"SELECT o.id, i.n, i.sku, i.qty FROM orders o, JSON_TABLE(o.items, '$[*]' COLUMNS (n FOR ORDINALITY, sku VARCHAR(10) PATH '$.sku', qty INT PATH '$.qty')) i ORDER BY 1, 2": "1,1,a,2 / 1,2,b,1 / 3,1,c,NULL",
		"SELECT SUM(i.qty) FROM orders o JOIN JSON_TABLE(o.items, '$[*]' COLUMNS (qty INT PATH '$.qty')) i":                                                                        "3",
		"SELECT o.id, l.n FROM orders o, LATERAL (SELECT COUNT(*) AS n FROM JSON_TABLE(o.items, '$[*]' COLUMNS (sku VARCHAR(10) PATH '$.sku')) j) l ORDER BY 1":                    "1,2 / 2,0 / 3,1 / 4,0",
		"SELECT o.id, l.id FROM orders o, LATERAL (SELECT MAX(p.id) AS id FROM orders p WHERE p.id < o.id) l ORDER BY 1":                                                           "1,NULL / 2,1 / 3,2 / 4,3",
	} {
		if got := ask(t, db, q); got != want {
			t.Errorf("%s:\n got %s\nwant %s", q, got, want)
		}
	}
}
