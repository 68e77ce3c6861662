package blobexpand

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// table infers over values, then expands them with what came out.
func table(t *testing.T, declared []Column, values ...string) (cols []Column, rows [][]string, errs []string, rest []string) {
	t.Helper()
	in := NewInference(declared, systemNames)
	for _, v := range values {
		in.Observe([]byte(v))
	}
	cols = in.Columns()
	rows, errs, rest = expand(cols, values...)
	return cols, rows, errs, rest
}

var systemNames = []string{"_partition", "_offset", "_timestamp", "_key", "_headers", "_value", "_error", "_rest"}

func expand(cols []Column, values ...string) (rows [][]string, errs, rest []string) {
	e := NewExpander(cols, ExpanderOptions{Errors: true, All: cols, Rest: true})
	for _, v := range values {
		if v == "\x00nil" {
			e.Append(nil)
		} else {
			e.Append([]byte(v))
		}
	}
	arrs := e.Take()
	for r := range values {
		row := make([]string, len(cols))
		for c := range cols {
			row[c] = cell(arrs[c], r)
		}
		rows = append(rows, row)
		errs = append(errs, cell(arrs[len(cols)], r))
		rest = append(rest, cell(arrs[len(cols)+1], r))
	}
	for _, a := range arrs {
		a.Release()
	}
	return rows, errs, rest
}

const null = "NULL"

