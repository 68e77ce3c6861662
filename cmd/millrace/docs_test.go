package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

var update = flag.Bool("update", false, "write docs/cli.md anew")

// docs/cli.md is made from the command line parser, so that what is documented is
// what the binary takes.
func TestTheDocumentedFlagsAreTheBinarys(t *testing.T) {
	const file = "../../docs/cli.md"
	want := document(parser(t, &bytes.Buffer{}).Model.Node)
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Fatal("docs/cli.md is not what the commands say: go test ./cmd/millrace -run TheDocumentedFlags -update")
	}
}

func document(root *kong.Node) string {
	var b strings.Builder
	b.WriteString("# The command line\n\nMade from the binary's own help by `go test ./cmd/millrace -run TheDocumentedFlags -update`.\n\n")
	b.WriteString("Every flag is also an environment variable, `MILLRACE_` and its name in capitals, and for `serve` a key of the YAML file that `--config` names. A flag wins over its variable, that over the file, the file over the default.\n\n")
	b.WriteString("The variables of `serve` and of the connection flags are `MILLRACE_` and the flag (`--seal-age` is `MILLRACE_SEAL_AGE`); those of other flags have the command's name in between (`--format` of `topic list` is `MILLRACE_TOPIC_LIST_FORMAT`).\n")
	for _, n := range leaves(root) {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", n.FullPath(), n.Help)
		detail, examples, _ := cutExamples(n.Detail)
		if detail != "" {
			fmt.Fprintf(&b, "\n%s\n", detail)
		}
		fmt.Fprintf(&b, "\n```sh\n%s```\n", examples)
		if len(n.Positional)+len(n.Flags) == 0 {
			continue
		}
		b.WriteString("\n| flag | meaning | default |\n|---|---|---|\n")
		for _, a := range n.Positional {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", a.Summary(), cell(a.Help), cell(a.Default))
		}
		for _, f := range n.Flags {
			if f.Name == "help" || f.Hidden {
				continue
			}
			name := "--" + f.Name
			if f.Short != 0 {
				name = fmt.Sprintf("-%c, %s", f.Short, name)
			}
			if !f.IsBool() {
				name += " " + f.PlaceHolder
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, cell(f.Help), cell(f.Default))
		}
	}
	return b.String()
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// cutExamples separates the indented example lines.
func cutExamples(detail string) (text, examples string, ok bool) {
	text, rest, ok := strings.Cut(detail, "Example")
	for line := range strings.SplitSeq(rest, "\n") {
		if cmd, indented := strings.CutPrefix(line, "  "); indented {
			examples += cmd + "\n"
		}
	}
	return strings.TrimSpace(text), examples, ok
}
