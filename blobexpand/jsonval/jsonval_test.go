package jsonval

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func find(t *testing.T, doc, path string) string {
	t.Helper()
	v, err := Parse([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	p, err := ParsePath(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := v.Extract(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if got == nil {
		return "-"
	}
	return string(got)
}

func TestPathsLeadWhereMySQLSaysTheyDo(t *testing.T) {
	for _, c := range [][3]string{
		{`{"a.b":1,"a":{"b":2}}`, `$."a.b"`, `1`},
		{`{"a.b":1,"a":{"b":2}}`, `$.a.b`, `2`},
		{` { "p" : 1.10 } `, `$.p`, `1.10`},
		{`{"id":9007199254740993}`, `$.id`, `9007199254740993`},
		{`{"a":1,"a":2}`, `$.a`, `2`},
		{`{"\u0061":1}`, `$.a`, `1`},
		{`{"a\\b":1}`, `$."a\\b"`, `1`},
		{`[1,2,3]`, `$[0]`, `1`},
		{`[1,2,3]`, `$[last]`, `3`},
		{`[1,2,3]`, `$[last-1]`, `2`},
		{`[1,2,3]`, `$[3]`, `-`},
		{`[1,2,3]`, `$[last-3]`, `-`},
		{`[1,2,3,4]`, `$[1 to 2]`, `[2, 3]`},
		{`[1,2,3,4]`, `$[last-1 to last]`, `[3, 4]`},
		{`5`, `$[0]`, `5`},
		{`5`, `$[1]`, `-`},
		{`5`, `$[last]`, `5`},
		{`5`, `$[0 to 3]`, `[5]`},
		{`{"a":[1,{"b":2}]}`, `$.a[1].b`, `2`},
		{`{"a":[1,{"b":2}]}`, `$.a[*]`, `[1, {"b":2}]`},
		{`{"a":1,"b":[2]}`, `$.*`, `[1, [2]]`},
		{`{"a":1,"a":3,"b":2}`, `$.*`, `[3, 2]`},
		{`{"a":{"b":1},"c":{"b":2},"b":3}`, `$**.b`, `[3, 1, 2]`},
		{`[[1]]`, `$**[0]`, `[[1], 1]`},
		{`{}`, `$.a`, `-`},
		{`null`, `$`, `null`},
	} {
		if got := find(t, c[0], c[1]); got != c[2] {
			t.Errorf("%s of %s is %s, want %s", c[1], c[0], got, c[2])
		}
	}
}

func TestWrongPathsAreRefused(t *testing.T) {
	for _, s := range []string{``, `a`, `$.`, `$a`, `$[`, `$[a]`, `$[1`, `$**`, `$.a**`, `$[2 to 1]`, `$."a`, `$.1a`, `$[-1]`, `$ . `} {
		if p, err := ParsePath(s); err == nil {
			t.Errorf("%q is taken as %v", s, p.legs)
		}
	}
	if _, err := ParsePath(` $ . a [ 0 ] `); err != nil {
		t.Error(err)
	}
}

func TestMemberPathsAreReadBack(t *testing.T) {
	for _, names := range [][]string{{"a"}, {"a.b", "c"}, {"", `q"`}, {"日本", "1x"}, {"x\n"}} {
		p, err := ParsePath(MemberPath(names).String())
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := p.Members(); !ok || strings.Join(got, "\x00") != strings.Join(names, "\x00") {
			t.Errorf("%q came back as %q", names, got)
		}
	}
}

func TestNumbersCompareByValueWithoutRounding(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"1", "1.0", 0},
		{"-0", "0", 0},
		{"1e2", "100", 0},
		{"0.1", "1e-1", 0},
		{"9007199254740993", "9007199254740992", 1},
		{"-2", "-1", -1},
		{"-1", "1", -1},
		{"0.30", "0.3", 0},
		{"0.30000000000000004", "0.3", 1},
		{"1e400", "1e399", 1},
		{"10", "9", 1},
		{"0.001", "0.01", -1},
		{"123.456", "123.4561", -1},
		{"0e5", "-0.00", 0},
		{"1.5", "1", 1},
	} {
		if got := CompareNumbers([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("%s against %s: %d, want %d", c.a, c.b, got, c.want)
		}
		if got := CompareNumbers([]byte(c.b), []byte(c.a)); got != -c.want {
			t.Errorf("%s against %s: %d, want %d", c.b, c.a, got, -c.want)
		}
	}
}

func TestContainsFollowsMySQL(t *testing.T) {
	for _, c := range []struct {
		doc, candidate string
		want           bool
	}{
		{`[1,2,3]`, `2`, true},
		{`[1,2,3]`, `[1,3]`, true},
		{`[1,2]`, `[1,4]`, false},
		{`{"a":1,"b":2}`, `{"a":1.0}`, true},
		{`{"a":[1,2]}`, `{"a":[2]}`, true},
		{`{"a":[1,2]}`, `{"a":2}`, true},
		{`1`, `1`, true},
		{`1`, `[1]`, false},
		{`[[1]]`, `1`, false},
		{`[[1,2]]`, `[[1]]`, true},
		{`9007199254740993`, `9007199254740992`, false},
		{`"a"`, `"\u0061"`, true},
	} {
		if got, err := Value(c.doc).Contains(context.Background(), Value(c.candidate)); err != nil || got != c.want {
			t.Errorf("%s contains %s: %t, %v", c.doc, c.candidate, got, err)
		}
	}
}

func TestSeveralDescentsIntoADeepTextEnd(t *testing.T) {
	doc := strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 500)
	p, err := ParsePath(`$**.a**.a**.a**.a**.a**.a`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Value(doc).Find(context.Background(), p, nil)
	if err != nil || len(got) != 495 {
		t.Errorf("%d values, %v", len(got), err)
	}
}

func TestLongSearchesGiveUpWithTheirContext(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		b.WriteString(`,{"a":` + strconv.Itoa(i) + `}`)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	doc, candidate := Value("["+b.String()[1:]+"]"), Value("["+strings.ReplaceAll(b.String()[1:], "a", "b")+"]")
	if has, err := doc.Contains(ctx, candidate); has || !errors.Is(err, context.Canceled) {
		t.Errorf("contains: %t, %v", has, err)
	}
	if has, err := doc.Overlaps(ctx, candidate); has || !errors.Is(err, context.Canceled) {
		t.Errorf("overlaps: %t, %v", has, err)
	}
	p, err := ParsePath("$[*]")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := doc.Extract(ctx, p); !errors.Is(err, context.Canceled) {
		t.Error("extract:", err)
	}
}

func TestOverlapsFollowsMySQL(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`[1,3,5,7]`, `[2,5,7]`, true},
		{`[1,3]`, `[2,4]`, false},
		{`[[1,2],[3,4],5]`, `[1,[2,3],[4,5]]`, false},
		{`{"a":1,"b":10}`, `{"c":1,"b":10.0}`, true},
		{`{"a":1,"b":10}`, `{"a":5}`, false},
		{`5`, `5`, true},
		{`[4,5,6]`, `5`, true},
		{`"5"`, `[4,5,6]`, false},
		{`{"a":1}`, `[{"a":1}]`, true},
	} {
		for _, ab := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			if got, err := Value(ab[0]).Overlaps(context.Background(), Value(ab[1])); err != nil || got != c.want {
				t.Errorf("%s overlaps %s: %t, %v", ab[0], ab[1], got, err)
			}
		}
	}
}

