package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"millrace/internal/testkit"
)

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// shellLines are the lines of a document's sh blocks, with continuations joined.
func shellLines(text string) (lines []string) {
	for _, m := range shellBlock.FindAllStringSubmatch(text, -1) {
		lines = append(lines, strings.Split(strings.ReplaceAll(m[1], "\\\n", " "), "\n")...)
	}
	return lines
}

// What README.md and docs tell people to type is what the binary takes.
func TestCommandLinesInTheDocumentsParse(t *testing.T) {
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, doc := range append(docs, "../../README.md") {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range shellLines(string(text)) {
			for _, cmd := range words(strings.TrimSpace(line)) {
				if len(cmd) == 0 || cmd[0] != "millrace" && cmd[0] != "bin/millrace" {
					continue
				}
				// The file that --config names would be read.
				args := slices.Clone(cmd[1:])
				if i := slices.Index(args, "--config"); i >= 0 && slices.Contains(args, "serve") {
					args = slices.Delete(args, i, i+2)
				}
				if _, err := parser(t, &bytes.Buffer{}).Parse(args); err != nil {
					t.Errorf("%s: %s: %v", filepath.Base(doc), line, err)
				}
				checked++
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d command lines found", checked)
	}
}

// The README's commands, in its order, do what it says and print what it shows.
func TestTheReadmesCommandsRunAsWritten(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	r := running{t, testkit.Server(t)}
	var printed strings.Builder
	for _, line := range shellLines(string(text)) {
		line = strings.ReplaceAll(strings.TrimSpace(line), `\$`, "$") // inside double quotes
		stdin := ""
		for _, cmd := range words(line) {
			switch {
			case len(cmd) == 0:
			case cmd[0] == "echo":
				stdin = strings.Join(cmd[1:], " ") + "\n"
			case cmd[0] != "bin/millrace":
			case cmd[1] == "user": // it asks for a password on the terminal
				r.must("secret\n", append(cmd[1:], "--password-stdin")...)
			default:
				printed.WriteString(r.must(stdin, cmd[1:]...))
			}
		}
	}
	shown := regexp.MustCompile("(?ms)^```\n(.*?)^```$").FindStringSubmatch(shellBlock.ReplaceAllString(string(text), ""))
	if shown == nil || !strings.HasPrefix(printed.String(), shown[1]) {
		t.Errorf("README.md shows other output than\n%s", printed.String())
	}
}
