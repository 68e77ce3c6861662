package mysql

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"millrace/blobexpand"
	"millrace/catalog"
	"millrace/catalog/sqltable"
	"millrace/internal/topicconfig"
	"millrace/server/auth"
	"millrace/server/mysql/rowrecord"
	"millrace/server/mysql/sqlerr"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
	tidb "github.com/pingcap/tidb/pkg/parser/mysql"
)

// configDropped is the topic config that keeps what DROP COLUMN dropped of inferred columns.
const configDropped = "millrace.columns.dropped"

// alterTable carries out ALTER TABLE (and CREATE INDEX, which the engine takes for one), which changes a topic's configs: at once, and for its history, since columns are
// derived from the stored values. The engine's parser drops table options, so the other one reads the statement.
func (c *conn) alterTable(ctx *sql.Context, text string) error {
	parsed, err := c.parseAlter(text)
	if err != nil {
		return err
	}
	var stmt *ast.AlterTableStmt
	switch s := parsed.(type) {
	case *ast.AlterTableStmt:
		stmt = s
	case *ast.CreateIndexStmt: // as the engine's parser has it, that alters a table
		return c.createIndex(ctx, s)
	case *ast.DropIndexStmt:
		return sqlerr.Instead("DROP INDEX", hintIndex)
	default:
		return sqlerr.Unsupported("ALTER in this form")
	}
	topic, err := c.topic(ctx, tableName(stmt.Table), auth.Alter, "ALTER")
	if err != nil {
		return err
	}
	if !mayAlter(ctx, topic.Name) {
		return errDenied(c.sess, "ALTER", topic.Name)
	}
	for range maxAlterAttempts {
		done, err := c.alterOnce(ctx, topic.Name, stmt)
		if err != nil {
			return err
		}
		if done {
			for _, s := range stmt.Specs {
				if s.Tp == ast.AlterTableAddConstraint {
					noIndex(ctx, s.Constraint.Name)
				}
			}
			return nil
		}
	}
	return sqlerr.New(1205, "HY000", "Lock wait timeout exceeded: the topic's configs change again and again")
}

// alterTableForm carries out forms of ALTER TABLE and CREATE INDEX that only one of the two parsers knows.
func alterTableForm(text string) func(*conn, *sql.Context, map[string]sql.Expression) (*answer, error) {
	return func(c *conn, ctx *sql.Context, _ map[string]sql.Expression) (*answer, error) {
		if err := c.change(); err != nil {
			return nil, err
		}
		return okAnswer(0), c.alterTable(ctx, text)
	}
}

// maxAlterAttempts bounds how often a change is tried again because another one came first; each of those made progress.
const maxAlterAttempts = 100

func (c *conn) parseAlter(text string) (ast.StmtNode, error) {
	p := parser.New()
	if v, err := c.sess.GetSessionVariable(nil, sql.SqlModeSessionVar); err == nil {
		if m, ok := v.(string); ok && sql.NewSqlModeFromString(m).ParserOptions().AnsiQuotes {
			p.SetSQLMode(tidb.ModeANSIQuotes)
		}
	}
	stmts, _, err := p.Parse(text, "", "")
	if err != nil {
		return nil, sql.ErrSyntaxError.New(syntaxMessage(err))
	}
	if len(stmts) != 1 {
		return nil, sqlerr.ErrNoMultiple
	}
	return stmts[0], nil
}