func cell(a arrow.Array, r int) string {
	if a.IsNull(r) {
		return null
	}
	switch a := a.(type) {
	case *array.String:
		return a.Value(r)
	case *array.Binary:
		return string(a.Value(r))
	case *array.Timestamp:
		return a.Value(r).ToTime(arrow.Microsecond).Format("2006-01-02 15:04:05.999999")
	case *array.Decimal128:
		return a.Value(r).ToString(a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Decimal256:
		return a.Value(r).ToString(a.DataType().(*arrow.Decimal256Type).Scale)
	}
	return a.ValueStr(r)
}

func describe(cols []Column) string {
	var s []string
	for _, c := range cols {
		s = append(s, c.Name+" "+c.Type.String())
	}
	return strings.Join(s, ", ")
}

func joined(rows [][]string) string {
	var s []string
	for _, r := range rows {
		s = append(s, strings.Join(r, "|"))
	}
	return strings.Join(s, " / ")
}

// The expansion side of the cases people really hit.
func TestKnownFailuresOfOthersDoNotHappenHere(t *testing.T) {
	dec := func(p, s uint8) Type { return Type{Kind: Decimal, Precision: p, Scale: s} }
	dt6 := Type{Kind: DateTime, FSP: 6}
	for _, c := range []struct {
		name     string
		declared []Column
		in       []string
		cols     string
		rows     string
		errors   string // offsets with _error
	}{
		{
			"C01 a quoted number after integers stays text", nil,
			[]string{`{"a":1}`, `{"a":"007"}`, `{"a":""}`},
			"a VARCHAR(16383)", "1 / 007 / ", "",
		},
		{
			"C02 an integer past BIGINT is not wrapped", nil,
			[]string{`{"a":1}`, `{"a":9223372036854775808}`},
			"a DECIMAL(20,0)", "1 / 9223372036854775808", "",
		},
		{
			"C03 an integer above UInt64 keeps all digits", nil,
			[]string{`{"n":2942420318599003496251392,"name":"Ann"}`},
			"n DECIMAL(38,0), name VARCHAR(16383)",
			"2942420318599003496251392|Ann", "",
		},
		{
			"C05 decimals get their scale",
			[]Column{{Name: "price", Path: []string{"price"}, Type: dec(10, 2)}},
			[]string{`{"price":12}`, `{"price":12.1}`, `{"price":10.0}`},
			"price DECIMAL(10,2)", "12.00 / 12.10 / 10.00", "",
		},
		{
			"C06 integers above 2^53 are exact", nil,
			[]string{`{"id":9007199254740993,"p":1.10}`},
			"id BIGINT, p DOUBLE", "9007199254740993|1.1", "",
		},
		{
			"C07 keys that differ in case get two columns", nil,
			[]string{`{"id":1,"Id":2}`},
			"id BIGINT, Id~2 BIGINT", "1|2", "",
		},
		{
			"C09 mixed case and nested", nil,
			[]string{`{"userId":5,"myStruct":{"f1":123}}`},
			"userId BIGINT, myStruct.f1 BIGINT", "5|123", "",
		},
		{
			"C10 ISO spellings mix",
			[]Column{
				{Name: "z", Path: []string{"z"}, Type: dt6},
				{Name: "o", Path: []string{"o"}, Type: dt6},
				{Name: "s", Path: []string{"s"}, Type: dt6},
				{Name: "f", Path: []string{"f"}, Type: dt6},
			},
			[]string{`{"z":"2026-08-12T00:00:00Z","o":"2026-08-12T02:00:00.000+02:00","s":"2026-08-12 00:00:00","f":"2026-08-12 00:00:00.123456"}`},
			"z DATETIME(6), o DATETIME(6), s DATETIME(6), f DATETIME(6)",
			"2026-08-12 00:00:00|2026-08-12 00:00:00|2026-08-12 00:00:00|2026-08-12 00:00:00.123456", "",
		},
		{
			"C12 a lone surrogate is an error of its cell", nil,
			[]string{`{"s":"ok"}`, `{"s":"\ud83d"}`, `{"s":"\ud83d\ude00"}`},
			"s VARCHAR(16383)", "ok / NULL / 😀", "1",
		},
		{
			"C13 an escaped NUL ends nothing", nil,
			[]string{`{"a":"A\u0000B"}`, `{"a":"C"}`},
			"a VARCHAR(16383)", "A\x00B / C", "",
		},
		{
			"C14 bytes that are not UTF-8", nil,
			[]string{"{\"s\":\"\xff\"}", `{"s":"b"}`},
			"s VARCHAR(16383)", "NULL / b", "0",
		},
		{
			"C15 tombstones, nothing, null, empty", nil,
			[]string{"\x00nil", ``, `null`, `{}`, `{"a":1}`},
			"a BIGINT", "NULL / NULL / NULL / NULL / 1", "1",
		},
		{
			"C16 malformed messages spoil only themselves", nil,
			[]string{`{"id":1}`, `{"id":2`, `{"id":3}`, `{"id":4}x`, `{"id":5}{"id":6}`, `[1,2]`, `7`},
			"id BIGINT", "1 / NULL / 3 / NULL / NULL / NULL / NULL", "1 3 4",
		},
		{
			"C17 a key with a dot is not a path", nil,
			[]string{`{"a.b":1,"a":{"b":2}}`, `{"a.b":3}`, `{"a":{"b":4}}`},
			"a~1b BIGINT, a.b BIGINT", "1|2 / 3|NULL / NULL|4", "",
		},
		{
			"C18 absent, null, null parent", nil,
			[]string{`{"v":{"x":1}}`, `{"v":{"x":1,"y":null}}`, `{"v":null}`, `{}`, `{"v":[]}`},
			"v.x BIGINT, v JSON", "1|NULL / 1|NULL / NULL|NULL / NULL|NULL / NULL|[]", "",
		},
		{
			"C23 odd floats",
			[]Column{{Name: "x", Path: []string{"x"}, Type: Type{Kind: Float64, Bits: 64}}},
			[]string{`{"x":3.0}`, `{"x":1e400}`, `{"x":-0.0}`, `{"x":5e-324}`},
			"x DOUBLE", "3 / NULL / -0 / 5e-324", "1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			cols, rows, errs, rest := table(t, c.declared, c.in...)
			if got := describe(cols); got != c.cols {
				t.Errorf("columns %s, want %s", got, c.cols)
			}
			if got := joined(rows); got != c.rows {
				t.Errorf("rows %s, want %s", got, c.rows)
			}
			var with []string
			for i, e := range errs {
				if e != null {
					with = append(with, fmt.Sprint(i))
				}
			}
			if got := strings.Join(with, " "); got != c.errors {
				t.Errorf("errors at %q (%q), want %q", got, errs, c.errors)
			}
			for i, r := range rest {
				if r != null {
					t.Errorf("row %d has rest %s", i, r)
				}
			}
		})
	}
}
