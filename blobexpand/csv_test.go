package blobexpand

import "testing"

func TestCSVFieldsBecomeTheDeclaredColumns(t *testing.T) {
	cols := []Column{
		{Name: "id", Type: Type{Kind: Int64, Bits: 64}, Declared: true, Field: 1},
		{Name: "name", Type: Type{Kind: Text, Length: 5}, Declared: true, Field: 2},
		{Name: "doc", Type: Type{Kind: JSON}, Declared: true, Field: 3},
	}
	values := []string{
		"1,abc,[1]", "\"2\",\"a\"\"b\",\"{\"\"x\"\":1}\"\r\n", `3,,`, `4,"",`, `5,abcdef,`, `x,a,1`, `6,a`, `7,a,1,2`, `8,a"b,1`, `9,"a,1`, "10,a,1\n11,b,2", "\x00nil", "\xff,a,1", "12,\\n,nope", ``,
	}
	e := NewExpander(cols[:2], ExpanderOptions{Errors: true, All: cols})
	for _, v := range values {
		if v == "\x00nil" {
			e.Append(nil)
		} else {
			e.Append([]byte(v))
		}
	}
	arrs := e.Take()
	want := [][3]string{
		{"1", "abc", null},
		{"2", `a"b`, null},
		{"3", null, null},
		{"4", "", null},
		{"5", null, `name: found "abcdef", expected VARCHAR(5)`},
		{null, "a", `id: found "x", expected BIGINT`},
		{"6", "a", "found 2 fields, expected 3"},
		{"7", "a", "found 4 fields, expected 3"},
		{null, null, "not CSV: a quote inside a field that does not begin with one, at byte 3"},
		{null, null, "not CSV: a quoted field without its end"},
		{null, null, "not CSV: something after the end of the record, at byte 7"},
		{null, null, null},
		{null, null, "not CSV: not UTF-8"},
		{"12", `\n`, `doc: found "nope", expected JSON`},
		{null, null, "found 1 fields, expected 3"},
	}
	for r := range values {
		for c := range 3 {
			if got := cell(arrs[c], r); got != want[r][c] {
				t.Errorf("%q: %q, want %q", values[r], got, want[r][c])
			}
		}
	}
}

func TestACheckerSaysWhatErrorWould(t *testing.T) {
	c := NewChecker([]Column{{Name: "a", Path: []string{"a"}, Type: Type{Kind: Int64, Bits: 8}, Declared: true}})
	for _, x := range [][2]string{{`{"a":1}`, ""}, {`{"a":500}`, "a: found 500, expected TINYINT"}, {`{"a":2,"b":"\ud800"}`, ""}, {`{`, "not JSON at byte 1: found its end"}, {`[]`, ""}, {`{"a":3}`, ""}} {
		got := ""
		if err := c.Check([]byte(x[0])); err != nil {
			got = err.Error()
		}
		if got != x[1] {
			t.Errorf("%s: %q, want %q", x[0], got, x[1])
		}
	}
	if err := c.Check(nil); err != nil {
		t.Error(err)
	}
}
