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

// The bounds that docs/security.md gives in numbers are those of the code.
func TestTheBoundsOfStatementsAreDocumented(t *testing.T) {
	const root = "../.."
	read := func(path string) string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	threats := map[string]string{}
	for line := range strings.Lines(read("docs/security.md")) {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			threats[strings.TrimSpace(cells[1])] = cells[3]
		}
	}
	for _, b := range []struct{ threat, words, file, declared string }{
		{"S8", "1 MiB of text", "server/mysql/mysql.go", "MaxStatementBytes: 1 << 20"},
		{"S8", "200,000 nodes", "server/mysql/rewrite/limits.go", "maxNodes = 200_000"},
		{"S8", "600 deep", "server/mysql/rewrite/limits.go", "maxDepth = 600"},
		{"S8", "61 tables to a FROM", "server/mysql/rewrite/limits.go", "MaxJoin = 61"},
		{"S8", "16 keys of a GROUP BY WITH ROLLUP", "server/mysql/rewrite/rollup.go", "maxRollupKeys = 16"},
		{"S9", "16 MiB (max_allowed_packet)", "server/mysql/wire/wire.go", "MaxPacketBytes = 16 << 20"},
	} {
		if !strings.Contains(threats[b.threat], b.words) {
			t.Errorf("%s does not say: %s", b.threat, b.words)
		}
		if !strings.Contains(read(b.file), b.declared) {
			t.Errorf("%s does not have: %s", b.file, b.declared)
		}
	}
}
