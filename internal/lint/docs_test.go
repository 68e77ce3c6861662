package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// documents are the texts whose references are checked.
func documents(t *testing.T) []string {
	t.Helper()
	docs := []string{"README.md", "ARCHITECTURE.md", "CHANGELOG.md"}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			rel, err := filepath.Rel(root, f)
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, filepath.ToSlash(rel))
		}
	}
	return docs
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var (
	codeSpan   = regexp.MustCompile("`([^`\n]+)`")
	codeBlock  = regexp.MustCompile("(?ms)^```.*?^```$")
	linkTarget = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// pathForm is what looks like a path of this tree, perhaps with an identifier in it:
	// store/submit.go:Submit.
	pathForm = regexp.MustCompile(`^([A-Za-z.][\w.-]*(?:/[\w.-]+)*/?)(?::([A-Za-z]\w*))?$`)
)

// rooms are the directories at the root: a path begins with one, or ends in the
// suffix of a source file.
func rooms(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, e := range entries {
		if e.IsDir() && e.Name() != "bin" { // what make builds
			dirs = append(dirs, e.Name())
		}
	}
	return dirs
}

func isPath(name string, rooms []string) bool {
	first, _, deep := strings.Cut(name, "/")
	if deep && slices.Contains(rooms, first) {
		return true
	}
	return deep && slices.Contains([]string{".go", ".md", ".sh", ".txt"}, filepath.Ext(name))
}

func TestPathsAndIdentifiersNamedInTheDocumentsExist(t *testing.T) {
	rooms := rooms(t)
	found := 0
	for _, doc := range documents(t) {
		for _, m := range codeSpan.FindAllStringSubmatch(codeBlock.ReplaceAllString(read(t, doc), ""), -1) {
			p := pathForm.FindStringSubmatch(m[1])
			if p == nil || !isPath(p[1], rooms) {
				continue
			}
			found++
			file := filepath.Join(root, p[1])
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s names %s, which is not there", doc, p[1])
				continue
			}
			if p[2] != "" && !declares(t, file, p[2]) {
				t.Errorf("%s names %s, which %s does not declare", doc, p[2], p[1])
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d paths found: the texts are not read right", found)
	}
}

// declares says whether a Go file declares a function, method or type of that name.
func declares(t *testing.T, file, name string) bool {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == name {
				return true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if ts, ok := spec.(*ast.TypeSpec); ok && ts.Name.Name == name {
					return true
				}
			}
		}
	}
	return false
}

func TestLinksInTheDocumentsLeadSomewhere(t *testing.T) {
	for _, doc := range documents(t) {
		for _, m := range linkTarget.FindAllStringSubmatch(codeBlock.ReplaceAllString(read(t, doc), ""), -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(doc), target)); err != nil {
				t.Errorf("%s links to %s, which is not there", doc, m[1])
			}
		}
	}
}

func TestArchitectureIsShortEnoughToRead(t *testing.T) {
	const most = 250
	if n := strings.Count(read(t, "ARCHITECTURE.md"), "\n"); n > most {
		t.Errorf("ARCHITECTURE.md has %d lines, at most %d", n, most)
	}
}

var makeTarget = regexp.MustCompile(`(?m)^make +([a-z][a-z-]*)`)

func TestMakeTargetsNamedInTheDocumentsExist(t *testing.T) {
	makefile := "\n" + read(t, "Makefile")
	for _, doc := range documents(t) {
		text := read(t, doc)
		for _, m := range makeTarget.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s: no target %s in the Makefile", doc, m[1])
			}
		}
	}
}
