package mysql

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestASearchFindsWhatTheMatcherFindsAtOnce(t *testing.T) {
	c := newRegexpCache()
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

func TestALongMatchEndsWithItsStatement(t *testing.T) {
	in := start(t, nil)
	db := in.open("app", "", "max_execution_time=100")
	db.SetMaxOpenConns(1)
	const hard = "'(a?b?c?d?e?f?g?h?){100}z'"
	for _, q := range []string{
		"SELECT REGEXP_LIKE(REPEAT('a', 8000000), " + hard + ")",
		"SELECT REPEAT('a', 8000000) REGEXP " + hard,
		"SELECT REGEXP_SUBSTR(REPEAT('a', 8000000), " + hard + ")",
		"SELECT REGEXP_REPLACE(REPEAT('c', 4000000), 'c.*b|c', 'x')",
	} {
		if _, err := table(t, db, q); errNumber(err) != 3024 {
			t.Errorf("%s: %v", q, err)
		}
	}
	if got := ask(t, db, "SELECT REGEXP_INSTR(REPEAT('a', 4000000), '\\\\b(a?b?c?d?){100}z')"); !strings.HasPrefix(got, "error 3699") {
		t.Error("what cannot be watched:", got)
	}
}

func TestPatternsAreBoundedWithTheirRepetitionsWrittenOut(t *testing.T) {
	c := newRegexpCache()
	for _, source := range []string{strings.Repeat("x{1000}", 20), strings.Repeat("(a{30}b?){30}", 12), strings.Repeat("a", maxPatternBytes+1)} {
		if _, err := c.get(source, ""); !errors.Is(err, errRegexpSize) {
			t.Errorf("%.30s: %v", source, err)
		}
	}
	if _, err := c.get("(x{1,3}|[a-z]+){20}", "i"); err != nil {
		t.Error(err)
	}
}
