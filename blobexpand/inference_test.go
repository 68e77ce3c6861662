package blobexpand

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

func inferred1(t *testing.T, values ...string) *Inference {
	t.Helper()
	in := NewInference(nil, systemNames)
	for _, v := range values {
		in.Observe([]byte(v))
	}
	return in
}

func TestTypesWidenAsTheTableSays(t *testing.T) {
	for _, c := range []struct{ values, want string }{
		{`true|false`, "TINYINT(1)"},
		{`1|-5|0`, "BIGINT"},
		{`9223372036854775807|-9223372036854775808`, "BIGINT"},
		{`1|9223372036854775808`, "DECIMAL(20,0)"},
		{`-9223372036854775809`, "DECIMAL(20,0)"},
		{`99999999999999999999`, "DECIMAL(20,0)"},
		{`100000000000000000000`, "DECIMAL(38,0)"},
		{strings.Repeat("9", 39), "DECIMAL(65,0)"},
		{strings.Repeat("9", 65), "DECIMAL(65,0)"},
		{strings.Repeat("9", 66), "VARCHAR(16383)"},
		{strings.Repeat("9", 200), "VARCHAR(16383)"},
		{`0.1`, "DOUBLE"},
		{`1.10|2`, "DOUBLE"},
		{`1e2`, "DOUBLE"},
		{`0.1|9007199254740992`, "DOUBLE"},
		{`0.5|9007199254740993`, "DECIMAL(38,1)"},
		{`9007199254740993|0.25`, "DECIMAL(38,2)"},
		{`0.30000000000000004`, "DOUBLE"},
		{`0.300000000000000041`, "DECIMAL(38,18)"},
		{`0.3000000000000000412345678901`, "DECIMAL(38,28)"},
		{`0.30000000000000004123456789012345`, "VARCHAR(16383)"}, // 32 digits after the point
		{`12345678901234567890123456789.1234567890`, "DECIMAL(65,10)"},
		{`1e400`, "VARCHAR(16383)"},
		{`1e-400`, "VARCHAR(16383)"},
		{`5e-324`, "DOUBLE"},
		{`1e30|1`, "DOUBLE"},
		{`true|1`, "VARCHAR(16383)"},
		{`1|"1"`, "VARCHAR(16383)"},
		{`"2026-08-12"`, "VARCHAR(16383)"},
		{`[1]`, "JSON"},
		{`[1]|1`, "VARCHAR(16383)"},
		{`[]|"x"`, "VARCHAR(16383)"},
		{`1|null`, "BIGINT"},
		{`"` + strings.Repeat("x", 16383) + `"`, "VARCHAR(16383)"},
		{`"` + strings.Repeat("x", 16384) + `"`, "LONGTEXT"},
		{`"` + strings.Repeat("ä", 16383) + `"`, "VARCHAR(16383)"},
		{`"` + strings.Repeat(`\u00e4`, 16383) + `"`, "VARCHAR(16383)"},
		{`"` + strings.Repeat(`\u00e4`, 16384) + `"`, "LONGTEXT"},
	} {
		values := strings.Split(c.values, "|")
		for range 2 {
			in := NewInference(nil, nil)
			for _, v := range values {
				in.Observe([]byte(`{"a":` + v + `}`))
			}
			if got := describe(in.Columns()); got != "a "+c.want {
				t.Errorf("%.60s: %s, want %s", values, got, c.want)
			}
			slices.Reverse(values)
		}
	}
}

