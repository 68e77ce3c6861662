package jsonval

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func parsed(t testing.TB, text string) Value {
	t.Helper()
	v, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestNormalTextIsMySQLs(t *testing.T) {
	for text, want := range map[string]string{
		`{"bb":1,"a":2,"c":[1 ,2],"":{}}`:       `{"": {}, "a": 2, "c": [1, 2], "bb": 1}`,
		`{"a":1,"b":2,"a":3}`:                   `{"a": 3, "b": 2}`,
		`{"a":1,"a":{"z":1,"y":2}}`:             `{"a": {"y": 2, "z": 1}}`,
		"[ ]":                                   `[]`,
		` { } `:                                 `{}`,
		`"\u0041\/\n\u00e9"`:                    `"A/\né"`,
		`{"a\"b":"x\\y"}`:                       `{"a\"b": "x\\y"}`,
		`"\ud800"`:                              `"\ud800"`,
		`[12345678901234567890123,1.10,1e2,-0]`: `[12345678901234567890123, 1.10, 1e2, -0]`,
		`[true,false,null]`:                     `[true, false, null]`,
		`{"\u0061":1,"a":2}`:                    `{"a": 2}`,
	} {
		if got := string(parsed(t, text).AppendNormal(nil)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
		d := NewDocument(parsed(t, text))
		if d.kind() == Object || d.kind() == Array {
			d.unfold()
		}
		if got := string(d.Value()); got != want {
			t.Errorf("%s, taken apart: got %s, want %s", text, got, want)
		}
	}
}

func TestPrettyTextHasALineForEachMember(t *testing.T) {
	v := parsed(t, `{"b":[1,{"x":"a,b"},[],{}],"a":{"c":null}}`)
	want := "{\n  \"a\": {\n    \"c\": null\n  },\n  \"b\": [\n    1,\n    {\n      \"x\": \"a,b\"\n    },\n    [],\n    {}\n  ]\n}"
	if got, ok := v.AppendPretty(nil, 1000); !ok || string(got) != want {
		t.Errorf("got %s", got)
	}
	deep := parsed(t, strings.Repeat("[", 500)+strings.Repeat("1,", 1000)+"1"+strings.Repeat("]", 500))
	if _, ok := deep.AppendPretty(nil, 10_000); ok {
		t.Error("no bound")
	}
}

func TestChangesOfADocument(t *testing.T) {
	set := func(c Change) func(d *Document, p *Path, v Document) {
		return func(d *Document, p *Path, v Document) { d.Set(p, v, c) }
	}
	put, insert, replace := set(Change{Replace: true, Insert: true}), set(Change{Insert: true}), set(Change{Replace: true})
	remove := func(d *Document, p *Path, _ Document) { d.Remove(p) }
	for _, c := range []struct {
		change          func(d *Document, p *Path, v Document)
		doc, path, want string
	}{
		{put, `{"a":1}`, `$.a`, `{"a": 9}`},
		{put, `{"a":1}`, `$.b`, `{"a": 1, "b": 9}`},
		{put, `{"bb":1}`, `$.a`, `{"a": 9, "bb": 1}`},
		{put, `{"a":1}`, `$.b.c`, `{"a": 1}`},
		{put, `{"a":1}`, `$.a.c`, `{"a": 1}`},
		{put, `{"a":1}`, `$.a[0]`, `{"a": 9}`},
		{put, `{"a":1}`, `$.a[3]`, `{"a": [1, 9]}`},
		{put, `{"a":1}`, `$.a[last-2]`, `{"a": [9, 1]}`},
		{put, `{"a":1}`, `$.a[0][0].b`, `{"a": 1}`},
		{put, `{"a":{}}`, `$.a[0][0].b`, `{"a": {"b": 9}}`},
		{put, `[1,2]`, `$[5]`, `[1, 2, 9]`},
		{put, `[1,2]`, `$[last]`, `[1, 9]`},
		{put, `[1,2]`, `$[last-5]`, `[9, 1, 2]`},
		{put, `[]`, `$[last]`, `[9]`},
		{put, `1`, `$`, `9`},
		{put, `1`, `$[0]`, `9`},
		{put, `1`, `$[1]`, `[1, 9]`},
		{put, `{"a":1,"a":2}`, `$.a`, `{"a": 9}`},
		{insert, `{"a":1}`, `$.a`, `{"a": 1}`},
		{insert, `{"a":1}`, `$`, `{"a": 1}`},
		{insert, `{"a":1}`, `$.b`, `{"a": 1, "b": 9}`},
		{insert, `[1]`, `$[0]`, `[1]`},
		{insert, `[1]`, `$[1]`, `[1, 9]`},
		{replace, `{"a":1}`, `$.a`, `{"a": 9}`},
		{replace, `{"a":1}`, `$.b`, `{"a": 1}`},
		{replace, `[1]`, `$[1]`, `[1]`},
		{remove, `{"a":1,"b":2}`, `$.a`, `{"b": 2}`},
		{remove, `{"a":1}`, `$.a[0]`, `{}`},
		{remove, `{"a":1}`, `$[0].a`, `{}`},
		{remove, `{"a":1}`, `$[0]`, `{"a": 1}`},
		{remove, `[1,2,3]`, `$[1]`, `[1, 3]`},
		{remove, `[1,2,3]`, `$[last]`, `[1, 2]`},
		{remove, `[1,2,3]`, `$[7]`, `[1, 2, 3]`},
		{remove, `[{"a":[1]}]`, `$[0].a[0]`, `[{"a": []}]`},
		{(*Document).AppendAt, `{"a":[1]}`, `$.a`, `{"a": [1, 9]}`},
		{(*Document).AppendAt, `{"a":1}`, `$.a`, `{"a": [1, 9]}`},
		{(*Document).AppendAt, `{"a":1}`, `$`, `[{"a": 1}, 9]`},
		{(*Document).AppendAt, `{"a":1}`, `$.b`, `{"a": 1}`},
		{(*Document).AppendAt, `[1,[2]]`, `$[1]`, `[1, [2, 9]]`},
		{(*Document).InsertAt, `[1,2]`, `$[0]`, `[9, 1, 2]`},
		{(*Document).InsertAt, `[1,2]`, `$[9]`, `[1, 2, 9]`},
		{(*Document).InsertAt, `[1,2]`, `$[last]`, `[1, 9, 2]`},
		{(*Document).InsertAt, `{"a":1}`, `$.a[0]`, `{"a": 1}`},
	} {
		p, err := ParsePath(c.path)
		if err != nil {
			t.Fatal(err)
		}
		d := NewDocument(parsed(t, c.doc))
		c.change(&d, p, NewDocument(Value("9")))
		if got := string(d.Value()); got != c.want {
			t.Errorf("%s at %s: got %s, want %s", c.doc, c.path, got, c.want)
		}
	}
}

func TestMergesOfDocuments(t *testing.T) {
	for _, c := range []struct{ a, b, merged, patched string }{
		{`[1]`, `[2]`, `[1, 2]`, `[2]`},
		{`1`, `2`, `[1, 2]`, `2`},
		{`{"a":1}`, `{"a":2,"b":3}`, `{"a": [1, 2], "b": 3}`, `{"a": 2, "b": 3}`},
		{`{"a":{"x":1}}`, `{"a":{"y":2}}`, `{"a": {"x": 1, "y": 2}}`, `{"a": {"x": 1, "y": 2}}`},
		{`{"a":1}`, `[2]`, `[{"a": 1}, 2]`, `[2]`},
		{`{"a":1,"b":2}`, `{"a":null}`, `{"a": [1, null], "b": 2}`, `{"b": 2}`},
		{`1`, `{"a":{"b":null,"c":1}}`, `[1, {"a": {"b": null, "c": 1}}]`, `{"a": {"c": 1}}`},
		{`{"a":[1]}`, `{"a":{"b":null}}`, `{"a": [1, {"b": null}]}`, `{"a": {}}`},
	} {
		merged, patched := NewDocument(parsed(t, c.a)), NewDocument(parsed(t, c.a))
		merged.Merge(NewDocument(parsed(t, c.b)))
		patched.Patch(NewDocument(parsed(t, c.b)))
		if got := string(merged.Value()); got != c.merged {
			t.Errorf("merge of %s and %s: got %s, want %s", c.a, c.b, got, c.merged)
		}
		if got := string(patched.Value()); got != c.patched {
			t.Errorf("patch of %s with %s: got %s, want %s", c.a, c.b, got, c.patched)
		}
	}
}

func TestSearchTellsThePathsOfStrings(t *testing.T) {
	v := parsed(t, `{"bb":["x",{"a b":"x"}],"a":"x","c":"y"}`)
	isX := func(s string) bool { return s == "x" }
	for _, c := range []struct {
		first bool
		paths []string
		want  string
	}{
		{false, nil, `$.a $.bb[0] $.bb[1]."a b"`},
		{true, nil, `$.a`},
		{false, []string{"$.bb"}, `$.bb[0] $.bb[1]."a b"`},
		{false, []string{"$.c", "$.bb[*]"}, `$.bb[0] $.bb[1]."a b"`},
		{false, []string{"$.c"}, ``},
	} {
		var paths []*Path
		for _, text := range c.paths {
			p, err := ParsePath(text)
			if err != nil {
				t.Fatal(err)
			}
			paths = append(paths, p)
		}
		got, err := v.Search(context.Background(), c.first, isX, paths...)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%v in %v: got %v, %v", c.first, c.paths, got, err)
		}
	}
}

// TestNormalTextIsTheSameValue compares with encoding/json, which keeps the last of several members, too.
func TestNormalTextIsTheSameValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := jsonTexts().Draw(t, "text")
		v, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		normal := v.AppendNormal(nil)
		var a, b any
		if json.Unmarshal([]byte(text), &a) != nil || json.Unmarshal(normal, &b) != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("%s became %s", text, normal)
		}
		again, err := Parse(normal)
		if err != nil || string(again.AppendNormal(nil)) != string(normal) {
			t.Fatalf("%s is not the normal text of itself: %v", normal, err)
		}
		pretty, ok := v.AppendPretty(nil, 1<<20)
		if p, err := Parse(pretty); !ok || err != nil || string(p.AppendNormal(nil)) != string(normal) {
			t.Fatalf("%s is not %s", pretty, normal)
		}
	})
}

// jsonTexts draws small JSON texts with spaces, escapes and members of the same name.
func jsonTexts() *rapid.Generator[string] {
	scalar := rapid.SampledFrom([]string{"1", "-2.50", "1e3", `"a"`, `"\u0062\n"`, `""`, "true", "null", `"é"`})
	space := rapid.SampledFrom([]string{"", " ", "\n"})
	name := rapid.SampledFrom([]string{`"a"`, `"b"`, `"\u0061"`, `"cc"`, `""`, `"x\"y"`})
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			kind := rapid.IntRange(0, 3).Draw(t, "kind")
			if depth == 0 || kind < 2 {
				return scalar.Draw(t, "scalar")
			}
			var parts []string
			for range rapid.IntRange(0, 4).Draw(t, "n") {
				part := space.Draw(t, "s") + value(depth-1).Draw(t, "v") + space.Draw(t, "s")
				if kind == 3 {
					part = space.Draw(t, "s") + name.Draw(t, "name") + space.Draw(t, "s") + ":" + part
				}
				parts = append(parts, part)
			}
			text := strings.Join(parts, ",") + space.Draw(t, "s")
			if kind == 3 {
				return "{" + text + "}"
			}
			return "[" + text + "]"
		})
	}
	return value(3)
}
