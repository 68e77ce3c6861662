package mysql

import (
	"strings"

	"millrace/catalog/infoschema"
	"millrace/catalog/sqltable"
	"millrace/server/auth"
	"millrace/server/mysql/account"

	"github.com/dolthub/go-mysql-server/sql"
)

// privilegedSchema is information_schema with the tables of rights, which the engine makes of its own rights. Like mysql.db and
// mysql.tables_priv they show who asks his own and everyone's, and all to who may describe the cluster, as Kafka does with
// ACLs; those for one address are shown with it, those that deny are not: MySQL's tables have no place for them (SHOW GRANTS has).
type privilegedSchema struct{ *infoschema.Database }

// GetTableInsensitive implements sql.Database.
func (d privilegedSchema) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	t, ok, err := d.Database.GetTableInsensitive(ctx, name)
	if rows, mine := privilegeTables[strings.ToLower(name)]; mine && ok && err == nil {
		return privilegeTable{t, rows}, true, nil
	}
	return t, ok, err
}

// privilegeTables are the rows of information_schema's tables of rights.
var privilegeTables = map[string]func(held []heldRights) []sql.Row{
	"user_privileges": func(held []heldRights) (out []sql.Row) {
		for _, h := range held {
			for _, right := range h.global {
				out = append(out, sql.Row{h.who.String(), "def", right, yesNo(h.administrator)})
			}
		}
		return out
	},
	"schema_privileges": func(held []heldRights) (out []sql.Row) {
		for _, h := range held {
			if h.database == "" || h.table != "" {
				continue
			}
			for _, right := range h.rights {
				out = append(out, sql.Row{h.who.String(), "def", h.database, right, yesNo(h.option)})
			}
		}
		return out
	},
	"table_privileges": func(held []heldRights) (out []sql.Row) {
		for _, h := range held {
			if h.table == "" {
				continue
			}
			for _, right := range h.rights {
				out = append(out, sql.Row{h.who.String(), "def", h.database, h.table, right, yesNo(h.option)})
			}
		}
		return out
	},
}

// privilegeTable has the schema of the engine's table.
type privilegeTable struct {
	sql.Table
	rows func([]heldRights) []sql.Row
}

// Partitions implements sql.Table.
func (privilegeTable) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return sql.PartitionsToPartitionIter(wholePartition{}), nil
}

// PartitionRows implements sql.Table.
func (t privilegeTable) PartitionRows(ctx *sql.Context, _ sql.Partition) (sql.RowIter, error) {
	return sql.RowsToRowIter(t.rows(shownRights(ctx))...), nil
}

// heldRights are one account's on one object; those on *.* are global.
type heldRights struct {
	who             account.Name
	administrator   bool
	option          bool
	global          []string
	database, table string // table is "" for all; a prefix ends with %
	rights          []string
}

// administratorRights are what MySQL's tables have of an administrator.
var administratorRights = []string{"SELECT", "INSERT", "CREATE", "CREATE VIEW", "ALTER", "DROP", "DELETE", "SHOW VIEW", "PROCESS", "CREATE USER", "SUPER", "RELOAD"}

// shownRights are those that the session behind ctx may see, accounts in their order.
func shownRights(ctx *sql.Context) (out []heldRights) {
	s := sessionOf(ctx)
	if s == nil {
		return nil
	}
	a := s.server.o.Auth
	names := []string{s.principal.Name}
	if s.allowed(auth.Describe, auth.Resource{Type: auth.Cluster}) {
		names = append(a.Users(), auth.Anonymous.Name)
	}
	for _, name := range append(names, everyone) {
		who := account.Name{User: name, Host: account.AnyHost}
		if a.IsAdministrator(name) {
			out = append(out, heldRights{who: who, administrator: true, global: administratorRights})
		} else if name != everyone && name != auth.Anonymous.Name {
			out = append(out, heldRights{who: who, global: []string{"USAGE"}})
		}
		options := a.GrantOptions(name)
		for _, g := range account.Grouped(a.ACLsFor(name)) {
			h := heldRights{who: g.Who, database: sqltable.KafkaDatabase, rights: account.Names(g.Operations)}
			switch {
			case g.Pattern.Type == auth.Cluster:
				h.global = account.GlobalNames(g.Operations)
				h.database, h.rights = "", nil
				out = append(out, h)
				if len(account.SystemNames(g.Operations)) > 0 {
					out = append(out, heldRights{who: g.Who, database: sqltable.SystemDatabase, rights: account.SystemNames(g.Operations)})
				}
				continue
			case g.Pattern.Type != auth.Topic:
				continue
			case g.Pattern.Prefixed:
				h.table = g.Pattern.Name + "%"
			case g.Pattern.Name != auth.AnyName:
				h.table = g.Pattern.Name
			}
			for _, o := range options {
				h.option = h.option || o == g.Pattern
			}
			out = append(out, h)
		}
	}
	return out
}

// dbRows are mysql.db.
func dbRows(ctx *sql.Context) ([]sql.Row, error) {
	var out []sql.Row
	for _, h := range shownRights(ctx) {
		if h.database == "" || h.table != "" {
			continue
		}
		reads := "N"
		for _, right := range h.rights {
			if right == "SELECT" {
				reads = "Y"
			}
		}
		out = append(out, sql.Row{h.who.Host, h.database, h.who.User, reads})
	}
	return out, nil
}

// tablesPrivRows are mysql.tables_priv.
func tablesPrivRows(ctx *sql.Context) ([]sql.Row, error) {
	var out []sql.Row
	for _, h := range shownRights(ctx) {
		if h.table == "" {
			continue
		}
		words := make([]string, len(h.rights))
		for i, right := range h.rights {
			words[i] = right[:1] + strings.ToLower(right[1:])
		}
		out = append(out, sql.Row{h.who.Host, h.database, h.who.User, h.table, "", nil, strings.Join(words, ","), ""})
	}
	return out, nil
}
