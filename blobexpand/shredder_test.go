package blobexpand

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"millrace/internal/vector"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// vectorCells are a vector's values as text, NULLs as null.
func vectorCells(v *vector.Vector) []string {
	out := make([]string, v.Len)
	for i := range out {
		at := i
		if v.Const {
			at = 0
		}
		switch {
		case v.IsNull(i):
			out[i] = null
		case v.Kind == vector.Int:
			out[i] = fmt.Sprint(v.Int(i))
		case v.Kind == vector.Uint:
			out[i] = fmt.Sprint(v.Uint64[at])
		case v.Kind == vector.Float:
			out[i] = fmt.Sprintf("%x", math.Float64bits(v.Float64[at]))
		case v.Kind == vector.Decimal128:
			out[i] = v.Dec128[at].ToString(v.Scale)
		case v.Kind == vector.Decimal256:
			out[i] = v.Dec256[at].ToString(v.Scale)
		default:
			out[i] = string(v.Text(i))
		}
	}
	return out
}

// arrayCells are the same of an array.
func arrayCells(a arrow.Array) []string {
	out := make([]string, a.Len())
	for i := range out {
		if a.IsNull(i) {
			out[i] = null
			continue
		}
		switch a := a.(type) {
		case *array.Boolean:
			out[i] = map[bool]string{false: "0", true: "1"}[a.Value(i)]
		case *array.Int64:
			out[i] = fmt.Sprint(a.Value(i))
		case *array.Uint64:
			out[i] = fmt.Sprint(a.Value(i))
		case *array.Float64:
			out[i] = fmt.Sprintf("%x", math.Float64bits(a.Value(i)))
		case *array.Date32:
			out[i] = fmt.Sprint(int32(a.Value(i)))
		case *array.Timestamp:
			out[i] = fmt.Sprint(int64(a.Value(i)))
		case *array.Duration:
			out[i] = fmt.Sprint(int64(a.Value(i)))
		case *array.Decimal128:
			out[i] = a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale)
		case *array.Decimal256:
			out[i] = a.Value(i).ToString(a.DataType().(*arrow.Decimal256Type).Scale)
		case *array.String:
			out[i] = a.Value(i)
		case *array.Binary:
			out[i] = a.ValueString(i)
		default:
			panic(a.DataType().String())
		}
	}
	return out
}

// bothWays expands values into arrays and into vectors, in batches, and fails where they differ.
func bothWays(t rapid.TB, e *Expander, s *Shredder, cols []Column, values [][]byte) {
	t.Helper()
	compareWays(t, e, s, s.Take, cols, values)
	compareWays(t, e, s, lend(t, s), cols, values)
}

