package sqlfn

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestASearchFindsWhatTheMatcherFindsAtOnce(t *testing.T) {
	c := NewRegexps()
	for _, source := range []string{"a", "a*", "a?", "(a|b)*c", "", "x*y*", "ä*", "(ab)+|b", "^a", `\b`, "$", "a$|b*", "(?s).", "[^a]*"} {
		if source == "" {
			continue
		}
		for _, s := range []string{"", "a", "aa", "baaac", "abab cab", "ääxä", "aab\nba", "xyxxyy"} {
			p, err := c.get(source, "")
			if err != nil {
				t.Fatal(err)
			}
			var got [][]int
			if err := p.search(context.Background(), s, 0, func(m []int) bool { got = append(got, m); return true }); err != nil {
				t.Fatal(err)
			}
			if want := p.FindAllStringSubmatchIndex(s, -1); !reflect.DeepEqual(got, want) {
				t.Errorf("%q in %q: %v, want %v", source, s, got, want)
			}
		}
	}
}

func TestPatternsAreBoundedWithTheirRepetitionsWrittenOut(t *testing.T) {
	c := NewRegexps()
	for _, source := range []string{strings.Repeat("x{1000}", 20), strings.Repeat("(a{30}b?){30}", 12), strings.Repeat("a", maxPatternBytes+1)} {
		if _, err := c.get(source, ""); !errors.Is(err, errRegexpSize) {
			t.Errorf("%.30s: %v", source, err)
		}
	}
	if _, err := c.get("(x{1,3}|[a-z]+){20}", "i"); err != nil {
		t.Error(err)
	}
}
