package mysql

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"millrace/catalog"
	"millrace/catalog/sqltable"
	"millrace/server/auth"
	"millrace/server/mysql/rewrite"
	"millrace/server/mysql/sqlerr"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// createView keeps a query under a name. It must be one that the session may carry out now; stars in it stand for what
// the topics' columns are whenever the view is read.
func (c *conn) createView(ctx *sql.Context, d *sqlparser.DDL, text string) error {
	spec := d.ViewSpec
	db := spec.ViewName.DbQualifier.String()
	if db == "" {
		db = ctx.GetCurrentDatabase()
	}
	name := spec.ViewName.Name.String()
	switch {
	case db == "":
		return sqlerr.ErrNoDatabase
	case !strings.EqualFold(db, sqltable.KafkaDatabase):
		return errDBDenied(c.sess, db)
	case !mayDo(ctx, auth.Create, db, name) && !c.sess.allowed(auth.Create, auth.Resource{Type: auth.Cluster}):
		return errDenied(c.sess, "CREATE VIEW", name)
	case !state.ValidTopicName(name) || strings.HasPrefix(name, "__"):
		return sqlerr.New(1103, "42000", "Incorrect table name '%s'", name)
	case strings.EqualFold(spec.Security, "definer"):
		return sqlerr.Instead("SQL SECURITY DEFINER", "Who reads a view needs the right to read its topics.")
	case spec.CheckOption != "":
		return sqlerr.Instead("WITH CHECK OPTION", "Views are not written to.")
	}
	if d.SubStatementPositionStart < 0 || d.SubStatementPositionEnd > len(text) || d.SubStatementPositionStart >= d.SubStatementPositionEnd {
		return sqlerr.Unsupported("CREATE VIEW in this form")
	}
	v := catalog.View{
		Name: name, Query: strings.TrimRight(strings.TrimSpace(text[d.SubStatementPositionStart:d.SubStatementPositionEnd]), "; \t\r\n"),
		Database: ctx.GetCurrentDatabase(), Definer: c.sess.Client().User, Created: time.Now().UnixMilli(),
	}
	for _, col := range spec.Columns {
		v.Columns = append(v.Columns, col.String())
	}
	if _, ok := c.s.view(name); d.IfExists && !ok { // ALTER VIEW
		if _, topic := c.s.o.Store.Topics().ByName(name); !topic {
			return sqlerr.New(1146, "42S02", "Table '%s.%s' doesn't exist", sqltable.KafkaDatabase, name)
		}
	}
	exists := sqlerr.New(1050, "42S01", "Table '%s' already exists", name)
	if _, topic := c.s.o.Store.Topics().ByName(name); topic {
		if d.OrReplace {
			return sqlerr.New(1347, "HY000", "'%s.%s' is not VIEW", sqltable.KafkaDatabase, name)
		}
		return exists
	}
	if d.OrReplace && !mayDo(ctx, auth.Delete, sqltable.KafkaDatabase, name) {
		if _, ok := c.s.view(name); ok {
			return errDenied(c.sess, "DROP", name)
		}
	}
	if err := c.checkView(ctx, v); err != nil {
		return err
	}
	err := c.s.o.Catalog.PutView(ctx, v, d.OrReplace)
	if errors.Is(err, catalog.ErrViewExists) {
		if d.IfNotExists {
			ctx.Warn(1050, "%s", exists.Message)
			return nil
		}
		return exists
	}
	return err
}

// checkView plans a view's query.
func (c *conn) checkView(ctx *sql.Context, v catalog.View) error {
	sel, err := rewrite.ViewQuery(ctx, v, namedTables{c.s})
	if err != nil {
		var bad *sqlerr.Error
		if errors.As(err, &bad) && bad.Number == 1356 {
			return sqlerr.New(1064, "42000", "You have an error in your SQL syntax near '%s'", sqlerr.Clip(v.Query))
		}
		return err
	}
	if err := checkSelect(sel); err != nil {
		return err
	}
	if err := c.rewrite(ctx, sel); err != nil {
		return err
	}
	node, _, err := c.s.engine.plan(ctx, sel, v.Query, nil, newStandIns(c.s.engine, c.s.o.Pushdown).valueOf)
	if err != nil {
		return err
	}
	if err := checkPlan(ctx, node, false); err != nil {
		return err
	}
	schema := node.Schema()
	if len(v.Columns) > 0 && len(v.Columns) != len(schema) {
		return sqlerr.New(1353, "HY000", "In definition of view, derived table or common table expression, SELECT list and column names list have different column counts")
	}
	seen := map[string]bool{}
	for i, col := range schema {
		name := col.Name
		if len(v.Columns) > 0 {
			name = v.Columns[i]
		}
		if seen[strings.ToLower(name)] {
			return sqlerr.New(1060, "42S21", "Duplicate column name '%s'", name)
		}
		seen[strings.ToLower(name)] = true
	}
	return nil
}

