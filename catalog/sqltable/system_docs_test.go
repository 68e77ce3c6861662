package sqltable

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

var updateDocs = flag.Bool("update", false, "write docs/system-tables.md anew")

const systemDocs = "../../docs/system-tables.md"

// docs/system-tables.md is made from the definitions of the tables.
func TestTheDocumentedSystemTablesAreThoseThereAre(t *testing.T) {
	var b strings.Builder
	b.WriteString("# System tables\n\n")
	b.WriteString("Database `millrace` shows the server itself. Reading it needs DESCRIBE on the cluster, once users exist. Times are in the session's `time_zone`.\n")
	b.WriteString("A condition on the topic's name spares the other topics. This page is made from the code: `go test ./catalog/sqltable -run SystemTables -update`.\n")
	for _, def := range systemTables() {
		fmt.Fprintf(&b, "\n## millrace.%s\n\n%s", def.name, def.doc)
		if def.formerly != "" {
			fmt.Fprintf(&b, " Also as `millrace.%s`, its former name.", def.formerly)
		}
		b.WriteString("\n\n| column | type | |\n|---|---|---|\n")
		for _, c := range def.columns {
			typ, _, _ := strings.Cut(c.typ.String(), " CHARACTER SET")
			typ, _, _ = strings.Cut(typ, " COLLATE")
			doc := c.doc
			if _, err := sqlparser.Parse("SELECT " + c.name + " FROM t"); err != nil {
				doc = strings.TrimSuffix("a reserved word: write it in backticks; "+doc, "; ")
			}
			if c.null && !strings.Contains(doc, "NULL") {
				doc = strings.TrimPrefix(doc+"; may be NULL", "; ")
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.name, typ, doc)
		}
	}
	if *updateDocs {
		if err := os.WriteFile(systemDocs, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(systemDocs)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != b.String() {
		t.Error("docs/system-tables.md is not what the tables are: go test ./catalog/sqltable -run SystemTables -update")
	}
}
