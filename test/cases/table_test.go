package cases_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// caseNumbers are all cases; numbers between them were given up.
var caseNumbers = strings.Fields(`C01 C02 C03 C05 C06 C07 C09 C10 C12 C13 C14 C15 C16 C17 C18 C20 C21 C23 C24 C25 C26 C27 C29
C30 C31 C33 C34 C35 C36 C37 C38 C39 C40 C42 C43 C44 C46 C47 C48 C49 C50 C51 C53 C54 C55 C57 C58 C59 C61 C62 C63 C64 C65 C66 C67`)

var (
	tableRow = regexp.MustCompile(`(?m)^\| (C\d\d) \| [^|]+ \| ([^|]+) \| (yes|–) \| (yes|–) \| (yes|–) \|$`)
	heading  = regexp.MustCompile(`(?m)^# (C\d\d)\b`)
)

func TestTheTableOfCasesIsTrue(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string][]string{} // files of testdata by case
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range heading.FindAllStringSubmatch(string(b), -1) {
			asked[m[1]] = append(asked[m[1]], "test/cases/"+file)
		}
	}
	var listed []string
	for _, m := range tableRow.FindAllStringSubmatch(string(text), -1) {
		number, refs := m[1], strings.Split(m[2], "<br>")
		listed = append(listed, number)
		inEveryWay := m[3] == "yes" && m[4] == "yes" && m[5] == "yes"
		if inEveryWay != (len(asked[number]) > 0) {
			t.Errorf("%s: the table says %v, and testdata has it in %v", number, m[3:], asked[number])
		}
		for _, file := range asked[number] {
			if !slices.Contains(refs, "`"+file+"`") {
				t.Errorf("%s: %s is not in the table", number, file)
			}
		}
		for _, ref := range refs {
			file, test, named := strings.Cut(strings.Trim(ref, "`"), ":")
			b, err := os.ReadFile(filepath.Join("../..", file))
			if err != nil {
				t.Errorf("%s: %v", number, err)
				continue
			}
			if named && !regexp.MustCompile(`(?m)^(func|def) `+test+`\(`).Match(b) {
				t.Errorf("%s: no %s in %s", number, test, file)
			}
		}
	}
	if !slices.Equal(listed, caseNumbers) {
		t.Errorf("the table has %v, all are %v", listed, caseNumbers)
	}
}
