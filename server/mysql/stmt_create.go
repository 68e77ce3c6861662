package mysql

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"millrace/catalog"
	"millrace/catalog/sqltable"
	"millrace/internal/topicconfig"
	"millrace/server/auth"
	"millrace/server/mysql/sqlerr"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/google/uuid"
)

// createTable makes a topic of CREATE TABLE: columns are declarations, COMMENT has the topic's configs, PARTITION BY
// KEY(_key) PARTITIONS n its partitions. What SHOW CREATE TABLE shows is understood, system columns included.
func (c *conn) createTable(ctx *sql.Context, d *sqlparser.DDL) error {
	switch {
	case d.Temporary:
		return sqlerr.Instead("CREATE TEMPORARY TABLE", "Use a common table expression (WITH …).")
	case d.OptSelect != nil:
		return sqlerr.Instead("CREATE TABLE … SELECT", "Create the table, then INSERT … SELECT.")
	}
	db := d.Table.DbQualifier.String()
	if db == "" {
		db = ctx.GetCurrentDatabase()
	}
	name := d.Table.Name.String()
	switch {
	case db == "":
		return sqlerr.ErrNoDatabase
	case !strings.EqualFold(db, sqltable.KafkaDatabase):
		return errDBDenied(c.sess, db)
	case !mayDo(ctx, auth.Create, db, name) && !c.sess.allowed(auth.Create, auth.Resource{Type: auth.Cluster}):
		return errDenied(c.sess, "CREATE", name)
	case !state.ValidTopicName(name) || strings.HasPrefix(name, "__"):
		return sqlerr.New(1103, "42000", "Incorrect table name '%s'", name)
	}
	exists := sqlerr.New(1050, "42S01", "Table '%s' already exists", name)
	refuse := func() error {
		if !d.IfNotExists {
			return exists
		}
		ctx.Warn(1050, "%s", exists.Message)
		return nil
	}
	if _, ok := c.s.o.Store.Topics().ByName(name); ok {
		return refuse()
	}
	if _, ok := c.s.o.Catalog.View(name); ok {
		return refuse()
	}
	intent := state.CreateTopic{ID: uuid.New(), Name: name, Partitions: int32(c.s.o.DefaultPartitions)}
	var err error
	switch {
	case d.OptLike != nil:
		var like state.Topic
		if like, err = c.topic(ctx, d.OptLike.LikeTables[0], auth.Describe, "SELECT"); err == nil {
			intent.Partitions, intent.Configs = like.Partitions, like.Configs
		}
	case d.TableSpec == nil:
		err = sqlerr.New(1113, "42000", "A table must have at least 1 column")
	default:
		err = readTableSpec(d.TableSpec, &intent)
	}
	if err != nil {
		return err
	}
	if err := catalog.CheckConfigs(intent.Configs); err != nil {
		return configError(err)
	}
	res, err := c.s.o.Store.Commit(ctx, intent)
	if err != nil {
		return err
	}
	r, ok := res.(state.TopicResult)
	switch {
	case !ok:
		return fmt.Errorf("topic %s: unexpected answer %T", name, res)
	case errors.Is(r.Err, state.ErrTopicExists) && r.Topic.Name == name:
		return refuse()
	case errors.Is(r.Err, state.ErrTopicExists):
		return sqlerr.New(1050, "42S01", "Table '%s' already exists: the name collides with topic '%s'", name, r.Topic.Name)
	case errors.Is(r.Err, state.ErrInvalidPartitions), errors.Is(r.Err, state.ErrTooMany):
		return sqlerr.New(1499, "HY000", "Too many partitions (including subpartitions) were defined: %v", r.Err)
	}
	if r.Err == nil && d.TableSpec != nil {
		for _, x := range d.TableSpec.Indexes {
			if isPlainIndex(x) {
				noIndex(ctx, x.Info.Name.String())
			}
		}
	}
	return r.Err
}

// readTableSpec brings columns, options and partitions of a CREATE TABLE into intent.
func readTableSpec(spec *sqlparser.TableSpec, intent *state.CreateTopic) error {
	configs, err := tableOptions(spec.TableOpts)
	if err != nil {
		return err
	}
	var declared []string
	for _, def := range spec.Columns {
		text, own, err := declaration(def)
		if err != nil {
			return err
		}
		if own {
			declared = append(declared, text)
		}
	}
	for _, x := range spec.Indexes {
		if !isPlainIndex(x) && !(x.Info.Primary && isSystemKey(x.Columns)) {
			return sqlerr.Instead("primary and unique keys of a table", "The primary key is (_partition, _offset). "+hintIndex)
		}
		for _, k := range x.Columns {
			if k.Column.String() != "" && !slices.ContainsFunc(spec.Columns, func(d *sqlparser.ColumnDefinition) bool { return d.Name.Equal(k.Column) }) &&
				!slices.Contains(catalog.SystemColumns(), k.Column.Lowered()) {
				return noKeyColumn(k.Column.String())
			}
		}
	}
	if len(spec.Constraints) > 0 {
		return sqlerr.Instead("constraints", "A log takes every record; what does not fit a column is NULL with _error, or refused with millrace.on_error=reject.")
	}
	if len(declared) > 0 {
		cols, err := catalog.ParseColumns(strings.Join(declared, ", "))
		if err != nil {
			return columnsError(err)
		}
		configs[catalog.ConfigColumns] = catalog.FormatColumns(cols)
	}
	intent.Configs = configs
	if p := spec.PartitionOpt; p != nil {
		n, err := partitionCount(p)
		if err != nil {
			return err
		}
		if n > 0 {
			intent.Partitions = n
		}
	}
	return nil
}