// alterOnce tries the change on the topic as it is; done is false if another change came first.
func (c *conn) alterOnce(ctx *sql.Context, name string, stmt *ast.AlterTableStmt) (done bool, err error) {
	snapshot := c.s.o.Provider.NewStatement(nil)
	defer snapshot.Release()
	table, err := snapshot.Bind(ctx, name)
	if errors.Is(err, state.ErrUnknownTopic) {
		return false, sqlerr.NoTable(sqltable.KafkaDatabase, name)
	}
	if err != nil {
		return false, err
	}
	a, err := newAlteration(table)
	if err != nil {
		return false, err
	}
	for _, spec := range stmt.Specs {
		if err := a.apply(spec); err != nil {
			return false, err
		}
	}
	configs, err := a.result()
	if err != nil {
		return false, err
	}
	if a.partitions > 0 {
		if !maps.Equal(configs, table.Topic.Configs) {
			return false, sqlerr.Instead("partitions and columns in one ALTER TABLE", "Use two statements.")
		}
		return true, c.addPartitions(ctx, table.Topic, a.partitions)
	}
	if maps.Equal(configs, table.Topic.Configs) {
		return true, nil
	}
	res, err := c.s.o.Store.Commit(ctx, state.SetTopicConfigs{ID: table.Topic.ID, ExpectVersion: table.Topic.ConfigVersion, Configs: configs})
	if err != nil {
		return false, err
	}
	r, ok := res.(state.TopicResult)
	switch {
	case !ok:
		return false, fmt.Errorf("topic %s: unexpected answer %T", name, res)
	case errors.Is(r.Err, state.ErrVersionMismatch):
		return false, nil
	}
	return true, r.Err
}

func (c *conn) addPartitions(ctx *sql.Context, t state.Topic, count int64) error {
	if count <= int64(t.Partitions) {
		return sqlerr.New(1508, "HY000", "Cannot remove all partitions, use DROP TABLE instead: topic %s has %d partitions, which can only become more", t.Name, t.Partitions)
	}
	if count > 1<<31-1 {
		return sqlerr.New(1499, "HY000", "Too many partitions (including subpartitions) were defined")
	}
	res, err := c.s.o.Store.Commit(ctx, state.CreatePartitions{ID: t.ID, Count: int32(count)})
	if err != nil {
		return err
	}
	r, ok := res.(state.TopicResult)
	switch {
	case !ok:
		return fmt.Errorf("topic %s: unexpected answer %T", t.Name, res)
	case errors.Is(r.Err, state.ErrInvalidPartitions), errors.Is(r.Err, state.ErrTooMany):
		return sqlerr.New(1499, "HY000", "Too many partitions (including subpartitions) were defined: %v", r.Err)
	}
	return r.Err
}

// alteration is a topic's configs while an ALTER TABLE changes them.
type alteration struct {
	table      *catalog.Table
	columns    []blobexpand.Column // declared
	inferred   []blobexpand.Column
	dropped    [][]string
	configs    map[string]string
	partitions int64 // wanted; 0: as they are
}

func newAlteration(t *catalog.Table) (*alteration, error) {
	a := &alteration{table: t, configs: maps.Clone(t.Topic.Configs)}
	if a.configs == nil {
		a.configs = map[string]string{}
	}
	var err error
	// Not those of the table: of a CSV topic they have fields, and with millrace.expand=off there are none.
	if a.columns, err = catalog.ParseColumns(t.Config.Columns); err != nil {
		return nil, err
	}
	if a.dropped, err = catalog.ParseDropped(t.Config.ColumnsDropped); err != nil {
		return nil, err
	}
	for _, c := range t.Expanded {
		if !c.Declared && c.Field == 0 && !slices.ContainsFunc(a.columns, func(d blobexpand.Column) bool { return slices.Equal(d.Path, c.Path) }) {
			a.inferred = append(a.inferred, c)
		}
	}
	return a, nil
}

// result is the configs as the statement leaves them.
func (a *alteration) result() (map[string]string, error) {
	set := func(name, value string) {
		if value == "" {
			delete(a.configs, name)
			return
		}
		a.configs[name] = value
	}
	if before, err := catalog.ParseColumns(a.table.Config.Columns); err != nil || catalog.FormatColumns(before) != catalog.FormatColumns(a.columns) {
		set(catalog.ConfigColumns, catalog.FormatColumns(a.columns))
	}
	set(configDropped, catalog.FormatDropped(a.dropped))
	if err := catalog.CheckConfigs(a.configs); err != nil {
		return nil, configError(err)
	}
	return a.configs, nil
}

