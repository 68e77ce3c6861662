// Package lint holds tests about the shape of the source tree itself.
package lint

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "millrace/"

// rules are arch.txt, parsed: rooms by package, doors by foreign module.
type rules struct {
	rooms map[string][]string
	doors map[string][]string
}

func readRules(t *testing.T) rules {
	f, err := os.Open("arch.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := rules{rooms: map[string][]string{}, doors: map[string][]string{}}
	for s := bufio.NewScanner(f); s.Scan(); {
		line, _, _ := strings.Cut(s.Text(), "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, list, ok := strings.Cut(line, ":")
		if !ok {
			t.Fatalf("arch.txt: no colon in %q", line)
		}
		into := r.rooms
		if name = strings.TrimSpace(name); name[0] == '!' {
			name, into = name[1:], r.doors
		}
		into[name] = strings.Fields(list)
	}
	return r
}

// covers says whether pattern names pkg: itself, or anything below "dir/...".
func covers(pattern, pkg string) bool {
	if dir, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == dir || strings.HasPrefix(pkg, dir+"/")
	}
	return pattern == pkg
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []goPackage {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "millrace/...")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all []goPackage
	for dec := json.NewDecoder(out); ; {
		var p goPackage
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestImportsFollowArchTxt(t *testing.T) {
	r := readRules(t)
	pkgs := packages(t)
	if len(pkgs) < 10 {
		t.Fatalf("only %d packages listed", len(pkgs))
	}
	for _, p := range pkgs {
		name := strings.TrimPrefix(p.ImportPath, module)
		if strings.HasPrefix(name, "test/") || strings.HasPrefix(name, "examples/") {
			continue // programs around the product, which may use anything
		}
		allowed, known := r.rooms[name]
		if !known {
			t.Errorf("%s has no line in arch.txt", name)
			continue
		}
		for _, imp := range p.Imports {
			if inner, ok := strings.CutPrefix(imp, module); ok {
				if !slices.ContainsFunc(allowed, func(pat string) bool { return covers(pat, inner) }) {
					t.Errorf("%s must not import %s", name, inner)
				}
				continue
			}
			for mod, users := range r.doors {
				if (imp == mod || strings.HasPrefix(imp, mod+"/")) && !slices.Contains(users, name) {
					t.Errorf("%s must not import %s (only %s)", name, imp, strings.Join(users, ", "))
				}
			}
		}
	}
}
