package blobexpand

import (
	"strings"
	"testing"
)

func TestDeclaredTypesTakeWhatFitsExactlyAndNothingElse(t *testing.T) {
	type v struct{ in, want string } // want "!" for NULL and an error
	for _, c := range []struct {
		typ    Type
		values []v
	}{
		{Type{Kind: Bool}, []v{{`true`, "true"}, {`false`, "false"}, {`1`, "true"}, {`0`, "false"}, {`"0"`, "false"}, {`"true"`, "true"}, {`1.0`, "true"}, {`2`, "!"}, {`"yes"`, "!"}, {`null`, null}, {`[]`, "!"}, {`{}`, "!"}}},
		{Type{Kind: Int64, Bits: 8}, []v{{`127`, "127"}, {`-128`, "-128"}, {`128`, "!"}, {`"12"`, "12"}, {`"007"`, "7"}, {`"+5"`, "5"}, {`12.0`, "12"}, {`1.2e1`, "12"}, {`12.5`, "!"}, {`" 12"`, "!"}, {`""`, "!"}, {`true`, "!"}, {`-0`, "0"}, {`{"x":1}`, "!"}}},
		{Type{Kind: Int64, Bits: 24}, []v{{`8388607`, "8388607"}, {`8388608`, "!"}}},
		{Type{Kind: Int64, Bits: 64}, []v{{`9223372036854775807`, "9223372036854775807"}, {`9223372036854775808`, "!"}, {`-9223372036854775808`, "-9223372036854775808"}, {`-9223372036854775809`, "!"}, {`9.223372036854775807e18`, "9223372036854775807"}, {`1e400`, "!"}, {`1e-400`, "!"}, {`0e999999999999`, "0"}}},
		{Type{Kind: Uint64, Bits: 64}, []v{{`18446744073709551615`, "18446744073709551615"}, {`18446744073709551616`, "!"}, {`-1`, "!"}, {`-0`, "0"}, {`"5"`, "5"}}},
		{Type{Kind: Uint64, Bits: 8}, []v{{`255`, "255"}, {`256`, "!"}}},
		{Type{Kind: Uint64, Bits: 5}, []v{{`31`, "31"}, {`32`, "!"}}},
		{Type{Kind: Float64, Bits: 64}, []v{{`3.0`, "3"}, {`"0.1"`, "0.1"}, {`1e400`, "!"}, {`5e-324`, "5e-324"}, {`1e-400`, "!"}, {`-0.0`, "-0"}, {`9007199254740993`, "!"}, {`9007199254740992`, "9.007199254740992e+15"}, {`true`, "!"}, {`"x"`, "!"}}},
		{Type{Kind: Float64, Bits: 32}, []v{{`0.1`, "0.10000000149011612"}, {`0.123456789`, "!"}, {`1e39`, "!"}, {`16777216`, "1.6777216e+07"}}},
		{Type{Kind: Decimal, Precision: 10, Scale: 2}, []v{{`12`, "12.00"}, {`12.1`, "12.10"}, {`12.100`, "12.10"}, {`12.345`, "!"}, {`99999999.99`, "99999999.99"}, {`100000000`, "!"}, {`-0.01`, "-0.01"}, {`1e2`, "100.00"}, {`1e-2`, "0.01"}, {`1e-3`, "!"}, {`"12.5"`, "12.50"}, {`"1,5"`, "!"}, {`-0`, "0.00"}, {`0.00000`, "0.00"}}},
		{Type{Kind: Decimal, Precision: 1, Scale: 1}, []v{{`0.5`, "0.5"}, {`1.0`, "!"}}},
		{Type{Kind: Decimal, Precision: 38, Scale: 10}, []v{{`9999999999999999999999999999.9999999999`, "9999999999999999999999999999.9999999999"}, {`10000000000000000000000000000`, "!"}, {`-1`, "-1.0000000000"}}},
		{Type{Kind: Decimal, Precision: 65, Scale: 30}, []v{{strings.Repeat("9", 35) + "." + strings.Repeat("9", 30), strings.Repeat("9", 35) + "." + strings.Repeat("9", 30)}, {"-" + strings.Repeat("9", 35), "-" + strings.Repeat("9", 35) + "." + strings.Repeat("0", 30)}, {strings.Repeat("9", 36), "!"}}},
		{Type{Kind: Text, Length: 3}, []v{{`"abc"`, "abc"}, {`"äöü"`, "äöü"}, {`"abcd"`, "!"}, {`"\u00e4\u00f6\u00fc"`, "äöü"}, {`007`[:1], "0"}, {`1.0`, "1.0"}, {`true`, "!"}, {`[1]`, "[1]"}, {`{}`, "{}"}, {`"\ud800"`, "!"}, {`null`, null}}},
		{Type{Kind: Text}, []v{{`1.10`, "1.10"}, {`true`, "true"}, {`{"a" : [1, 2]}`, `{"a" : [1, 2]}`}, {`"\n"`, "\n"}}},
		{Type{Kind: Text, Enum: []string{"a", "B"}}, []v{{`"a"`, "a"}, {`"b"`, "!"}, {`"B"`, "B"}, {`1`, "!"}}},
		{Type{Kind: Binary, Length: 4}, []v{{`"AQID"`, "\x01\x02\x03"}, {`""`, ""}, {`"AQIDBAU="`, "!"}, {`"%%"`, "!"}, {`1`, "!"}}},
		{Type{Kind: JSON}, []v{{`{"a": 1}`, `{"a": 1}`}, {`"x"`, `"x"`}, {`1.10`, `1.10`}, {`null`, null}, {`[]`, `[]`}}},
		{Type{Kind: Date}, []v{{`"2026-08-12"`, "2026-08-12"}, {`"20260812"`, "2026-08-12"}, {`"2026-224"`, "2026-08-12"}, {`"2026-W33-3"`, "2026-08-12"}, {`"2026-08-12T00:00:00Z"`, "2026-08-12"}, {`"2026-08-12T01:00:00Z"`, "!"}, {`"2026-02-29"`, "!"}, {`"2024-02-29"`, "2024-02-29"}, {`"1969-12-31"`, "1969-12-31"}, {`20260812`, "!"}, {`"2026-8-12"`, "!"}, {`"2026-13-01"`, "!"}, {`"0000-00-00"`, "!"}}},
		{Type{Kind: Time, FSP: 3}, []v{{`"12:34:56.789"`, "45296789000us"}, {`"-838:59:59"`, "-3020399000000us"}, {`"839:00:00"`, "!"}, {`"12:34"`, "45240000000us"}, {`"12:34:56.7891"`, "!"}, {`"x"`, "!"}}},
		{Type{Kind: DateTime}, []v{{`"2026-08-12T10:11:12+02:00"`, "2026-08-12 08:11:12"}, {`"2026-08-12 10:11:12"`, "2026-08-12 10:11:12"}, {`"2026-08-12T10:11:12.000Z"`, "2026-08-12 10:11:12"}, {`"2026-08-12T10:11:12.5Z"`, "!"}, {`"20260812T101112Z"`, "2026-08-12 10:11:12"}, {`"2026-08-12T10:11"`, "2026-08-12 10:11:00"}, {`"2026-08-12t10z"`, "2026-08-12 10:00:00"}, {`"2026-08-12T24:00:00"`, "2026-08-13 00:00:00"}, {`"2026-08-12T24:00:01"`, "!"}, {`"2026-08-12T10:11:60Z"`, "!"}, {`"2026-08-12T10:11:12-0330"`, "2026-08-12 13:41:12"}, {`"2026-08-12T10:11:12+02"`, "2026-08-12 08:11:12"}, {`"2026-08-12"`, "2026-08-12 00:00:00"}, {`1754956800`, "!"}, {`"1900-01-01 00:00:00"`, "1900-01-01 00:00:00"}, {`"2026-08-12T10:11:12 UTC"`, "!"}, {`"0001-01-01T00:00:00+01:00"`, "!"}}},
		{Type{Kind: DateTime, FSP: 6}, []v{{`"2026-08-12T10:11:12,123456"`, "2026-08-12 10:11:12.123456"}, {`"2026-08-12T10:11:12.123456000Z"`, "2026-08-12 10:11:12.123456"}, {`"2026-08-12T10:11:12.1234567Z"`, "!"}, {`"1960-01-01T00:00:00.000001Z"`, "1960-01-01 00:00:00.000001"}}},
		{Type{Kind: Timestamp, FSP: 3, Epoch: EpochMillis}, []v{{`1754956800123`, "2025-08-12 00:00:00.123"}, {`"1754956800123"`, "2025-08-12 00:00:00.123"}, {`"2025-08-12T00:00:00.123Z"`, "2025-08-12 00:00:00.123"}, {`0`, "!"}, {`2147483648000`, "!"}, {`1754956800123.5`, "!"}, {`1.754956800123e12`, "2025-08-12 00:00:00.123"}}},
		{Type{Kind: DateTime, FSP: 6, Epoch: EpochSeconds}, []v{{`1754956800.5`, "2025-08-12 00:00:00.5"}, {`-1`, "1969-12-31 23:59:59"}, {`1e300`, "!"}}},
		{Type{Kind: DateTime, FSP: 6, Epoch: EpochNanos}, []v{{`1754956800123456000`, "2025-08-12 00:00:00.123456"}, {`1754956800123456789`, "!"}}},
		{Type{Kind: Year}, []v{{`2026`, "2026"}, {`"2026"`, "2026"}, {`1900`, "!"}, {`2156`, "!"}}},
	} {
		cols := []Column{{Name: "a", Path: []string{"a"}, Type: c.typ, Declared: true}}
		for _, x := range c.values {
			rows, errs, _ := expand(cols, `{"a":`+x.in+`}`)
			got := rows[0][0]
			if errs[0] != null {
				if got != null {
					t.Errorf("%s of %s: %s together with error %s", c.typ, x.in, got, errs[0])
				}
				if want := "expected " + c.typ.String(); !strings.Contains(errs[0], want) && !strings.Contains(errs[0], "surrogate") {
					t.Errorf("error %q lacks %q", errs[0], want)
				}
				got = "!"
			}
			if got != x.want {
				t.Errorf("%s of %s: %s, want %s", c.typ, x.in, got, x.want)
			}
		}
	}
}

