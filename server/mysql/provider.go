package mysql

import (
	"strings"

	"millrace/catalog/infoschema"
	"millrace/catalog/sqltable"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
)

// provider shows the engine what the session behind a context may see, and our functions
// before the built-in ones.
type provider struct {
	*sqltable.Provider
	functions map[string]sql.Function // by lower-case name
}

var (
	_ sql.DatabaseProvider = (*provider)(nil)
	_ sql.FunctionProvider = (*provider)(nil)
)

// toolDatabases are those that tools expect a MySQL server to have.
var toolDatabases = []string{"mysql", "performance_schema", "sys"}

func (p *provider) Function(_ *sql.Context, name string) (sql.Function, bool) {
	f, ok := p.functions[strings.ToLower(name)]
	return f, ok
}

func (p *provider) Database(ctx *sql.Context, name string) (sql.Database, error) {
	for _, n := range toolDatabases {
		if strings.EqualFold(n, name) {
			if n == "mysql" {
				return newMySQLDatabase(), nil
			}
			return toolDatabase(n), nil
		}
	}
	d, err := p.Provider.Database(ctx, name)
	if err != nil {
		return nil, err
	}
	return visibleDatabase{d}, nil
}

func (p *provider) HasDatabase(ctx *sql.Context, name string) bool {
	for _, n := range toolDatabases {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return p.Provider.HasDatabase(ctx, name)
}

func (p *provider) AllDatabases(ctx *sql.Context) []sql.Database {
	var out []sql.Database
	for _, d := range p.Provider.AllDatabases(ctx) {
		out = append(out, visibleDatabase{d})
	}
	for _, n := range toolDatabases {
		if n != "mysql" { // the engine lists that one by itself
			out = append(out, toolDatabase(n))
		}
	}
	return out
}

// visibleDatabase leaves out what the session may not see, as if it did not exist. What can be
// done to the tables beside reading goes other ways, never through the engine.
type visibleDatabase struct{ db sql.Database }

var (
	_ sql.Database         = visibleDatabase{}
	_ sql.CollatedDatabase = visibleDatabase{}

	_ sql.VersionedDatabase = visibleDatabase{}
	_ infoschema.Lister     = visibleDatabase{}
)

func (d visibleDatabase) Name() string { return d.db.Name() }

func (d visibleDatabase) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	if !maySee(ctx, d.db.Name(), name) {
		return nil, false, nil
	}
	return d.db.GetTableInsensitive(ctx, name)
}

func (d visibleDatabase) GetTableNames(ctx *sql.Context) ([]string, error) {
	names, err := d.db.GetTableNames(ctx)
	if err != nil {
		return nil, err
	}
	visible := make([]string, 0, len(names))
	for _, n := range names {
		if maySee(ctx, d.db.Name(), n) {
			visible = append(visible, n)
		}
	}
	return visible, nil
}

// KnownTable implements infoschema.Lister.
func (d visibleDatabase) KnownTable(ctx *sql.Context, name string) (sql.Table, bool, error) {
	return d.describe(ctx, name, infoschema.Lister.KnownTable)
}

// TableHead implements infoschema.Lister.
func (d visibleDatabase) TableHead(ctx *sql.Context, name string) (sql.Table, bool, error) {
	return d.describe(ctx, name, infoschema.Lister.TableHead)
}

func (d visibleDatabase) describe(ctx *sql.Context, name string, look func(infoschema.Lister, *sql.Context, string) (sql.Table, bool, error)) (sql.Table, bool, error) {
	l, ok := d.db.(infoschema.Lister)
	if !ok {
		return d.GetTableInsensitive(ctx, name)
	}
	if !maySee(ctx, d.db.Name(), name) {
		return nil, false, nil
	}
	return look(l, ctx, name)
}

// GetTableInsensitiveAsOf implements sql.VersionedDatabase.
func (d visibleDatabase) GetTableInsensitiveAsOf(ctx *sql.Context, name string, asOf any) (sql.Table, bool, error) {
	v, ok := d.db.(sql.VersionedDatabase)
	if !ok {
		return nil, false, sql.ErrAsOfNotSupported.New(d.Name())
	}
	if !maySee(ctx, d.db.Name(), name) {
		return nil, false, nil
	}
	return v.GetTableInsensitiveAsOf(ctx, name, asOf)
}

// GetTableNamesAsOf implements sql.VersionedDatabase.
func (d visibleDatabase) GetTableNamesAsOf(ctx *sql.Context, _ any) ([]string, error) {
	return d.GetTableNames(ctx)
}

func (d visibleDatabase) GetCollation(ctx *sql.Context) sql.CollationID {
	if c, ok := d.db.(sql.CollatedDatabase); ok {
		return c.GetCollation(ctx)
	}
	return sql.Collation_Default
}

func (d visibleDatabase) SetCollation(*sql.Context, sql.CollationID) error {
	return sqlerr.Unsupported("ALTER DATABASE")
}
