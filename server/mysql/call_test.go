package mysql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"millrace/store/state"
)

func TestSuggestedDeclarationsFitTheirValues(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil)
	var values []string
	for i := range 100 {
		values = append(values, fmt.Sprintf(`{"id":%d,"ts":%d,"created":%d,"iso":"2024-01-02T03:04:05.%03dZ","day":"2024-01-%02d","price":%d.25,"n":"%d","status":"s%d","user":{"name":"u%d"}}`,
			i, 1_700_000_000_000+i, 1_700_000_000+i, i, 1+i%28, i, i, i%3, i))
	}
	in.produce(in.id("t"), values...)
	db := in.open("app", "", "")
	r, err := table(t, db, "CALL millrace.suggest('t')")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"id": "BIGINT", "ts": "TIMESTAMP(3)", "created": "TIMESTAMP", "iso": "TIMESTAMP(6)", "day": "DATE", "price": "DECIMAL(10,2)", "n": "BIGINT", "status": "VARCHAR(16383)", "user.name": "VARCHAR(16383)",
	}
	if len(r) != len(want) {
		t.Fatal(r)
	}
	for _, row := range r {
		if row[2] != want[row[0]] {
			t.Errorf("%v, want %s", row, want[row[0]])
		}
		if row[0] == "status" && (row[3] != "low cardinality: 3 different values" || row[5] != "3") {
			t.Error(row)
		}
		run(t, in, row[6])
	}
	if got := ask(t, db, "SELECT COUNT(*), COUNT(_error), COUNT(ts), COUNT(created), COUNT(iso), COUNT(day), SUM(price), MAX(n), COUNT(`user.name`) FROM t"); got != "100,0,100,100,100,100,4975.00,99,100" {
		t.Error(got)
	}
	for q, number := range map[string]int{"CALL millrace.suggest('nosuch')": 1146, "CALL millrace.suggest()": 1318, "CALL millrace.suggest(1)": 1210} {
		if _, err := table(t, db, q); errNumber(err) != number {
			t.Errorf("%s: %v", q, err)
		}
	}
}