// dropViews removes views: all of those that exist, and then tells of those that do not.
func (c *conn) dropViews(ctx *sql.Context, d *sqlparser.DDL) error {
	var names, unknown []string
	for _, n := range d.FromViews {
		db := n.DbQualifier.String()
		if db == "" {
			db = ctx.GetCurrentDatabase()
		}
		name := n.Name.String()
		switch {
		case db == "":
			return sqlerr.ErrNoDatabase
		case !mayDo(ctx, auth.Delete, db, name):
			return errDenied(c.sess, "DROP", name)
		}
		if _, ok := c.s.o.Catalog.View(name); ok && strings.EqualFold(db, sqltable.KafkaDatabase) {
			names = append(names, name)
			continue
		}
		if _, topic := c.s.o.Store.Topics().ByName(name); topic && strings.EqualFold(db, sqltable.KafkaDatabase) {
			return sqlerr.New(1347, "HY000", "'%s.%s' is not VIEW", sqltable.KafkaDatabase, name)
		}
		unknown = append(unknown, db+"."+name)
	}
	for _, name := range names {
		if err := c.s.o.Catalog.DropView(ctx, name); err != nil && !errors.Is(err, catalog.ErrNoView) {
			return err
		}
	}
	if len(unknown) > 0 {
		err := sqlerr.UnknownTable(strings.Join(unknown, ","))
		if !d.IfExists {
			return err
		}
		ctx.Warn(1051, "%s", err.Error())
	}
	return nil
}

// shownView is the view that a SHOW is about, if it is one.
func (c *conn) shownView(ctx *sql.Context, s *sqlparser.Show) (catalog.View, bool) {
	db := s.Table.DbQualifier.String()
	if db == "" {
		db = s.Database
	}
	if db == "" {
		db = ctx.GetCurrentDatabase()
	}
	name := s.Table.Name.String()
	if !strings.EqualFold(db, sqltable.KafkaDatabase) || !maySee(ctx, db, name) {
		return catalog.View{}, false
	}
	return c.s.view(name)
}

// showCreateView answers SHOW CREATE VIEW, and SHOW CREATE TABLE of a view.
func (c *conn) showCreateView(ctx *sql.Context, s *sqlparser.Show) (*answer, error) {
	v, ok := c.shownView(ctx, s)
	if !ok {
		name := s.Table.Name.String()
		if _, topic := c.s.o.Store.Topics().ByName(name); topic && maySee(ctx, sqltable.KafkaDatabase, name) {
			return nil, sqlerr.New(1347, "HY000", "'%s.%s' is not VIEW", sqltable.KafkaDatabase, name)
		}
		return nil, sqlerr.NoTable(sqltable.KafkaDatabase, name)
	}
	schema := sql.Schema{textColumn("View"), textColumn("Create View"), textColumn("character_set_client"), textColumn("collation_connection")}
	return rows(schema, []sql.Row{{v.Name, createViewText(v), "utf8mb4", "utf8mb4_0900_bin"}}), nil
}

// createViewText is the statement that makes a view.
func createViewText(v catalog.View) string {
	columns := ""
	if len(v.Columns) > 0 {
		quoted := make([]string, len(v.Columns))
		for i, c := range v.Columns {
			quoted[i] = quotedName(c)
		}
		columns = " (" + strings.Join(quoted, ",") + ")"
	}
	return fmt.Sprintf("CREATE SQL SECURITY INVOKER VIEW %s%s AS %s", quotedName(v.Name), columns, v.Query)
}

// showViewColumns answers SHOW COLUMNS and DESCRIBE of a view.
func (c *conn) showViewColumns(ctx *sql.Context, s *sqlparser.Show, v catalog.View) (*answer, error) {
	cols, err := c.s.viewSchema(ctx, v.Name)
	if err != nil {
		return nil, err
	}
	var pattern string
	if s.ShowTablesOpt != nil && s.ShowTablesOpt.Filter != nil {
		if s.ShowTablesOpt.Filter.Filter != nil {
			return nil, sqlerr.Instead("SHOW COLUMNS … WHERE of a view", "Use LIKE, or information_schema.columns.")
		}
		pattern = s.ShowTablesOpt.Filter.Like
	}
	full := s.Full
	schema := sql.Schema{textColumn("Field"), textColumn("Type"), textColumn("Null"), textColumn("Key"), textColumn("Default"), textColumn("Extra")}
	if full {
		schema = sql.Schema{
			textColumn("Field"), textColumn("Type"), textColumn("Collation"), textColumn("Null"), textColumn("Key"), textColumn("Default"),
			textColumn("Extra"), textColumn("Privileges"), textColumn("Comment"),
		}
	}
	var out []sql.Row
	for _, col := range cols {
		if pattern != "" && !likeName(col.Name, pattern) {
			continue
		}
		typ, _, _ := strings.Cut(strings.ToLower(col.Type.String()), " character set ")
		typ, _, _ = strings.Cut(typ, " collate ")
		null := "NO"
		if col.Nullable {
			null = "YES"
		}
		if !full {
			out = append(out, sql.Row{col.Name, typ, null, "", nil, ""})
			continue
		}
		var collation any
		if t, ok := col.Type.(sql.TypeWithCollation); ok && types.IsTextOnly(col.Type) {
			collation = t.Collation().Name()
		}
		out = append(out, sql.Row{col.Name, typ, collation, null, "", nil, "", "select", col.Comment})
	}
	return rows(schema, out), nil
}

// likeName matches a name with a LIKE pattern, ignoring case as column names do.
func likeName(name, pattern string) bool {
	n, p := []rune(strings.ToLower(name)), []rune(strings.ToLower(pattern))
	// match[i] says whether the pattern so far matches the first i characters.
	match := make([]bool, len(n)+1)
	match[0] = true
	for k := 0; k < len(p); k++ {
		next := make([]bool, len(n)+1)
		switch {
		case p[k] == '%':
			any := false
			for i := range match {
				any = any || match[i]
				next[i] = any
			}
		default:
			literal := p[k]
			wild := literal == '_'
			if literal == '\\' && k+1 < len(p) {
				k++
				literal = p[k]
			}
			for i := range n {
				next[i+1] = match[i] && (wild || n[i] == literal)
			}
		}
		match = next
	}
	return match[len(n)]
}