// isSystemKey says whether a key is the one that every topic reports.
func isSystemKey(cols []*sqlparser.IndexColumn) bool {
	return len(cols) == 2 && cols[0].Column.EqualString(catalog.ColPartition) && cols[1].Column.EqualString(catalog.ColOffset)
}

// systemTypes are the types, as the parser names them, in which SHOW CREATE TABLE declares the system columns.
var systemTypes = map[string][]string{
	catalog.ColPartition: {"int", "integer"},
	catalog.ColOffset:    {"bigint"},
	catalog.ColTimestamp: {"timestamp", "datetime"},
	catalog.ColKey:       {"varchar", "longtext", "mediumtext", "text"},
	catalog.ColHeaders:   {"json"},
	catalog.ColValue:     {"longtext", "mediumtext", "text", "longblob"},
	catalog.ColError:     {"text", "longtext", "mediumtext"},
	catalog.ColRest:      {"json"},
}

// declaration is a column's definition as millrace.columns has it; own is false for system columns, which every
// table has.
func declaration(def *sqlparser.ColumnDefinition) (text string, own bool, err error) {
	name := def.Name.String()
	t := &def.Type
	if kinds, ok := systemTypes[strings.ToLower(name)]; ok {
		if !slices.Contains(kinds, strings.ToLower(t.Type)) || t.GeneratedExpr != nil {
			return "", false, sqlerr.New(1060, "42S21", "Duplicate column name '%s': it is a system column, of type %s", name, strings.ToUpper(kinds[0]))
		}
		return "", false, nil
	}
	refuse := func(what string) (string, bool, error) {
		return "", false, sqlerr.New(1235, "42000", "This version of Millrace doesn't yet support '%s of column %s'. %s", what, name, "Columns are read from records, which may lack them.")
	}
	switch {
	case bool(t.NotNull):
		return refuse("NOT NULL")
	case t.Default != nil && sqlparser.String(t.Default) != "null":
		return refuse("DEFAULT")
	case bool(t.Autoincrement):
		return refuse("AUTO_INCREMENT")
	case t.OnUpdate != nil:
		return refuse("ON UPDATE")
	case t.KeyOpt != 0:
		return refuse("a key")
	case t.ForeignKeyDef != nil || t.Constraint != nil:
		return refuse("a constraint")
	case bool(t.Stored):
		return refuse("STORED: write VIRTUAL, or nothing")
	case t.SRID != nil:
		return refuse("SRID")
	}
	var b strings.Builder
	b.WriteString(quotedName(name) + " " + t.Type)
	switch {
	case t.EnumValues != nil:
		quoted := make([]string, len(t.EnumValues))
		for i, v := range t.EnumValues {
			quoted[i] = quotedText(v)
		}
		b.WriteString("(" + strings.Join(quoted, ",") + ")")
	case t.Length != nil && t.Scale != nil:
		b.WriteString("(" + string(t.Length.Val) + "," + string(t.Scale.Val) + ")")
	case t.Length != nil:
		b.WriteString("(" + string(t.Length.Val) + ")")
	}
	if t.Unsigned {
		b.WriteString(" UNSIGNED")
	}
	if t.Zerofill {
		return refuse("ZEROFILL")
	}
	if t.Charset != "" {
		b.WriteString(" CHARACTER SET " + t.Charset)
	}
	if t.Collate != "" {
		b.WriteString(" COLLATE " + t.Collate)
	}
	if t.GeneratedExpr != nil {
		b.WriteString(" AS (" + sqlparser.String(t.GeneratedExpr) + ")")
	}
	if t.Comment != nil {
		b.WriteString(" COMMENT " + quotedText(string(t.Comment.Val)))
	}
	return b.String(), true, nil
}

func quotedName(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

func quotedText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''", "\x00", `\0`, "\n", `\n`, "\r", `\r`).Replace(s) + "'"
}