// lend is s.Lend in the form of Take.
func lend(t rapid.TB, s *Shredder) func() []vector.Vector {
	return func() []vector.Vector {
		t.Helper()
		out, err := s.Lend(nil)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

func compareWays(t rapid.TB, e *Expander, s *Shredder, take func() []vector.Vector, cols []Column, values [][]byte) {
	t.Helper()
	for _, v := range values {
		e.Append(v)
		s.Append(v)
	}
	if e.Rows() != s.Rows() || e.Bytes() != s.Bytes() {
		t.Fatalf("%d rows of %d bytes, want %d of %d", s.Rows(), s.Bytes(), e.Rows(), e.Bytes())
	}
	arrays, vectors := e.Take(), take()
	if len(arrays) != len(vectors) {
		t.Fatalf("%d vectors, want %d", len(vectors), len(arrays))
	}
	for i, a := range arrays {
		kind, scale := vector.String, int32(0)
		name := fmt.Sprint("vector ", i)
		if i < len(cols) {
			kind, scale = VectorType(cols[i].Type)
			name = cols[i].Name + " " + cols[i].Type.String()
		}
		v := &vectors[i]
		if v.Kind != kind || v.Scale != scale || v.Len != len(values) || v.Nulls != a.NullN() {
			t.Fatalf("%s: kind %d, scale %d, %d rows, %d NULLs; want %d, %d, %d, %d", name, v.Kind, v.Scale, v.Len, v.Nulls, kind, scale, len(values), a.NullN())
		}
		if diff := cmp.Diff(arrayCells(a), vectorCells(v)); diff != "" {
			t.Fatalf("%s: %s\nof %q", name, diff, values)
		}
		a.Release()
	}
}

// drawJSON makes a value of about that depth.
func drawJSON(t *rapid.T, depth int) string {
	kinds := 9
	if depth == 0 {
		kinds = 7
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "literal")
	case 1:
		return fmt.Sprint(rapid.Int64Range(-300, 300).Draw(t, "small"))
	case 2:
		return rapid.SampledFrom([]string{
			"0", "-0", "1.10", "1e3", "12.5", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615", "1e400",
			"123456789012345678901234567890.12345", "0.1", "5e-324", "1786485600123", "1.7864856001235e9",
			"12345678", "1234567890123456", "-12345678.12345678",
		}).Draw(t, "number")
	case 3:
		return `"` + rapid.StringMatching(`[a-z]{0,20}`).Draw(t, "text") + `"`
	case 4:
		return rapid.SampledFrom([]string{
			`""`, `"EUR"`, `"Chrome"`, `"a\nb"`, `"\u00e9\ud83d\ude00"`, `"\ud83d"`, `"é€😀"`, `"12"`, `"-1.5"`, `"true"`, `"QUJD"`, `"QUI="`,
			`"2026-08-12"`, `"2026-08-12T10:11:12.123Z"`, `"2026-08-12 10:11:12"`, `"10:11:12"`, `"-838:59:59"`, `"red"`, `"{\"a\":1}"`,
		}).Draw(t, "string")
	case 5:
		return fmt.Sprintf(`"id-%d"`, rapid.IntRange(0, 1<<20).Draw(t, "id"))
	case 6:
		return rapid.SampledFrom([]string{`[]`, `{}`, `[1,"x",{"a":null}]`, `[ ]`, `{ }`}).Draw(t, "container")
	case 7:
		return "[" + drawJSON(t, depth-1) + "," + drawJSON(t, depth-1) + "]"
	}
	return drawObject(t, depth-1)
}

func drawObject(t *rapid.T, depth int) string {
	space := rapid.SampledFrom([]string{"", "", "", " ", "\n\t"}).Draw(t, "space")
	var s strings.Builder
	s.WriteString("{" + space)
	for i := range rapid.IntRange(0, 6).Draw(t, "members") {
		if i > 0 {
			s.WriteString("," + space)
		}
		key := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", `\u0061`, "a.b", "a_long_name_of_a_member", "é", ""}).Draw(t, "key")
		s.WriteString(`"` + key + `"` + space + ":" + space + drawJSON(t, depth) + space)
	}
	return s.String() + "}"
}

// drawValue makes a record: mostly an object, sometimes damaged, nil, or something else.
func drawValue(t *rapid.T) []byte {
	s := []byte(drawObject(t, 2))
	switch rapid.IntRange(0, 11).Draw(t, "damage") {
	case 0:
		return nil
	case 1:
		return s[:rapid.IntRange(0, len(s)).Draw(t, "cut")]
	case 2:
		s[rapid.IntRange(0, len(s)-1).Draw(t, "where")] = byte(rapid.IntRange(0, 255).Draw(t, "byte"))
	case 3:
		return []byte(drawJSON(t, 1))
	}
	return s
}

var declarable = []Type{
	{Kind: Bool},
	{Kind: Int64, Bits: 8},
	{Kind: Int64, Bits: 64},
	{Kind: Uint64, Bits: 64},
	{Kind: Uint64, Bits: 16},
	{Kind: Float64, Bits: 64},
	{Kind: Float64, Bits: 32},
	{Kind: Decimal, Precision: 10, Scale: 2},
	{Kind: Decimal, Precision: 65, Scale: 30},
	{Kind: Text, Length: 5},
	{Kind: Text},
	{Kind: Text, Enum: []string{"red", "EUR"}},
	{Kind: Binary},
	{Kind: JSON},
	{Kind: Date},
	{Kind: Time, FSP: 3},
	{Kind: DateTime, FSP: 6},
	{Kind: Timestamp},
	{Kind: Timestamp, FSP: 3, Epoch: EpochMillis},
	{Kind: Year},
}

func TestVectorsHoldWhatArraysHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Custom(drawValue), 0, 30).Draw(t, "values")
		var declared []Column
		for _, p := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c", "a.x", "a.a", "d"}), rapid.ID[string]).Draw(t, "declared") {
			declared = append(declared, Column{Name: "d_" + p, Path: strings.Split(p, "."), Type: rapid.SampledFrom(declarable).Draw(t, "type"), Declared: true})
		}
		in := NewInference(declared, systemNames)
		seen := rapid.IntRange(0, len(values)).Draw(t, "seen")
		for _, v := range values[:seen] { // the rest may not fit
			in.Observe(v)
		}
		all := in.Columns()
		var cols []Column
		for _, c := range all {
			if rapid.IntRange(0, 3).Draw(t, "asked") > 0 {
				cols = append(cols, c)
			}
		}
		o := ExpanderOptions{All: all, Errors: rapid.Bool().Draw(t, "errors"), Rest: rapid.Bool().Draw(t, "rest")}
		e, s := NewExpander(cols, o), NewShredder(cols, o)
		for range 2 {
			bothWays(t, e, s, cols, values)
		}
		if len(values) > 3 {
			bothWays(t, e, s, cols, values[:3])
		}
	})
}

