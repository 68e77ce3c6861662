package client

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestRecordsAsJSONReadBack(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_123).UTC()
	for want, r := range map[string]*kgo.Record{
		`{"topic":"t","partition":1,"offset":7,"timestamp":"2023-11-14T22:13:20.123Z","key":"k","value":{"a":1.50},"headers":[{"key":"h","value":"w"},{"key":"h","value":null}]}`: {
			Topic: "t", Partition: 1, Offset: 7, Timestamp: at, Key: []byte("k"), Value: []byte(`{"a":1.50}`),
			Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("w")}, {Key: "h"}},
		},
		`{"topic":"t","partition":0,"offset":0,"timestamp":"2023-11-14T22:13:20.123Z","key":null,"value":null}`:            {Topic: "t", Timestamp: at},
		`{"topic":"t","partition":0,"offset":0,"timestamp":"2023-11-14T22:13:20.123Z","key":"","value":"<12> {\"no json"}`: {Topic: "t", Timestamp: at, Key: []byte{}, Value: []byte(`<12> {"no json`)},
		`{"topic":"t","partition":0,"offset":0,"timestamp":"2023-11-14T22:13:20.123Z","key_base64":"/wA=","value":"{1}"}`:  {Topic: "t", Timestamp: at, Key: []byte{0xff, 0}, Value: []byte("{1}")},
		`{"topic":"t","partition":0,"offset":0,"timestamp":"2023-11-14T22:13:20.123Z","key":null,"value":"12"}`:            {Topic: "t", Timestamp: at, Value: []byte("12")},
	} {
		got := appendRecordJSON(nil, r)
		if string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		back, err := parseRecordJSON(got)
		if err != nil {
			t.Error(err)
			continue
		}
		if d := cmp.Diff(r, back, cmpopts.IgnoreFields(kgo.Record{}, "Topic", "Offset"), cmpopts.IgnoreUnexported(kgo.Record{}), cmpopts.EquateComparable(kgo.RecordAttrs{})); d != "" {
			t.Error(d)
		}
	}
	for _, bad := range []string{``, `{`, `{"valeu":1}`, `{} {}`, `{"timestamp":"yesterday"}`} {
		if _, err := parseRecordJSON([]byte(bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestProduceLines(t *testing.T) {
	key := "fixed"
	for _, c := range []struct {
		p    Produce
		line string
		want *kgo.Record
	}{
		{Produce{Format: "value", Partition: -1}, "v", &kgo.Record{Partition: -1, Value: []byte("v")}},
		{Produce{Format: "value", Partition: 2, Key: &key}, "", &kgo.Record{Partition: 2, Key: []byte("fixed"), Value: []byte{}}},
		{Produce{Format: "value", Partition: -1, EmptyNull: true}, "", &kgo.Record{Partition: -1}},
		{Produce{Format: "key-value", Separator: "::", Partition: -1}, "a::b::c", &kgo.Record{Partition: -1, Key: []byte("a"), Value: []byte("b::c")}},
		{Produce{Format: "value", Partition: -1, Headers: []string{"a=b=c"}}, "v", &kgo.Record{Partition: -1, Value: []byte("v"), Headers: []kgo.RecordHeader{{Key: "a", Value: []byte("b=c")}}}},
		{Produce{Format: "json", Partition: -1}, `{"value":[1, 2],"partition":3}`, &kgo.Record{Partition: 3, Value: []byte("[1, 2]")}},
	} {
		parse, err := c.p.parser()
		if err != nil {
			t.Fatal(err)
		}
		got, err := parse([]byte(c.line))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, got, cmpopts.IgnoreUnexported(kgo.Record{}), cmpopts.EquateComparable(kgo.RecordAttrs{})); d != "" {
			t.Errorf("%q: %s", c.line, d)
		}
	}
	if _, err := (&Produce{Headers: []string{"nothing"}}).parser(); err == nil {
		t.Error("a header without = is accepted")
	}
}

func TestPositions(t *testing.T) {
	for text, want := range map[string]Position{
		"earliest": {kind: atEarliest}, "latest": {kind: atLatest}, "17": {kind: atOffset, value: 17}, "-5": {kind: beforeEnd, value: 5},
		"2h": {kind: atAge, age: 2 * time.Hour}, "2026-01-31T12:00:00Z": {kind: atTime, value: 1769860800000}, "2026-01-31T13:00:00.5+01:00": {kind: atTime, value: 1769860800500},
	} {
		var p Position
		if err := p.UnmarshalText([]byte(text)); err != nil || p != want {
			t.Errorf("%s: %+v %v", text, p, err)
		}
	}
	for _, bad := range []string{"", "soon", "-2h", "2026-13-01", "1.5"} {
		var p Position
		if err := p.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
