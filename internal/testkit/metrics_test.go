package testkit_test

import (
	"database/sql"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"millrace/internal/testkit"
	"millrace/server"
	"millrace/store/state"

	_ "github.com/go-sql-driver/mysql"
	"github.com/google/uuid"
)

var update = flag.Bool("update", false, "write docs/metrics.md anew")

// docs/metrics.md is made from what /metrics answers with. A metric with labels is there only
// once something was counted, so the test has each counted once.
func TestTheDocumentedMetricsAreThoseExported(t *testing.T) {
	const file = "../../docs/metrics.md"
	s := testkit.Server(t, func(o *server.Options) { o.MaxConnections = 1 })
	refuseOneConnection(t, s.KafkaAddr())
	if _, err := s.Store.Commit(t.Context(), state.CreateTopic{ID: uuid.New(), Name: "t", Partitions: 1}); err != nil {
		t.Fatal(err)
	}
	countOneStatement(t, s.MySQLAddr())

	want := "# Metrics\n\nMade from a running server's `/metrics` by `go test ./internal/testkit -run TheDocumentedMetrics -update`. Beside these there are Go's own (`go_*`, `process_*`).\n\n| metric | type | meaning |\n|---|---|---|\n" +
		strings.Join(exported(t, s.HTTPAddr()), "\n") + "\n"
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
		t.Fatal("docs/metrics.md is not what is exported: go test ./internal/testkit -run TheDocumentedMetrics -update")
	}
}

// refuseOneConnection makes one more connection than the server takes and waits until it
// is closed.
func refuseOneConnection(t *testing.T, address string) {
	t.Helper()
	var last net.Conn
	for range 2 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		last = c
	}
	if _, err := io.Copy(io.Discard, last); err != nil {
		t.Log(err) // closed with a reset, which will do
	}
}

func countOneStatement(t *testing.T, address string) {
	t.Helper()
	db, err := sql.Open("mysql", "root@tcp("+address+")/kafka")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("SELECT _key, COUNT(*) FROM t WHERE _offset > 1 GROUP BY _key"); err != nil {
		t.Fatal(err)
	}
}

// exported is a table row for each metric of ours, in name order.
func exported(t *testing.T, address string) []string {
	t.Helper()
	resp, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	help := map[string]string{}
	var rows []string
	for line := range strings.Lines(string(text)) {
		what, rest, _ := strings.Cut(strings.TrimSpace(line), " millrace_")
		name, value, _ := strings.Cut(rest, " ")
		switch what {
		case "# HELP":
			help[name] = value
		case "# TYPE":
			rows = append(rows, fmt.Sprintf("| `millrace_%s` | %s | %s |", name, value, help[name]))
		}
	}
	slices.Sort(rows)
	return rows
}