func TestVectorsHoldWhatArraysHoldOfCSV(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var cols []Column
		for i := range rapid.IntRange(1, 4).Draw(t, "fields") {
			cols = append(cols, Column{Name: fmt.Sprint("f", i), Field: i + 1, Type: rapid.SampledFrom(declarable).Draw(t, "type"), Declared: true})
		}
		values := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) []byte {
			fields := rapid.SliceOfN(rapid.SampledFrom([]string{"", `""`, "1", "-7", "12.5", "red", `"a ""b"""`, "true", "2026-08-12", "10:11:12", `{}`, "QUJD", "\"", "x\"y"}), 0, 5).Draw(t, "fields")
			return []byte(strings.Join(fields, ","))
		}), 0, 20).Draw(t, "values")
		o := ExpanderOptions{All: cols, Errors: rapid.Bool().Draw(t, "errors")}
		bothWays(t, NewExpander(cols, o), NewShredder(cols, o), cols, values)
	})
}

func TestVectorsHoldWhatArraysHoldOfManyEvents(t *testing.T) {
	values, _ := clickEvents(20_000)
	nested, _ := repoEvents(500)
	values = append(values, nested...)
	in := NewInference(nil, systemNames)
	for _, v := range values {
		in.Observe(v)
	}
	o := ExpanderOptions{Errors: true, All: in.Columns(), Rest: true}
	e, s := NewExpander(in.Columns(), o), NewShredder(in.Columns(), o)
	for range 3 {
		bothWays(t, e, s, in.Columns(), values)
	}
	bothWays(t, e, s, in.Columns(), values[:100])
}

func TestShreddingIntoVectorsAllocatesNothingPerRecord(t *testing.T) {
	values, _ := clickEvents(2048)
	in := NewInference(nil, nil)
	for _, v := range values {
		in.Observe(v)
	}
	s := NewShredder(in.Columns(), ExpanderOptions{Errors: true, All: in.Columns(), Rest: true})
	for _, take := range []func() []vector.Vector{s.Take, lend(t, s)} {
		run := func() {
			for _, v := range values {
				s.Append(v)
			}
			take()
		}
		run()
		if n := testing.AllocsPerRun(10, run); n > 22*12 {
			t.Errorf("%v allocations for %d records", n, len(values))
		}
	}
}

func TestLentVectorsTakeNoMemoryAnew(t *testing.T) {
	values, _ := clickEvents(8192)
	in := NewInference(nil, nil)
	bytes := 0
	for _, v := range values {
		in.Observe(v)
		bytes += len(v)
	}
	s := NewShredder(in.Columns(), ExpanderOptions{})
	run := func() {
		for _, v := range values {
			s.Append(v)
		}
		lend(t, s)()
	}
	run()
	run()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 4 {
		run()
	}
	runtime.ReadMemStats(&after)
	// Narrow integers are made of wide ones, and dictionaries that did not pay were begun.
	if n := int(after.TotalAlloc-before.TotalAlloc) / 4; n > bytes/3 {
		t.Errorf("%d bytes for %d of records", n, bytes)
	}
}
