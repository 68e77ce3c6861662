package mysql

import "testing"

// FuzzParseJSONPath: any text is a path of bounded length or error 3143.
func FuzzParseJSONPath(f *testing.F) {
	for _, s := range []string{"$", "$.a", `$."a b".c`, "$[0]", "$[last-1]", "$[1 to last]", "$.*", "$**.a", "$[*]", "$[18446744073709551616]", "$**", "$[", `$."\\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := parseJSONPath(s)
		if err == nil && len(p.legs) > maxPathLegs || err != nil && p != nil {
			t.Fatal(p, err)
		}
	})
}