// Whatever the order of the values, types are the same and every value reads back;
// and observing anything twice brings nothing.
func TestTypesDoNotDependOnTheOrderOfValues(t *testing.T) {
	pool := []string{
		`1`, `-0`, `123456789012345678`, `9223372036854775808`, `1.5`, `1.10`, `1e2`, `0.300000000000000041`, `true`, `"x"`, `"007"`,
		`[1,2]`, `{}`, `{"x":1}`, `{"x":"s","y":{"z":2.5}}`, `null`, `9007199254740993`, strings.Repeat("7", 40),
	}
	r := rand.New(rand.NewSource(7))
	for range 300 {
		var values []string
		for range 1 + r.Intn(5) {
			values = append(values, fmt.Sprintf(`{"a":%s,"b":%s}`, pool[r.Intn(len(pool))], pool[r.Intn(len(pool))]))
		}
		want := ""
		for range 4 {
			r.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
			in := inferred1(t, values...)
			for _, v := range values {
				if in.Observe([]byte(v)) {
					t.Fatalf("%s is news twice", v)
				}
			}
			cols := in.Columns()
			slices.SortFunc(cols, func(a, b Column) int { return strings.Compare(a.Name, b.Name) })
			got := describe(cols)
			if want == "" {
				want = got
			}
			if got != want {
				t.Fatalf("%v: %s, before %s", values, got, want)
			}
			_, errs, rest := expand(cols, values...)
			for i := range errs {
				if errs[i] != null || rest[i] != null {
					t.Fatalf("%s with %s: error %s, rest %s", values[i], got, errs[i], rest[i])
				}
			}
		}
	}
}

func TestNamesFollowThePathsAndClashesCount(t *testing.T) {
	long := strings.Repeat("x", 70)
	in := inferred1(t, `{"a":{"b":1},"a.b":2,"A":{"B":3},"":4,"~":5,"_offset":6,"_OFFSET":7,"a~1b":8}`, `{"`+long+`":1,"`+long+`y":2,"`+strings.ToUpper(long)+`":3}`)
	var names []string
	for _, c := range in.Columns() {
		names = append(names, c.Name)
		if n := len([]rune(c.Name)); n > MaxNameRunes {
			t.Errorf("%s has %d characters", c.Name, n)
		}
	}
	got := strings.Join(names[:8], " ")
	if want := "a.b a~1b A.B~2 ~e ~0 _offset~2 _OFFSET~3 a~01b"; got != want {
		t.Errorf("names %s, want %s", got, want)
	}
	if a, b := names[8], names[9]; a == b || !strings.HasPrefix(a, strings.Repeat("x", 51)+"~") {
		t.Errorf("long names %s, %s", a, b)
	}
}

func TestColumnsComeInOrderOfFirstSight(t *testing.T) {
	in := inferred1(t, `{"b":1}`, `{"x":{"y":{"z":1}},"a":1,"n":null,"e":{}}`, `{"n":5,"e":{"f":null}}`)
	if got, want := describe(in.Columns()), "b BIGINT, x.y.z BIGINT, a BIGINT, n BIGINT"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestAScalarAndAnObjectAtOnePathAreBothKept(t *testing.T) {
	cols, rows, errs, _ := table(t, nil, `{"a":1}`, `{"a":{"x":2}}`, `{"a":[3]}`, `{"a":{"x":{"y":4}}}`)
	if got, want := describe(cols), "a VARCHAR(16383), a.x BIGINT, a.x.y BIGINT"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := joined(rows), "1|NULL|NULL / NULL|2|NULL / [3]|NULL|NULL / NULL|NULL|4"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, e := range errs {
		if e != null {
			t.Errorf("error %s", e)
		}
	}
}

func TestTheLastOfTwoMembersWinsWhole(t *testing.T) {
	_, rows, errs, _ := table(t, nil, `{"a":{"x":1,"y":2},"b":1}`, `{"a":{"x":1},"b":1,"b":2,"a":{"y":3}}`, `{"a":{"x":5},"a":null}`, `{"b":7,"b":null}`)
	if got, want := joined(rows), "1|2|1 / NULL|3|2 / NULL|NULL|NULL / NULL|NULL|NULL"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, e := range errs {
		if e != null {
			t.Errorf("error %s", e)
		}
	}
}

func TestAMapKeyedByIdsOverflowsIntoRest(t *testing.T) {
	in := NewInference(nil, systemNames)
	var doc strings.Builder
	doc.WriteString(`{"m":{`)
	for i := range MaxMembers + 3 {
		if i > 0 {
			doc.WriteByte(',')
		}
		fmt.Fprintf(&doc, `"k%d":%d`, i, i)
	}
	doc.WriteString(`},"z":1}`)
	in.Observe([]byte(doc.String()))
	cols := in.Columns()
	if len(cols) != MaxMembers+1 || !in.Rest() {
		t.Fatalf("%d columns, rest %t", len(cols), in.Rest())
	}
	_, errs, rest := expand(cols, doc.String(), `{"m":{"new":[1, 2],"k1":5,"n":null},"z":2}`, `{"z":3}`, `{"m":{"new":1},"m":{"k1":2}}`)
	want := []string{`{"m":{"k256":256,"k257":257,"k258":258}}`, `{"m":{"new":[1, 2]}}`, null, null}
	if !slices.Equal(rest, want) {
		t.Errorf("rest %q, want %q", rest, want)
	}
	if errs[0] != null {
		t.Error(errs[0])
	}
	if in.Observe([]byte(`{"m":{"other":1}}`)) {
		t.Error("an overflow that is known is news")
	}
}

func TestATableHasAtMostTwoThousandColumns(t *testing.T) {
	in := NewInference(nil, nil)
	for i := range 10 {
		for j := range 250 {
			in.Observe(fmt.Appendf(nil, `{"o%d":{"c%d":{"v":1}}}`, i, j))
		}
	}
	if n := len(in.Columns()); n != MaxColumns || !in.Rest() {
		t.Errorf("%d columns, rest %t", n, in.Rest())
	}
}

func TestTooDeepAndTooLongPathsAreRest(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)
	in := inferred1(t, deep, `{"`+strings.Repeat("k", 2000)+`":1,"ok":2}`)
	if got := describe(in.Columns()); got != "ok BIGINT" || !in.Rest() {
		t.Errorf("%s, rest %t", got, in.Rest())
	}
}

