package mysql

import (
	"slices"
	"strings"

	"millrace/blobexpand"
	"millrace/catalog"
	"millrace/server/auth"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/pingcap/tidb/pkg/parser/ast"
)

// Topics have no indexes. Without one every answer is the same, so that tools which make some (migrations, pandas) may go on, with a
// warning; only what an index promises beside speed, unique values or words to search for, is refused.

// noIndex warns that an index was not made.
func noIndex(ctx *sql.Context, name string) {
	ctx.Warn(1235, "Index '%s' is not made. %s", name, hintIndex)
}

// createIndex carries out CREATE INDEX.
func (c *conn) createIndex(ctx *sql.Context, s *ast.CreateIndexStmt) error {
	if s.KeyType != ast.IndexKeyTypeNone {
		return sqlerr.Instead("UNIQUE, FULLTEXT and SPATIAL indexes", hintIndex)
	}
	topic, err := c.topic(ctx, tableName(s.Table), auth.Alter, "INDEX")
	if err != nil {
		return err
	}
	snapshot := c.s.o.Provider.NewStatement(nil)
	defer snapshot.Release()
	table, err := snapshot.Bind(ctx, topic.Name)
	if err != nil {
		return err
	}
	if err := checkKey(s.IndexPartSpecifications, table.Expanded); err != nil {
		return err
	}
	noIndex(ctx, s.IndexName)
	return nil
}

// checkKey says whether an index over those parts would have columns: expanded ones, or the system's.
func checkKey(parts []*ast.IndexPartSpecification, expanded ...[]blobexpand.Column) error {
	for _, p := range parts {
		if p.Column == nil {
			continue // an expression
		}
		name := p.Column.Name.O
		named := func(c blobexpand.Column) bool { return strings.EqualFold(c.Name, name) }
		if !slices.ContainsFunc(expanded, func(cols []blobexpand.Column) bool { return slices.ContainsFunc(cols, named) }) &&
			!slices.Contains(catalog.SystemColumns(), strings.ToLower(name)) {
			return noKeyColumn(name)
		}
	}
	return nil
}

func noKeyColumn(name string) error {
	return sqlerr.New(1072, "42000", "Key column '%s' doesn't exist in table", sqlerr.Clip(name))
}

// isIndex says whether a constraint of ALTER TABLE is an index and nothing more.
func isIndex(c *ast.Constraint) bool { return c.Tp == ast.ConstraintKey || c.Tp == ast.ConstraintIndex }

// isPlainIndex says the same of a key of CREATE TABLE.
func isPlainIndex(x *sqlparser.IndexDefinition) bool {
	i := x.Info
	return !i.Primary && !i.Unique && !i.Fulltext && !i.Spatial && !i.Vector
}

// tableName is a table's name as the engine's parser has it.
func tableName(t *ast.TableName) sqlparser.TableName {
	return sqlparser.TableName{Name: sqlparser.NewTableIdent(t.Name.O), DbQualifier: sqlparser.NewTableIdent(t.Schema.O)}
}
