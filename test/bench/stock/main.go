// Command stock serves go-mysql-server as it comes (its server, its wire, its tables in memory) with tables read from its
// standard input: stock ADDRESS. A line is a table's declaration, {"table":"t","columns":[["id","BIGINT"],…]}, or a row of
// the last one declared, a JSON array; the types are BIGINT, DOUBLE, BOOLEAN and TEXT. It is a module of its own because its
// server package needs more modules than Millrace does.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/memory"
	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

func main() {
	if err := serve(os.Args[1], os.Stdin); err != nil {
		log.Fatal(err)
	}
}

func serve(address string, in io.Reader) error {
	db := memory.NewDatabase("kafka")
	provider := memory.NewDBProvider(db)
	ctx := sql.NewContext(sql.NewEmptyContext(), sql.WithSession(memory.NewSession(sql.NewBaseSession(), provider)))
	if err := load(ctx, db, in); err != nil {
		return err
	}
	s, err := server.NewServer(server.Config{Protocol: "tcp", Address: address}, sqle.NewDefault(provider), sql.NewContext, memory.NewSessionBuilder(provider), nil)
	if err != nil {
		return err
	}
	return s.Start()
}

// load fills the database with the tables of the input.
func load(ctx *sql.Context, db *memory.Database, in io.Reader) (err error) {
	var rows sql.RowInserter
	end := func() error {
		if rows == nil {
			return nil
		}
		return rows.Close(ctx)
	}
	var schema sql.Schema
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if bytes.HasPrefix(lines.Bytes(), []byte("{")) {
			if err := end(); err != nil {
				return err
			}
			var d struct {
				Table   string
				Columns [][2]string
			}
			if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
				return err
			}
			if schema, err = schemaOf(d.Table, d.Columns); err != nil {
				return err
			}
			table := memory.NewTable(db, d.Table, sql.NewPrimaryKeySchema(schema), nil)
			db.AddTable(d.Table, table)
			rows = table.Inserter(ctx)
			continue
		}
		if rows == nil {
			return errors.New("a row before the first table")
		}
		row, err := rowOf(ctx, schema, lines.Bytes())
		if err != nil {
			return err
		}
		if err := rows.Insert(ctx, row); err != nil {
			return err
		}
	}
	return errors.Join(lines.Err(), end())
}

func schemaOf(table string, columns [][2]string) (sql.Schema, error) {
	byName := map[string]sql.Type{"BIGINT": types.Int64, "DOUBLE": types.Float64, "BOOLEAN": types.Boolean, "TEXT": types.Text}
	schema := make(sql.Schema, len(columns))
	for i, c := range columns {
		t, ok := byName[c[1]]
		if !ok {
			return nil, fmt.Errorf("column %s: no type %s", c[0], c[1])
		}
		schema[i] = &sql.Column{Name: c[0], Type: t, Source: table, Nullable: true}
	}
	return schema, nil
}

func rowOf(ctx *sql.Context, schema sql.Schema, line []byte) (sql.Row, error) {
	var cells []any
	numbers := json.NewDecoder(bytes.NewReader(line))
	numbers.UseNumber()
	if err := numbers.Decode(&cells); err != nil {
		return nil, err
	}
	if len(cells) != len(schema) {
		return nil, fmt.Errorf("%d values for %d columns", len(cells), len(schema))
	}
	row := make(sql.Row, len(cells))
	for i, c := range cells {
		if c == nil {
			continue
		}
		v, _, err := schema[i].Type.Convert(ctx, plain(c))
		if err != nil {
			return nil, err
		}
		row[i] = v
	}
	return row, nil
}

// plain gives numbers as text, which every type converts exactly, and the rest as it is.
func plain(c any) any {
	if n, ok := c.(json.Number); ok {
		return n.String()
	}
	return c
}