func TestInferenceGoesOnAfterBeingSaved(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	value := func() []byte {
		return fmt.Appendf(nil, `{"k%d":%d,"K%d":{"x":%d.5,"y":[%d]},"s":"v"}`, r.Intn(300), r.Intn(9), r.Intn(40), r.Intn(9), r.Intn(9))
	}
	a := NewInference(nil, systemNames)
	for i := range 400 {
		a.Observe(value())
		if i%50 == 0 {
			b, err := DecodeInference(a.Encode())
			if err != nil {
				t.Fatal(err)
			}
			if describe(a.Columns()) != describe(b.Columns()) || a.Rest() != b.Rest() {
				t.Fatal("columns differ after decoding")
			}
			v := value()
			if a.Observe(v) != b.Observe(v) || describe(a.Columns()) != describe(b.Columns()) {
				t.Fatalf("%s is taken differently after decoding", v)
			}
		}
	}
	saved := a.Encode()
	for i := range saved {
		DecodeInference(saved[:i]) // must not panic
	}
}

func TestADeclaredColumnOwnsItsPath(t *testing.T) {
	bigint := Type{Kind: Int64, Bits: 64}
	declared := []Column{
		{Name: "amount", Path: []string{"payment", "amount"}, Type: Type{Kind: Decimal, Precision: 10, Scale: 2}},
		{Name: "doc", Path: []string{"doc"}, Type: Type{Kind: JSON}},
		{Name: "user", Path: []string{"u", "name"}, Type: Type{Kind: Text, Length: 10}},
	}
	cols, rows, errs, rest := table(t, declared,
		`{"amount":1,"payment":{"amount":12.5,"method":"card"},"doc":{"a":{"b":1}},"user":"u1","u":{"name":{"x":1},"id":7}}`)
	if got, want := describe(cols), "amount DECIMAL(10,2), doc JSON, user VARCHAR(10), amount~2 BIGINT, payment.method VARCHAR(16383), user~2 VARCHAR(16383), u.id BIGINT"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := joined(rows), `12.50|{"a":{"b":1}}|{"x":1}|1|card|u1|7`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if errs[0] != null || rest[0] != null {
		t.Errorf("error %s, rest %s", errs[0], rest[0])
	}
	// Declaring and dropping leaves the names of inferred columns as they were.
	in := inferred1(t, `{"a":1,"b":2}`)
	in.Declare([]Column{{Name: "B", Path: []string{"c"}, Type: bigint}})
	if got, want := describe(in.Columns()), "B BIGINT, a BIGINT, b~2 BIGINT"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	in.Declare(nil)
	if got, want := describe(in.Columns()), "a BIGINT, b BIGINT"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