func TestUnquoteReportsHalfASurrogatePair(t *testing.T) {
	b, err := Value(`"a\ud83db"`).Unquote()
	if !errors.Is(err, ErrLoneSurrogate) || string(b) != "a\uFFFDb" {
		t.Errorf("%q, %v", b, err)
	}
	if b, err = Value(`"\ud83d\ude00\n"`).Unquote(); err != nil || string(b) != "😀\n" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestTypesLengthsDepthsAndKeys(t *testing.T) {
	for _, c := range []struct {
		doc, typ      string
		length, depth int
	}{
		{`1`, "INTEGER", 1, 1},
		{`18446744073709551615`, "UNSIGNED INTEGER", 1, 1},
		{`18446744073709551616`, "DECIMAL", 1, 1},
		{`1.0`, "DOUBLE", 1, 1},
		{`"[{"`, "STRING", 1, 1},
		{`[]`, "ARRAY", 0, 1},
		{`[1,[2]]`, "ARRAY", 2, 3},
		{`{"a":1,"a":2}`, "OBJECT", 1, 2},
		{`true`, "BOOLEAN", 1, 1},
		{`null`, "NULL", 1, 1},
	} {
		v := Value(c.doc)
		if v.Type() != c.typ || v.Length() != c.length || v.Depth() != c.depth {
			t.Errorf("%s: %s %d %d", c.doc, v.Type(), v.Length(), v.Depth())
		}
	}
	if got := string(Value(`{"bb":0,"b":1,"a":2}`).Keys()); got != `["a", "b", "bb"]` {
		t.Error(got)
	}
}

func TestDepthIsBounded(t *testing.T) {
	deep := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if err := Check(deep(MaxDepth)); err != nil {
		t.Error(err)
	}
	if err := Check(deep(MaxDepth + 1)); err == nil || !strings.Contains(err.Error(), "levels") {
		t.Error(err)
	}
}

// strictly says what encoding/json takes, less what we refuse on purpose: bytes
// that are not UTF-8 (it replaces them) and depth.
func strictly(b []byte) bool {
	return json.Valid(b) && utf8.Valid(b)
}

func FuzzValidAgreesWithEncodingJSON(f *testing.F) {
	for _, s := range []string{`{}`, `[1,2 , 3]`, `{"a":{"b":[true,false,null]},"c":"\u00e9\n"}`, `-0.1e+5`, `01`, `1.`, `"\x"`, "\"\xff\"", `"\ud800"`, `{"a":1,}`, `[1 2]`, ` 1 `, ``, `nul`, "\"a\tb\"", "\"\xed\xa0\x80\"", `{"a" : "0123456789abcdef\\", "b":[[],{}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		err := Check(b)
		if want := strictly(b); (err == nil) != want {
			depth := 0
			for _, c := range b {
				if c == '[' || c == '{' {
					depth++
				}
			}
			if depth > MaxDepth {
				return
			}
			t.Fatalf("%q: %v, encoding/json says %t", b, err, want)
		}
		if err != nil {
			return
		}
		v, _ := Parse(b)
		var want any
		if json.Unmarshal(b, &want) == nil {
			if s, ok := want.(string); ok {
				got, _ := v.Unquote()
				if string(got) != s {
					t.Fatalf("%q unquoted is %q, want %q", b, got, s)
				}
			}
		}
		v.Depth()
		v.Length()
		if !Equal(v, v) {
			t.Fatalf("%q is not equal to itself", b)
		}
	})
}