// A suggestion is followed, and then no value is lost; ids, versions and what no column holds stay as they are.
func TestTimesAreSuggestedInEveryForm(t *testing.T) {
	for _, c := range []struct{ member, values, want, first string }{
		{"ts", "1700000000123456,1700000001000000", "TIMESTAMP(6)", "2023-11-14 22:13:20.123456"},
		{"us", "1700000000123456", "TIMESTAMP(6)", "2023-11-14 22:13:20.123456"},
		{"event_ns", "1700000000123456000", "TIMESTAMP(6)", "2023-11-14 22:13:20.123456"},
		{"event_ns", "1700000000123456789", "BIGINT", "1700000000123456789"},
		{"time", "1700000000.25,1700000001", "TIMESTAMP(6)", "2023-11-14 22:13:20.250000"},
		{"time", "1700000000123.5,1700000001000.25", "TIMESTAMP(6)", "2023-11-14 22:13:20.123500"},
		{"time", `"1700000000123"`, "TIMESTAMP(3)", "2023-11-14 22:13:20.123"},
		{"time", `"1700000000"`, "TIMESTAMP", "2023-11-14 22:13:20"},
		{"account", "1700000000123456", "BIGINT", "1700000000123456"},
		{"account", "1700000000", "BIGINT", "1700000000"},
		{"iso", `"2024-01-02T03:04:05+02:00","2024-01-02T03:04:05.5Z"`, "TIMESTAMP(6)", "2024-01-02 01:04:05.000000"},
		{"iso", `"2024-01-02T03:04:05+0200","2024-01-02 03:04:05+02"`, "TIMESTAMP(6)", "2024-01-02 01:04:05.000000"},
		{"iso", `"20240102T030405-0330","2024-01-02T03:04Z"`, "TIMESTAMP(6)", "2024-01-02 06:34:05.000000"},
		{"iso", `"2024-01-02T03:04:05Z","9999-12-31T23:59:59Z"`, "DATETIME(6)", "2024-01-02 03:04:05.000000"},
		{"iso", `"2024-01-02T03:04:05","2024-01-02 03:04:05.123"`, "DATETIME(6)", "2024-01-02 03:04:05.000000"},
		{"iso", `"2024-01-02T03:04:05.123456789Z"`, "VARCHAR(16383)", "2024-01-02T03:04:05.123456789Z"},
		{"day", `"2024-01-02"`, "DATE", "2024-01-02"},
		{"invoice", `"2024-017","2024-018"`, "VARCHAR(16383)", "2024-017"},
		{"invoice", `"2024-017 10"`, "VARCHAR(16383)", "2024-017 10"},
	} {
		t.Run(c.member+" "+c.values, func(t *testing.T) {
			in := start(t, nil)
			in.topic("t", nil)
			var records []string
			for _, v := range strings.Split(c.values, ",") {
				records = append(records, fmt.Sprintf(`{"%s":%s}`, c.member, v))
			}
			in.produce(in.id("t"), records...)
			db := in.open("app", "", "")
			r, err := table(t, db, "CALL millrace.suggest('t')")
			if err != nil {
				t.Fatal(err)
			}
			if len(r) != 1 || r[0][2] != c.want {
				t.Fatalf("%v, want %s", r, c.want)
			}
			run(t, in, r[0][6])
			if got, want := ask(t, db, "SELECT COUNT(*)-COUNT("+c.member+"), COUNT(_error), (SELECT CAST("+c.member+" AS CHAR) FROM t ORDER BY _offset LIMIT 1) FROM t"), "0,0,"+c.first; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

func TestPinnedTypesStayWhenAnOddValueComes(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"a":1,"b":2}`)
	run(t, in, "CALL millrace.pin('t', 'a')")
	db := in.open("app", "", "")
	in.produce(in.id("t"), `{"a":"x","b":"y"}`)
	if got := ask(t, db, "SELECT a, b, _error IS NULL FROM t ORDER BY _offset"); got != "1,2,1 / NULL,y,0" {
		t.Error(got)
	}
	if _, err := db.Exec("CALL millrace.pin('t', 'nosuch')"); errNumber(err) != 1054 {
		t.Error(err)
	}
	run(t, in, "CALL millrace.pin('t')")
}

func TestOffsetsAreResetToAPlaceOrATime(t *testing.T) {
	var got []state.OffsetCommit
	var refuse error
	in := start(t, func(o *Options) {
		o.CommitOffsets = func(_ context.Context, group string, offsets []state.OffsetCommit) error {
			if group != "g" {
				t.Error(group)
			}
			got = offsets
			return refuse
		}
	})
	run(t, in, "CREATE TABLE t (a INT) PARTITION BY KEY(_key) PARTITIONS 2")
	base := time.Date(2024, 1, 2, 3, 0, 0, 0, time.UTC)
	for i := range 5 {
		run(t, in, fmt.Sprintf("INSERT INTO t (_partition, _timestamp, a) VALUES (0, '%s', 1)", base.Add(time.Duration(i)*time.Minute).Format(time.DateTime)))
	}
	db := in.open("app", "", "")
	for _, c := range []struct{ call, want string }{
		{"CALL millrace.reset_offsets('g', 't', 'earliest')", "g,t,0,0,NULL / g,t,1,0,NULL"},
		{"CALL millrace.reset_offsets('g', 't', 'latest')", "g,t,0,5,NULL / g,t,1,0,NULL"},
		{"CALL millrace.reset_offsets('g', 't', 3)", "g,t,0,3,NULL / g,t,1,0,offset 3 is beyond the end"},
		{"CALL millrace.reset_offsets('g', 't', 5, 0)", "g,t,0,5,NULL"},
		{"CALL millrace.reset_offsets('g', 't', '1000', 0)", "g,t,0,5,offset 1000 is beyond the end"},
		{"CALL millrace.reset_offsets('g', 't', -1, 0)", "g,t,0,0,offset -1 is before the first one"},
		{"CALL millrace.reset_offsets('g', 't', '2024-01-02 03:05:00')", "g,t,0,5,no record of that time or a later one: the end / g,t,1,0,no record of that time or a later one: the end"},
		{"CALL millrace.reset_offsets('g', 't', '2024-01-02 03:02:00', 0)", "g,t,0,2,NULL"},
	} {
		if rows := ask(t, db, c.call); rows != c.want {
			t.Errorf("%s: %s, want %s", c.call, rows, c.want)
		}
	}
	if len(got) != 1 || got[0].Offset != 2 || got[0].Topic != in.id("t") {
		t.Error(got)
	}
	refuse = errors.New("the group has members")
	for q, number := range map[string]int{
		"CALL millrace.reset_offsets('g', 't', 'earliest')":      1210,
		"CALL millrace.reset_offsets('g', 't', 'whenever')":      1292,
		"CALL millrace.reset_offsets('g', 't', 'earliest', 2)":   1210,
		"CALL millrace.reset_offsets('g', 'nosuch', 'earliest')": 1146,
		"CALL millrace.reset_offsets('g', 't')":                  1318,
	} {
		if _, err := table(t, db, q); errNumber(err) != number {
			t.Errorf("%s: %v, want %d", q, err, number)
		}
	}
}