func TestErrorsSayPathFoundAndExpected(t *testing.T) {
	cols := []Column{
		{Name: "n", Path: []string{"n"}, Type: Type{Kind: Int64, Bits: 64}, Declared: true},
		{Name: "o.d", Path: []string{"o", "d"}, Type: Type{Kind: Decimal, Precision: 4, Scale: 1}, Declared: true},
	}
	_, errs, _ := expand(cols, `{"n":"abc","o":{"d":1.25}}`, `{"n":1`, `{"n":"`+strings.Repeat("ä", 200)+`"}`)
	for i, want := range []string{
		`n: found "abc", expected BIGINT; o.d: found 1.25, expected DECIMAL(4,1)`,
		`not JSON at byte 6: found its end`,
		`n: found "` + strings.Repeat("ä", 39) + `…, expected BIGINT`,
	} {
		if errs[i] != want {
			t.Errorf("%q, want %q", errs[i], want)
		}
	}
}

func TestColumnsNobodyAskedForAreStillCheckedForErrors(t *testing.T) {
	all := []Column{
		{Name: "a", Path: []string{"a"}, Type: Type{Kind: Int64, Bits: 64}},
		{Name: "s", Path: []string{"s"}, Type: Type{Kind: Text, Length: InferredTextLength}},
		{Name: "d", Path: []string{"d"}, Type: Type{Kind: Int64, Bits: 8}, Declared: true},
		{Name: "v", Path: []string{"v"}, Type: Type{Kind: Text, Length: 2}, Declared: true},
	}
	e := NewExpander(all[:1], ExpanderOptions{Errors: true, All: all})
	for _, v := range []string{`{"a":1,"s":"x","d":1,"v":"xy"}`, `{"a":2,"s":"\ud800"}`, `{"a":3,"d":1000}`, `{"a":4,"v":"xyz"}`, `{"a":5,"s":"ok"}`} {
		e.Append([]byte(v))
	}
	arrs := e.Take()
	if len(arrs) != 2 {
		t.Fatalf("%d arrays", len(arrs))
	}
	var with []string
	for r := range 5 {
		if arrs[0].IsNull(r) {
			t.Errorf("row %d has no a", r)
		}
		if arrs[1].IsNull(r) {
			with = append(with, "-")
		} else {
			with = append(with, strings.SplitN(cell(arrs[1], r), ":", 2)[0])
		}
	}
	if got := strings.Join(with, " "); got != "- s d v -" {
		t.Errorf("errors %s", got)
	}
}

