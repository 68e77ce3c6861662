package catalog

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The list of types is what the declarations' parser takes, and docs/sql.md has it.
func TestTheListedTypesAreThoseThatCanBeDeclared(t *testing.T) {
	needs := map[string]string{"ENUM": "('a','b')", "SET": "('a','b')", "VARCHAR": "(10)", "VARBINARY": "(10)"}
	listed := map[string]bool{}
	for _, name := range regexp.MustCompile(`[A-Z]+`).FindAllString(strings.ReplaceAll(DeclarableTypes, "(also UNSIGNED)", ""), -1) {
		listed[name] = true
		if _, err := ParseColumns("c " + name + needs[name]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT"} {
		if _, err := ParseColumns("c " + name + " UNSIGNED"); err != nil {
			t.Errorf("%s UNSIGNED: %v", name, err)
		}
	}
	for _, name := range []string{
		"BOOLEAN", "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "BIT", "DECIMAL", "FLOAT", "DOUBLE", "CHAR", "VARCHAR", "TINYTEXT", "TEXT",
		"MEDIUMTEXT", "LONGTEXT", "ENUM", "SET", "BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB", "DATE", "TIME", "DATETIME",
		"TIMESTAMP", "YEAR", "JSON", "GEOMETRY", "POINT", "LINESTRING", "POLYGON", "VECTOR",
	} {
		if _, err := ParseColumns("c " + name + needs[name]); (err == nil) != listed[name] {
			t.Errorf("%s: listed %v, %v", name, listed[name], err)
		}
	}
	docs, err := os.ReadFile("../docs/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(docs), DeclarableTypes) {
		t.Errorf("docs/sql.md does not have the list of types: %s", DeclarableTypes)
	}
}
