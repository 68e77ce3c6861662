package kafka

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"millrace/server/kafka/api/produce"

	"github.com/twmb/franz-go/pkg/kmsg"
)

var update = flag.Bool("update", false, "write docs/kafka-apis.md anew")

// apiNotes are what the table says beside the versions.
var apiNotes = map[int16]string{
	0:  fmt.Sprintf("%d and later are stored; older ones are refused (they are advertised for old librdkafka)", produce.ServedFrom),
	18: "a newer version is answered in version 0 with the range served",
	24: "from 4 on several transactions in one request",
	27: "aborts the whole transaction that holds the partition; only for kafka-transactions abort",
	34: "one directory: where a partition is, or LOG_DIR_NOT_FOUND",
	35: "one directory",
}

// docs/kafka-apis.md is made from what ApiVersions answers with, so that what is documented is
// what is served.
func TestTheDocumentedAPIsAreThoseServed(t *testing.T) {
	const file = "../../docs/kafka-apis.md"
	list := start(t).srv.apis()
	slices.SortFunc(list, func(a, b endpoint) int { return int(a.key) - int(b.key) })
	var b strings.Builder
	b.WriteString("# Kafka APIs\n\nMade from the server's own table by `go test ./server/kafka -run TheDocumentedAPIs -update`. What is not here is not advertised.\n\n| key | API | versions | |\n|---|---|---|---|\n")
	for _, a := range list {
		fmt.Fprintf(&b, "| %d | %s | %d–%d | %s |\n", a.key, kmsg.NameForKey(a.key), a.min, a.max, apiNotes[a.key])
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
		t.Fatal("docs/kafka-apis.md is not what is served: go test ./server/kafka -run TheDocumentedAPIs -update")
	}
}
