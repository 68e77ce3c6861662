// Command stock serves go-mysql-server as it comes (its server, its wire, its tables in memory) with the rows that it reads
// from its standard input, a JSON array in a line each: stock ADDRESS. It is a module of its own because its
// server package needs more modules than Millrace does.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"os"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/memory"
	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

func main() {
	if err := serve(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func serve(address string) error {
	db := memory.NewDatabase("kafka")
	provider := memory.NewDBProvider(db)
	ctx := sql.NewContext(sql.NewEmptyContext(), sql.WithSession(memory.NewSession(sql.NewBaseSession(), provider)))
	column := func(name string, t sql.Type) *sql.Column {
		return &sql.Column{Name: name, Type: t, Source: "wide", Nullable: true}
	}
	table := memory.NewTable(db, "wide", sql.NewPrimaryKeySchema(sql.Schema{
		column("id", types.Int64), column("user_id", types.Int64), column("kind", types.Text), column("url", types.Text),
		column("agent", types.Text), column("price", types.Int64), column("score", types.Float64),
	}), nil)
	db.AddTable("wide", table)
	ins := table.Inserter(ctx)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var row struct {
			ID, User, Price  int64
			Kind, URL, Agent string
			Score            float64
		}
		if err := json.Unmarshal(lines.Bytes(), &[]any{&row.ID, &row.User, &row.Kind, &row.URL, &row.Agent, &row.Price, &row.Score}); err != nil {
			return err
		}
		if err := ins.Insert(ctx, sql.Row{row.ID, row.User, row.Kind, row.URL, row.Agent, row.Price, row.Score}); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if err := ins.Close(ctx); err != nil {
		return err
	}
	s, err := server.NewServer(server.Config{Protocol: "tcp", Address: address}, sqle.NewDefault(provider), sql.NewContext, memory.NewSessionBuilder(provider), nil)
	if err != nil {
		return err
	}
	return s.Start()
}
