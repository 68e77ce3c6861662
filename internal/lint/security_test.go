package lint

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/security.md names, for each threat, the tests that show what holds against it: each of them exists.
func TestEveryThreatHasItsTests(t *testing.T) {
	const root = "../.."
	exists := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root:
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		b, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(b, -1) {
			exists[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(root, "docs/security.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	next := 1
	for line := range strings.Lines(string(b)) {
		if !strings.HasPrefix(line, "| S") {
			continue
		}
		if !strings.HasPrefix(line, fmt.Sprintf("| S%d |", next)) {
			t.Errorf("S%d is missing before %.20s", next, line)
		}
		next++
		tests := named.FindAllStringSubmatch(line, -1)
		if len(tests) == 0 {
			t.Errorf("no test in %.60s", line)
		}
		for _, m := range tests {
			if !exists[m[1]] {
				t.Errorf("there is no %s: %.60s", m[1], line)
			}
		}
	}
	if next != 26 {
		t.Errorf("%d threats, want 25", next-1)
	}
}