func (a *alteration) apply(s *ast.AlterTableSpec) error {
	switch s.Tp {
	case ast.AlterTableAddColumns:
		if len(s.NewConstraints) > 0 {
			return sqlerr.Instead("ALTER TABLE … ADD CONSTRAINT", hintIndex)
		}
		for _, def := range s.NewColumns {
			if err := a.add(def, s.Position, s.IfNotExists); err != nil {
				return err
			}
		}
		return nil
	case ast.AlterTableDropColumn:
		return a.drop(s.OldColumnName.Name.O, s.IfExists)
	case ast.AlterTableModifyColumn:
		return a.modify(s.NewColumns[0].Name.Name.O, s.NewColumns[0], s.Position, s.IfExists)
	case ast.AlterTableChangeColumn:
		return a.modify(s.OldColumnName.Name.O, s.NewColumns[0], s.Position, s.IfExists)
	case ast.AlterTableRenameColumn:
		return a.rename(s.OldColumnName.Name.O, s.NewColumnName.Name.O)
	case ast.AlterTableOption:
		return a.options(s.Options)
	case ast.AlterTableLock, ast.AlterTableAlgorithm, ast.AlterTableForce:
		return nil // it is always instant
	case ast.AlterTablePartition:
		if s.Partition == nil || s.Partition.Tp != ast.PartitionTypeKey || s.Partition.Linear || s.Partition.Sub != nil || len(s.Partition.Definitions) > 0 ||
			len(s.Partition.ColumnNames) != 1 || s.Partition.ColumnNames[0].Name.L != catalog.ColKey || s.Partition.Num == 0 {
			return sqlerr.Instead("this partitioning", "Records go to partitions by their key: write PARTITION BY KEY(_key) PARTITIONS n.")
		}
		a.partitions = int64(min(s.Partition.Num, 1<<40))
		return nil
	case ast.AlterTableAddPartitions:
		if s.Num == 0 {
			return sqlerr.Instead("ADD PARTITION in this form", "Write ADD PARTITION PARTITIONS n.")
		}
		a.partitions = int64(a.table.Topic.Partitions) + int64(min(s.Num, 1<<40))
		return nil
	case ast.AlterTableRenameTable:
		return sqlerr.Instead("ALTER TABLE … RENAME", hintRename)
	case ast.AlterTableAddConstraint:
		if !isIndex(s.Constraint) {
			return sqlerr.Instead("ALTER TABLE … ADD CONSTRAINT", hintIndex)
		}
		return checkKey(s.Constraint.Keys, a.columns, a.inferred)
	case ast.AlterTableDropIndex, ast.AlterTableDropPrimaryKey, ast.AlterTableDropForeignKey, ast.AlterTableRenameIndex:
		return sqlerr.Instead("ALTER TABLE … INDEX", hintIndex)
	case ast.AlterTableCoalescePartitions, ast.AlterTableDropPartition, ast.AlterTableRemovePartitioning, ast.AlterTableReorganizePartition:
		return sqlerr.Instead("fewer partitions", "A topic's partitions can only become more.")
	default:
		return sqlerr.Instead("ALTER TABLE in this form", "ADD, MODIFY, CHANGE, RENAME and DROP COLUMN, COMMENT, COLLATE and PARTITION BY KEY(_key) PARTITIONS n change a topic.")
	}
}

func (a *alteration) declaredAt(name string) int {
	return slices.IndexFunc(a.columns, func(c blobexpand.Column) bool { return strings.EqualFold(c.Name, name) })
}

func (a *alteration) inferredAt(name string) int {
	return slices.IndexFunc(a.inferred, func(c blobexpand.Column) bool { return strings.EqualFold(c.Name, name) })
}

