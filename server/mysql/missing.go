package mysql

import (
	"fmt"
	"strings"

	"millrace/server/mysql/rewrite"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// table looks a table up; the error when there is none names its database too.
func (e *engine) table(ctx *sql.Context, db, name string) (sql.Table, error) {
	t, _, err := e.Analyzer.Catalog.Table(ctx, db, name)
	if sql.ErrTableNotFound.Is(err) {
		return nil, sqlerr.NoTable(db, name)
	}
	return t, err
}

// explainMissing says which table or column of stmt is missing, as the user spelled it: the engine names a
// table in lower case and without its database, and takes `a.b` for a column of a table that it misses.
func (e *engine) explainMissing(ctx *sql.Context, stmt sqlparser.Statement, err error) error {
	inner := sql.UnwrapError(err)
	noTable := sql.ErrTableNotFound.Is(inner)
	if !noTable && !sql.ErrTableColumnNotFound.Is(inner) && !sql.ErrColumnNotFound.Is(inner) {
		return err
	}
	tables, columns := namesOf(ctx, stmt)
	if noTable {
		name, ok := strings.CutPrefix(inner.Error(), "table not found: ")
		if !ok {
			return err
		}
		name, _, _ = strings.Cut(name, ",") // what it may be taken for follows
		for _, t := range tables {
			if !strings.EqualFold(t.Name.String(), name) {
				continue
			}
			if _, err := e.table(ctx, t.DbQualifier.String(), t.Name.String()); err != nil {
				return sqlerr.NoTable(t.DbQualifier.String(), t.Name.String())
			}
		}
		for _, c := range columns {
			if strings.EqualFold(c.Qualifier.Name.String(), name) {
				if dotted := e.dottedColumn(ctx, tables, c); dotted != "" {
					return errDotted(c, dotted)
				}
				return sqlerr.New(1054, "42S22", "Unknown column '%s' in 'field list'", dottedName(c))
			}
		}
		return sqlerr.NoTable(ctx.GetCurrentDatabase(), name)
	}
	for _, c := range columns {
		if !strings.Contains(strings.ToLower(inner.Error()), c.Name.Lowered()) {
			continue // another one is missing
		}
		if dotted := e.dottedColumn(ctx, tables, c); dotted != "" {
			return errDotted(c, dotted)
		}
	}
	return err
}

// errDotted tells of a column whose name has dots how to write it.
func errDotted(c *sqlparser.ColName, column string) error {
	return sqlerr.New(1054, "42S22", "Unknown column '%s' in 'field list': the name has dots, write it in backticks: `%s`", dottedName(c), strings.ReplaceAll(column, "`", "``"))
}

// dottedName is a qualified column as it was written, without quotes.
func dottedName(c *sqlparser.ColName) string {
	name := fmt.Sprintf("%s.%s", c.Qualifier.Name.String(), c.Name.String())
	if db := c.Qualifier.DbQualifier.String(); db != "" {
		name = db + "." + name
	}
	return name
}

// dottedColumn is the column, of one of the tables that the session may read, whose name is all of c with
// its dots, or all but the table's name before it; "" if there is none.
func (e *engine) dottedColumn(ctx *sql.Context, tables []sqlparser.TableName, c *sqlparser.ColName) string {
	whole := dottedName(c)
	_, rest, _ := strings.Cut(whole, ".")
	for _, t := range tables {
		db, name := t.DbQualifier.String(), t.Name.String()
		if !mayRead(ctx, db, name) {
			continue
		}
		table, err := e.table(ctx, db, name)
		if err != nil {
			continue
		}
		for _, col := range table.Schema() {
			if !strings.Contains(col.Name, ".") {
				continue
			}
			if strings.EqualFold(col.Name, whole) || strings.EqualFold(col.Name, rest) {
				return col.Name
			}
		}
	}
	return ""
}

// namesOf are the tables that stmt names, each with its database, and its qualified columns.
func namesOf(ctx *sql.Context, stmt sqlparser.Statement) (tables []sqlparser.TableName, columns []*sqlparser.ColName) {
	table := func(t sqlparser.TableName, db string) {
		if t.Name.IsEmpty() {
			return
		}
		if t.DbQualifier.IsEmpty() {
			if db == "" {
				db = ctx.GetCurrentDatabase()
			}
			t.DbQualifier = sqlparser.NewTableIdent(db)
		}
		tables = append(tables, t)
	}
	w := rewrite.Walk{Node: func(n any) bool {
		switch n := n.(type) {
		case *sqlparser.AliasedTableExpr:
			if t, ok := n.Expr.(sqlparser.TableName); ok {
				table(t, "")
			}
		case *sqlparser.Show:
			table(n.Table, n.Database)
		case *sqlparser.ColName:
			if !n.Qualifier.IsEmpty() {
				columns = append(columns, n)
			}
		}
		return true
	}}
	w.Statement(stmt)
	return tables, columns
}
