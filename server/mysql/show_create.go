package mysql

import (
	"fmt"
	"strings"

	"millrace/blobexpand"
	"millrace/catalog"
	"millrace/catalog/sqltable"
	"millrace/internal/topicconfig"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// showCreateTable answers SHOW CREATE TABLE for a topic; nil: it is none. The statement that it shows makes a
// topic of the same columns, configs and partitions. Inferred columns are among them, so that the new table has them
// before its first record; there they are declared.
func (c *conn) showCreateTable(ctx *sql.Context, s *sqlparser.Show) (*answer, error) {
	db := s.Table.DbQualifier.String()
	if db == "" {
		db = s.Database
	}
	if db == "" {
		db = ctx.GetCurrentDatabase()
	}
	name := s.Table.Name.String()
	if !strings.EqualFold(db, sqltable.KafkaDatabase) || strings.Contains(name, "$") {
		return nil, nil
	}
	t, err := c.s.engine.table(ctx, db, name)
	if err != nil {
		return nil, err
	}
	topic, ok := underlying(t).(*sqltable.Table)
	if !ok {
		return nil, nil
	}
	return rows(sql.Schema{textColumn("Table"), textColumn("Create Table")}, []sql.Row{{name, createText(topic)}}), nil
}

func createText(t *sqltable.Table) string {
	bound := t.Bound()
	longKey := "varchar(16383)"
	if bound.LongKey {
		longKey = "longtext"
	}
	const invisible = " /*!80023 INVISIBLE */"
	lines := []string{
		quotedName(catalog.ColPartition) + " int NOT NULL",
		quotedName(catalog.ColOffset) + " bigint NOT NULL",
		quotedName(catalog.ColTimestamp) + " timestamp(3) NULL DEFAULT NULL",
		quotedName(catalog.ColKey) + " " + longKey + " DEFAULT NULL",
		quotedName(catalog.ColHeaders) + " json DEFAULT NULL" + invisible,
		quotedName(catalog.ColValue) + " longtext" + invisible,
		quotedName(catalog.ColError) + " text" + invisible,
	}
	for _, col := range bound.Expanded {
		col.Field = 0
		line := columnText(col)
		if !col.Declared {
			line += " /* inferred */"
		}
		lines = append(lines, line)
	}
	if bound.Rest {
		lines = append(lines, quotedName(catalog.ColRest)+" json DEFAULT NULL"+invisible)
	}
	lines = append(lines, "PRIMARY KEY (`_partition`,`_offset`)")
	collation := bound.Config.Collation
	if collation == "" {
		collation = topicconfig.CollationBin
	}
	text := fmt.Sprintf("CREATE TABLE %s (\n  %s\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=%s", quotedName(bound.Topic.Name), strings.Join(lines, ",\n  "), collation)
	if comment := catalog.ConfigsText(bound.Topic.Configs); comment != "" {
		text += " COMMENT=" + quotedText(comment)
	}
	return text + fmt.Sprintf("\n/*!50100 PARTITION BY KEY (`_key`)\nPARTITIONS %d */", bound.Topic.Partitions)
}

// columnText is one column in the words of MySQL's SHOW CREATE TABLE, which SQLAlchemy reads.
func columnText(c blobexpand.Column) string {
	typ := c.Type.String()
	if c.Type.Enum != nil {
		typ = "enum" + strings.TrimPrefix(typ, "ENUM")
	} else {
		typ = strings.ToLower(typ)
	}
	s := quotedName(c.Name) + " " + typ
	switch from := catalog.GeneratedFrom(c); {
	case from != "":
		s += " GENERATED ALWAYS AS (" + from + ") VIRTUAL"
	case c.Type.Kind == blobexpand.Timestamp:
		s += " NULL DEFAULT NULL"
	default:
		s += " DEFAULT NULL"
	}
	if c.Comment != "" {
		s += " COMMENT " + quotedText(c.Comment)
	}
	return s
}