// free says why a new column cannot have a name.
func (a *alteration) free(name string) error {
	switch {
	case rowrecord.IsSystemColumn(name), a.declaredAt(name) >= 0:
		return sqlerr.New(1060, "42S21", "Duplicate column name '%s'", name)
	case a.inferredAt(name) >= 0:
		return sqlerr.New(1060, "42S21", "Duplicate column name '%s': it is inferred from the values; MODIFY COLUMN declares its type", name)
	}
	return nil
}

func (a *alteration) unknown(name, clause string) error {
	if rowrecord.IsSystemColumn(name) {
		return sqlerr.Instead("ALTER TABLE of the system column "+name, "Every topic has the same.")
	}
	if clause == "DROP" {
		return sqlerr.New(1091, "42000", "Can't DROP '%s'; check that column/key exists", name)
	}
	return sqlerr.New(1054, "42S22", "Unknown column '%s' in '%s'", name, a.table.Topic.Name)
}

// definition reads one column.
func definition(def *ast.ColumnDef) (c blobexpand.Column, generated bool, err error) {
	for _, o := range def.Options {
		generated = generated || o.Tp == ast.ColumnOptionGenerated
	}
	var b strings.Builder
	flags := format.DefaultRestoreFlags | format.RestoreStringWithoutCharset | format.RestoreStringEscapeBackslash
	if err := def.Restore(format.NewRestoreCtx(flags, &b)); err != nil {
		return c, false, err
	}
	cols, err := catalog.ParseColumns(b.String())
	if err != nil {
		return c, false, columnsError(err)
	}
	if len(cols) != 1 {
		return c, false, sqlerr.Unsupported("this column definition")
	}
	return cols[0], generated, nil
}

func (a *alteration) add(def *ast.ColumnDef, at *ast.ColumnPosition, ifNotExists bool) error {
	name := def.Name.Name.O
	if err := a.free(name); err != nil {
		if ifNotExists {
			return nil
		}
		return err
	}
	c, _, err := definition(def)
	if err != nil {
		return err
	}
	a.undrop(c.Path)
	a.columns = append(a.columns, c)
	return a.move(len(a.columns)-1, at)
}

// shifts refuses what would make columns of a CSV topic read the fields of others.
func (a *alteration) shifts(clause string) error {
	if a.table.Config.ValueFormat != topicconfig.FormatCSV {
		return nil
	}
	return sqlerr.Instead(clause+" in a CSV topic", "Columns are the fields in their order, in all of the history: new ones come last, and only the last can be dropped.")
}

// move puts a declared column where FIRST or AFTER says: among the declared ones, which come before the inferred.
func (a *alteration) move(from int, at *ast.ColumnPosition) error {
	if at == nil || at.Tp == ast.ColumnPositionNone {
		return nil
	}
	c := a.columns[from]
	rest := slices.Delete(slices.Clone(a.columns), from, from+1)
	to := 0
	if at.Tp == ast.ColumnPositionAfter {
		name := at.RelativeColumn.Name.O
		to = slices.IndexFunc(rest, func(d blobexpand.Column) bool { return strings.EqualFold(d.Name, name) }) + 1
		if to == 0 && !rowrecord.IsSystemColumn(name) {
			if a.inferredAt(name) >= 0 {
				return sqlerr.Instead("AFTER an inferred column", "Declared columns come before those that are inferred.")
			}
			return a.unknown(name, "AFTER")
		}
	}
	if to != from {
		if err := a.shifts("ALTER TABLE … FIRST or AFTER"); err != nil {
			return err
		}
	}
	a.columns = slices.Insert(rest, to, c)
	return nil
}

