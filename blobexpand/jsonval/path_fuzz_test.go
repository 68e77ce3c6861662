package jsonval

import (
	"errors"
	"testing"
)

// FuzzParsePath: any text is a path or an error that points into it, and a path of
// members means the same when it is written anew.
func FuzzParsePath(f *testing.F) {
	for _, s := range []string{"$", "$.a", `$."a b".c`, "$[0]", "$[last-1]", "$[1 to last]", "$.*", "$**.a", "$[*]", "$ . a [ 0 ]", "$.\u00e4", "$**", "$[", `$."`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePath(s)
		if err != nil {
			if pe := new(PathError); !errors.As(err, &pe) || pe.Offset < 0 || pe.Offset > len(s) {
				t.Fatalf("%q: %#v", s, err)
			}
			return
		}
		if names, ok := p.Members(); ok {
			again, err := ParsePath(MemberPath(names).String())
			if err != nil {
				t.Fatalf("%q becomes %q: %v", s, MemberPath(names), err)
			}
			got, ok := again.Members()
			if !ok || len(got) != len(names) {
				t.Fatalf("%q becomes %q", s, again)
			}
			for i := range got {
				if got[i] != names[i] {
					t.Fatalf("%q: member %q becomes %q", s, names[i], got[i])
				}
			}
		}
	})
}
