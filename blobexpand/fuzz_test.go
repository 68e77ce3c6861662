package blobexpand

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"millrace/blobexpand/jsonval"
)

// flatten gives the scalars and arrays of a decoded object by path, as
// encoding/json sees them (last duplicate wins, numbers as text).
func flatten(prefix []string, o map[string]any, out map[string]any) {
	for k, v := range o {
		path := append(prefix[:len(prefix):len(prefix)], k)
		switch v := v.(type) {
		case nil:
		case map[string]any:
			flatten(path, v, out)
		default:
			out[strings.Join(path, "\x00")] = v
		}
	}
}

func loneSurrogate(b []byte) bool {
	for i := 0; i < len(b); i++ {
		if b[i] == '"' {
			end, fl := jsonval.String(b, i)
			if end < 0 {
				return false
			}
			if fl&jsonval.LoneSurrogate != 0 {
				return true
			}
			i = end - 1
		}
	}
	return false
}

func FuzzExpansionAgreesWithEncodingJSON(f *testing.F) {
	for _, s := range []string{
		`{"a":1,"b":{"c":"x","d":[1,2,{"e":3}]},"f":true,"g":null,"h":1.10}`, `{"a":{"x":1},"a":5}`, `{"a":5,"a":{"x":1,"x":{"y":2}}}`,
		`{"\u0061":1,"a":"2"}`, `{"":{"":0}}`, `{"a.b":1,"a":{"b":2}}`, `{"s":"\ud83d\ude00","t":"\u0000\n\"\\"}`, `[1]`, `{"a":1}x`, `{"a":-0.0e-7,"b":123456789012345678901234567890}`,
		` { "k" : [ ] , "l" : { } } `, `{"id":1,"Id":2,"ID":"3"}`, "{\"s\":\"\xff\"}", `{"a":"\ud800"}`, `{"a\"":1,"q\\":2,"b\u000a":{"/":"\/"}}`,
	} {
		f.Add([]byte(s), []byte(`{"a":[true]}`))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		in := NewInference(nil, systemNames)
		values := [][]byte{first, second, first}
		for i, v := range values {
			if in.Observe(v) && i == 2 {
				t.Fatalf("%q is news twice", v)
			}
		}
		cols := in.Columns()
		names := map[string]bool{}
		for _, c := range cols {
			if low := strings.ToLower(c.Name); names[low] {
				t.Fatalf("two columns are called %s", low)
			} else {
				names[low] = true
			}
		}
		saved, err := DecodeInference(in.Encode())
		if err != nil || describe(saved.Columns()) != describe(cols) {
			t.Fatalf("inference does not come back: %v", err)
		}
		e := NewExpander(cols, ExpanderOptions{Errors: true, All: cols, Rest: true})
		for _, v := range values {
			e.Append(v)
		}
		arrs := e.Take()
		for r, v := range values {
			valid := json.Valid(v) && utf8.Valid(v) && jsonval.Valid(v) // depth aside the same
			if json.Valid(v) && utf8.Valid(v) && !jsonval.Valid(v) && bytes.Count(v, []byte("["))+bytes.Count(v, []byte("{")) <= jsonval.MaxDepth {
				t.Fatalf("%q is refused", v)
			}
			want := map[string]any{}
			dec := json.NewDecoder(bytes.NewReader(v))
			dec.UseNumber()
			var top any
			if valid && dec.Decode(&top) == nil {
				if o, ok := top.(map[string]any); ok {
					flatten(nil, o, want)
				}
			}
			failed := !arrs[len(cols)].IsNull(r)
			if !valid != failed && !loneSurrogate(v) {
				t.Fatalf("%q: error %s", v, cell(arrs[len(cols)], r))
			}
			if loneSurrogate(v) {
				continue // encoding/json replaces them, also in names
			}
			for i, c := range cols {
				key := strings.Join(c.Path, "\x00")
				w, have := want[key]
				delete(want, key)
				if arrs[i].IsNull(r) {
					if have {
						t.Fatalf("%q: %s is NULL, want %v", v, c.Name, w)
					}
					continue
				}
				if !have {
					t.Fatalf("%q: %s is %s, want NULL", v, c.Name, cell(arrs[i], r))
				}
				got := cell(arrs[i], r)
				switch w := w.(type) {
				case string:
					if got != w {
						t.Fatalf("%q: %s is %q, want %q", v, c.Name, got, w)
					}
				case json.Number:
					if jsonval.CompareNumbers([]byte(got), []byte(w)) != 0 {
						t.Fatalf("%q: %s is %s, want %s", v, c.Name, got, w)
					}
				case bool:
					if got != "true" && got != "false" || (got == "true") != w {
						t.Fatalf("%q: %s is %s", v, c.Name, got)
					}
				case []any:
					var back any
					dec := json.NewDecoder(strings.NewReader(got))
					dec.UseNumber()
					if err := dec.Decode(&back); err != nil {
						t.Fatalf("%q: %s is %s: %v", v, c.Name, got, err)
					}
					a, _ := json.Marshal(back)
					b, _ := json.Marshal(w)
					if !bytes.Equal(a, b) {
						t.Fatalf("%q: %s is %s, want %s", v, c.Name, a, b)
					}
				}
			}
			if len(want) > 0 && arrs[len(cols)+1].IsNull(r) {
				t.Fatalf("%q: %v has no column and is no rest", v, want)
			}
		}
	})
}

func FuzzSavedInferenceIsReadOrRefused(f *testing.F) {
	in := NewInference(nil, systemNames)
	in.Observe([]byte(`{"a":1,"b":{"c":[1],"d":"x"},"_offset":true,"` + strings.Repeat("k", 2000) + `":1}`))
	f.Add(in.Encode(), []byte(`{"a":"x","b":{"c":1}}`))
	f.Add([]byte{1, 0, 0, 0}, []byte(`{"a":1}`))
	f.Fuzz(func(t *testing.T, saved, value []byte) {
		in, err := DecodeInference(saved)
		if err != nil {
			return
		}
		in.Observe(value)
		in.Columns()
		if _, err := DecodeInference(in.Encode()); err != nil {
			t.Fatal(err)
		}
	})
}
