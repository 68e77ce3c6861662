package auth

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// S14: what compares bytes byte by byte has no place where secrets are. xdg-go/scram compares proofs by hmac.Equal.
func TestSecretsAreComparedInConstantTime(t *testing.T) {
	quick := regexp.MustCompile(`bytes\.(Equal|Compare|HasPrefix|Contains)|reflect\.DeepEqual|slices\.(Equal|Compare)|strings\.Compare`)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "../mysql/wire/login.go", "../mysql/login.go", "../console/console.go")
	checked := 0
	for _, name := range files {
		if matched, _ := filepath.Match("*_test.go", filepath.Base(name)); matched {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if at := quick.FindIndex(b); at != nil {
			t.Errorf("%s: %s", name, b[at[0]:at[1]])
		}
		checked++
	}
	if checked < 10 {
		t.Errorf("%d files", checked)
	}
}