// tableOptions reads the options that stand behind the columns: COMMENT has topic configs, COLLATE is one, and the
// engine's name and character set are what dumps write.
func tableOptions(opts []*sqlparser.TableOption) (map[string]string, error) {
	configs := map[string]string{}
	for _, o := range opts {
		switch strings.ToUpper(o.Name) {
		case "ENGINE":
		case "CHARACTER SET", "CHARSET", "DEFAULT CHARACTER SET":
			if !strings.EqualFold(o.Value, "utf8mb4") {
				return nil, sqlerr.New(1115, "42000", "Unknown character set: '%s': text is utf8mb4", o.Value)
			}
		case "COLLATE", "DEFAULT COLLATE":
			switch strings.ToLower(o.Value) {
			case topicconfig.CollationBin:
			case topicconfig.CollationCaseInsensitive:
				configs[catalog.ConfigCollation] = topicconfig.CollationCaseInsensitive
			default:
				return nil, sqlerr.New(1273, "HY000", "Unknown collation: '%s': a topic has %s or %s", o.Value, topicconfig.CollationBin, topicconfig.CollationCaseInsensitive)
			}
		case "COMMENT":
			set, err := commentConfigs(o.Value)
			if err != nil {
				return nil, err
			}
			maps.Copy(configs, set)
		default:
			return nil, sqlerr.Instead("table option "+strings.ToUpper(o.Name), "Topic configs stand in COMMENT.")
		}
	}
	return configs, nil
}

// commentConfigs reads «name=value,name=value». A comma separates where a config's name and = follow it, so that
// values may hold commas themselves.
func commentConfigs(text string) (map[string]string, error) {
	configs := map[string]string{}
	last := ""
	for _, piece := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(piece, "=")
		name = strings.TrimSpace(name)
		if ok {
			if _, known := topicconfig.Lookup(name); known {
				if name == catalog.ConfigColumns {
					return nil, sqlerr.New(1210, "HY000", "Incorrect arguments to COMMENT: declare columns as columns, not as %s", catalog.ConfigColumns)
				}
				if _, twice := configs[name]; twice {
					return nil, sqlerr.New(1210, "HY000", "Incorrect arguments to COMMENT: %s stands twice", name)
				}
				configs[name] = strings.TrimSpace(value)
				last = name
				continue
			}
		}
		switch {
		case last != "" && !ok, last == configDropped:
			configs[last] += "," + piece
		case strings.TrimSpace(text) == "":
		case ok:
			return nil, sqlerr.New(1210, "HY000", "Incorrect arguments to COMMENT: Unknown topic config name: %s", name)
		default:
			return nil, sqlerr.New(1210, "HY000", "Incorrect arguments to COMMENT: a table's comment is the topic's configs, as in 'retention.ms=86400000,cleanup.policy=compact'")
		}
	}
	return configs, nil
}

// partitionCount reads PARTITION BY KEY(_key) PARTITIONS n; 0: it does not say how many.
func partitionCount(p *sqlparser.PartitionOption) (int32, error) {
	if !strings.EqualFold(p.PartitionType, "key") || p.IsLinear || p.SubPartition != nil || len(p.Definitions) > 0 || p.Expr != nil ||
		len(p.ColList) != 1 || !p.ColList[0].EqualString(catalog.ColKey) {
		return 0, sqlerr.Instead("this partitioning", "Records go to partitions by their key: write PARTITION BY KEY(_key) PARTITIONS n.")
	}
	if p.Partitions == nil {
		return 0, nil
	}
	n, ok := integer(p.Partitions, nil)
	switch {
	case !ok || n < 1:
		return 0, sqlerr.New(1504, "HY000", "Number of partitions = 0 is not an allowed value")
	case n > 1<<31-1:
		return 0, sqlerr.New(1499, "HY000", "Too many partitions (including subpartitions) were defined")
	}
	return int32(n), nil
}

// columnsError words a refused declaration: what cannot be read is a syntax error, what cannot be had is not supported.
func columnsError(err error) error {
	message := strings.TrimPrefix(err.Error(), catalog.ErrColumns.Error()+": ")
	switch {
	case strings.Contains(message, "the name is taken"):
		return sqlerr.New(1060, "42S21", "Duplicate column name: %s", message)
	case strings.Contains(message, "NOT NULL cannot be promised"), strings.Contains(message, "only COMMENT and AS"), strings.Contains(message, "is not supported"), strings.Contains(message, "no keys and constraints"):
		return sqlerr.Instead("this column", message)
	}
	return sqlerr.New(1064, "42000", "You have an error in your SQL syntax; %s", message)
}

// configError words a refused topic config.
func configError(err error) error {
	if bad := (*topicconfig.Error)(nil); errors.As(err, &bad) {
		return sqlerr.New(1210, "HY000", "Incorrect arguments to COMMENT: %v", bad)
	}
	if errors.Is(err, catalog.ErrColumns) {
		return columnsError(err)
	}
	return err
}
