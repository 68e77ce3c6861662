package lint

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"millrace/internal/topicconfig"
)

var update = flag.Bool("update", false, "write docs/topic-configs.md anew")

// configFields says which field of topicconfig.Config carries a config to those who honour
// it. A config without an entry is only stored and reported.
var configFields = map[string]string{
	"cleanup.policy":                  "CleanupDelete",
	"compression.type":                "CompressionType",
	"max.message.bytes":               "MaxMessageBytes",
	"message.timestamp.after.max.ms":  "TimestampAfterMaxMs",
	"message.timestamp.before.max.ms": "TimestampBeforeMaxMs",
	"message.timestamp.type":          "LogAppendTime",
	"millrace.collation":              "Collation",
	"millrace.columns":                "Columns",
	"millrace.columns.dropped":        "ColumnsDropped",
	"millrace.expand":                 "Expand",
	"millrace.on_error":               "RejectErrors",
	"millrace.value.format":           "ValueFormat",
	"retention.bytes":                 "RetentionBytes",
	"retention.ms":                    "RetentionMs",
	// Nobody asks for these yet.
	"delete.retention.ms":       "DeleteRetentionMs",
	"max.compaction.lag.ms":     "MaxCompactionLagMs",
	"min.cleanable.dirty.ratio": "MinCleanableDirtyRatio",
	"min.compaction.lag.ms":     "MinCompactionLagMs",
	"min.insync.replicas":       "MinInsyncReplicas",
	"segment.bytes":             "SegmentBytes",
	"segment.ms":                "SegmentMs",
}

// partly are configs that are honoured only as their descriptions say.
var partly = map[string]bool{}

// configUse is how other packages read a field of a parsed config.
var configUse = regexp.MustCompile(`\b(?:cfg|conf|[cC]onfig)\.([A-Z]\w*)`)

// usedConfigFields are the fields of topicconfig.Config that some other package reads.
func usedConfigFields(t *testing.T) map[string]bool {
	t.Helper()
	used := map[string]bool{}
	for _, room := range []string{"ingest", "store", "catalog", "scan", "pushdown", "server"} {
		err := filepath.WalkDir(filepath.Join(root, room), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			for _, m := range configUse.FindAllSubmatch(b, -1) {
				used[string(m[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return used
}

// docs/topic-configs.md is made from the definitions, and says of each whether some code
// reads it.
func TestTheDocumentedTopicConfigsAreTheDefinitions(t *testing.T) {
	const file = root + "/docs/topic-configs.md"
	used := usedConfigFields(t)
	for name := range configFields {
		if _, ok := topicconfig.Lookup(name); !ok {
			t.Errorf("%s is no topic config", name)
		}
	}
	var b strings.Builder
	b.WriteString("# Topic configs\n\nMade from their definitions by `go test ./internal/lint -run TheDocumentedTopicConfigs -update`. Set them with `millrace topic create --set NAME=VALUE`, `millrace topic alter --set`, or any Kafka admin client. **Stored** ones are checked, kept and reported, for tools that expect them, and change nothing.\n\n| config | type | default | effect | meaning |\n|---|---|---|---|---|\n")
	for _, d := range topicconfig.Definitions() {
		effect := "stored"
		switch {
		case used[configFields[d.Name]] && partly[d.Name]:
			effect = "in part"
		case used[configFields[d.Name]]:
			effect = "honoured"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", d.Name, d.Type, d.Default, effect, strings.ReplaceAll(d.Doc, "|", `\|`))
	}
	want := b.String()
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
		t.Fatal("docs/topic-configs.md is not what the definitions say: go test ./internal/lint -run TheDocumentedTopicConfigs -update")
	}
}