// modify gives a column another type, and name. Without AS it goes on reading what it has read.
func (a *alteration) modify(name string, def *ast.ColumnDef, at *ast.ColumnPosition, ifExists bool) error {
	i, j := a.declaredAt(name), a.inferredAt(name)
	if i < 0 && j < 0 {
		if ifExists {
			return nil
		}
		return a.unknown(name, "MODIFY")
	}
	if next := def.Name.Name.O; !strings.EqualFold(next, name) {
		if err := a.free(next); err != nil {
			return err
		}
	}
	c, generated, err := definition(def)
	if err != nil {
		return err
	}
	if i < 0 {
		if !generated {
			c.Path = a.inferred[j].Path
		}
		a.inferred = slices.Delete(a.inferred, j, j+1)
		a.columns = append(a.columns, c)
		return a.move(len(a.columns)-1, at)
	}
	if !generated {
		c.Path = a.columns[i].Path
		if c.Type.Kind == blobexpand.DateTime || c.Type.Kind == blobexpand.Timestamp {
			c.Type.Epoch = a.columns[i].Type.Epoch
		}
	}
	a.columns[i] = c
	return a.move(i, at)
}

// rename gives a column another name; an inferred one is declared by it, with its present type.
func (a *alteration) rename(from, to string) error {
	i, j := a.declaredAt(from), a.inferredAt(from)
	if i < 0 && j < 0 {
		return a.unknown(from, "RENAME")
	}
	if !strings.EqualFold(from, to) {
		if err := a.free(to); err != nil {
			return err
		}
	}
	if i >= 0 {
		a.columns[i].Name = to
		return nil
	}
	c := a.inferred[j]
	c.Name, c.Declared = to, true
	a.inferred = slices.Delete(a.inferred, j, j+1)
	a.columns = append(a.columns, c)
	return nil
}

// drop removes a declaration, and keeps inference from making a column of its path.
func (a *alteration) drop(name string, ifExists bool) error {
	i, j := a.declaredAt(name), a.inferredAt(name)
	var path []string
	switch {
	case i >= 0:
		if i != len(a.columns)-1 {
			if err := a.shifts("DROP COLUMN of another column than the last"); err != nil {
				return err
			}
		}
		path = a.columns[i].Path
		a.columns = slices.Delete(a.columns, i, i+1)
	case j >= 0:
		path = a.inferred[j].Path
		a.inferred = slices.Delete(a.inferred, j, j+1)
	case ifExists:
		return nil
	default:
		return a.unknown(name, "DROP")
	}
	if a.table.Config.ValueFormat == topicconfig.FormatJSON && !slices.ContainsFunc(a.dropped, func(p []string) bool { return slices.Equal(p, path) }) {
		a.dropped = append(a.dropped, path)
	}
	return nil
}

func (a *alteration) undrop(path []string) {
	a.dropped = slices.DeleteFunc(a.dropped, func(p []string) bool { return slices.Equal(p, path) })
}

// options replaces the configs by those of COMMENT, as MySQL replaces a comment; columns and collation are not in it.
func (a *alteration) options(opts []*ast.TableOption) error {
	for _, o := range opts {
		switch o.Tp {
		case ast.TableOptionComment:
			set, err := commentConfigs(o.StrValue)
			if err != nil {
				return err
			}
			for _, keep := range []string{catalog.ConfigColumns, catalog.ConfigCollation} {
				if v, ok := a.configs[keep]; ok {
					if _, given := set[keep]; !given {
						set[keep] = v
					}
				}
			}
			a.configs = set
			if text, ok := set[configDropped]; ok {
				if a.dropped, err = catalog.ParseDropped(text); err != nil {
					return configError(err)
				}
			}
		case ast.TableOptionCollate:
			set, err := tableOptions([]*sqlparser.TableOption{{Name: "COLLATE", Value: o.StrValue}})
			if err != nil {
				return err
			}
			delete(a.configs, catalog.ConfigCollation)
			maps.Copy(a.configs, set)
		case ast.TableOptionCharset, ast.TableOptionEngine:
		default:
			return sqlerr.Instead("this table option", "Topic configs stand in COMMENT.")
		}
	}
	return nil
}