func TestAnExpanderIsUsedOverManyBatches(t *testing.T) {
	cols := []Column{{Name: "a", Path: []string{"a"}, Type: Type{Kind: Int64, Bits: 64}}, {Name: "s", Path: []string{"s"}, Type: Type{Kind: Text}}, {Name: "b", Path: []string{"b"}, Type: Type{Kind: Bool}}}
	e := NewExpander(cols, ExpanderOptions{})
	for _, n := range []int{0, 1, 63, 64, 65, 1000, 3, 0} {
		for i := range n {
			if i%3 == 0 {
				e.Append(nil)
			} else {
				e.Append([]byte(`{"b":true,"s":"text","a":12}`))
			}
		}
		if e.Rows() != n {
			t.Fatalf("%d rows, want %d", e.Rows(), n)
		}
		arrs := e.Take()
		for _, a := range arrs {
			if a.Len() != n || a.NullN() != (n+2)/3 {
				t.Fatalf("%d rows with %d NULLs of %d", a.Len(), a.NullN(), n)
			}
		}
		for i := range n {
			want := []string{"12", "text", "true"}
			if i%3 == 0 {
				want = []string{null, null, null}
			}
			for c := range cols {
				if got := cell(arrs[c], i); got != want[c] {
					t.Fatalf("row %d column %d: %s", i, c, got)
				}
			}
		}
	}
}

func TestShreddingAllocatesNothingPerRecord(t *testing.T) {
	values, _ := clickEvents(512)
	in := NewInference(nil, nil)
	for _, v := range values {
		in.Observe(v)
	}
	e := NewExpander(in.Columns(), ExpanderOptions{Errors: true, All: in.Columns(), Rest: true})
	run := func() {
		for _, v := range values {
			e.Append(v)
		}
		for _, a := range e.Take() {
			a.Release()
		}
	}
	run()
	if n := testing.AllocsPerRun(10, run); n > 40*20 {
		t.Errorf("%v allocations for 512 records", n)
	}
}
