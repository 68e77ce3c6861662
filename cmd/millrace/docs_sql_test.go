package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"millrace/internal/client"
	"millrace/internal/testkit"
)

// docBlock is a fenced block of a document, or a comment `<!-- sql … -->` that prepares what
// the blocks behind it ask about.
type docBlock struct {
	line    int
	kind    string // what stands behind the fence; "set-up" for a comment
	text    string
	answers bool // only blank lines stand between it and the block before
}

func docBlocks(text string) (blocks []docBlock) {
	lines := strings.Split(text, "\n")
	near := false
	for i := 0; i < len(lines); i++ {
		end := ""
		b := docBlock{line: i + 1, answers: near}
		switch {
		case strings.HasPrefix(lines[i], "```"):
			b.kind, end = strings.TrimPrefix(lines[i], "```"), "```"
		case strings.HasPrefix(lines[i], "<!-- sql"):
			b.kind, end = "set-up", "-->"
		default:
			near = near && strings.TrimSpace(lines[i]) == ""
			continue
		}
		for i++; i < len(lines) && strings.TrimSpace(lines[i]) != end; i++ {
			b.text += lines[i] + "\n"
		}
		blocks = append(blocks, b)
		near = b.kind == "sql" || b.kind == "console"
	}
	return blocks
}

// grafana are its macros as it expands them, for an interval of a minute.
var grafana = strings.NewReplacer(
	"$__timeGroupAlias(_timestamp, $__interval)", `UNIX_TIMESTAMP(_timestamp) DIV 60 * 60 AS "time"`,
	"$__timeFilter(_timestamp)", "_timestamp BETWEEN FROM_UNIXTIME(1) AND FROM_UNIXTIME(2000000000)",
)

// Times and what depends on the machine are left out of the comparison.
var ofTheMoment = regexp.MustCompile(`\d+(\.\d+)?(ms|µs|s)\b`)

// Every SQL block of README.md and docs runs, over the demo's data and what the document itself makes,
// and prints what stands behind it. -update writes the answers anew.
func TestTheSQLOfTheDocumentsRunsAndAnswersAsShown(t *testing.T) {
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	asked, compared := 0, 0
	for _, doc := range append(docs, "../../README.md") {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		blocks := docBlocks(string(text))
		if !strings.Contains(string(text), "```sql\n") {
			continue
		}
		t.Run(filepath.Base(doc), func(t *testing.T) {
			r := running{t, testkit.Server(t)}
			for _, topic := range []string{"earthquakes", "flights", "airports"} {
				r.must("", "import", "../../examples/data/"+topic+".ndjson.gz", "-t", topic)
			}
			for i, b := range blocks {
				if b.kind != "sql" && b.kind != "set-up" {
					continue
				}
				var out bytes.Buffer
				in := &client.IO{In: strings.NewReader(grafana.Replace(b.text)), Out: &out, Err: &out}
				if status := run([]string{"sql", "--mysql", r.s.MySQLAddr()}, in); status != 0 {
					t.Errorf("line %d: %s%s", b.line, b.text, &out)
				}
				asked++
				if b.kind != "sql" || i+1 == len(blocks) || !blocks[i+1].answers || blocks[i+1].kind != "text" {
					continue
				}
				compared++
				want, got := ofTheMoment.ReplaceAllString(blocks[i+1].text, "T"), ofTheMoment.ReplaceAllString(out.String(), "T")
				if want != got && *update {
					replaced := strings.Replace(string(text), b.text+"```\n\n```text\n"+blocks[i+1].text, b.text+"```\n\n```text\n"+out.String(), 1)
					if err := os.WriteFile(doc, []byte(replaced), 0o644); err != nil {
						t.Fatal(err)
					}
					text = []byte(replaced)
				} else if want != got {
					t.Errorf("line %d: %sprints\n%s\nand not\n%s", b.line, b.text, &out, blocks[i+1].text)
				}
			}
		})
	}
	if asked < 10 || compared < 5 {
		t.Errorf("only %d blocks found, %d of them with an answer", asked, compared)
	}
}
