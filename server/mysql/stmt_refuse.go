package mysql

import (
	"regexp"
	"strings"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// What this version does not carry out is refused with the way that there is.
const (
	hintCreateTable = "Create the topic with `millrace topic create` or Kafka's CreateTopics (the topic config millrace.columns declares columns); it is a table at once."
	hintIndex       = "Topics are read by partition, offset and timestamp without one."
	hintDatabase    = "Every topic is a table of database kafka; there are no others to create or drop."
	hintProgram     = "There are no stored programs: run them in a client."
	hintRename      = "Topics keep their name, as in Kafka."
	hintMaintain    = "Tables need no maintenance."
)

// ddlError is for statements about tables, views, indexes and stored programs.
func ddlError(d *sqlparser.DDL) error {
	action := strings.ToUpper(d.Action)
	switch {
	case d.TriggerSpec != nil:
		return sqlerr.Instead(action+" TRIGGER", hintProgram)
	case d.ProcedureSpec != nil:
		return sqlerr.Instead(action+" PROCEDURE", hintProgram)
	case d.EventSpec != nil:
		return sqlerr.Instead(action+" EVENT", hintProgram)
	case d.IndexSpec != nil:
		return sqlerr.Instead(action+" INDEX", hintIndex)
	case strings.EqualFold(d.Action, sqlparser.RenameStr):
		return sqlerr.Instead("RENAME TABLE", hintRename)
	case d.Temporary:
		return sqlerr.Instead("CREATE TEMPORARY TABLE", "Use a common table expression (WITH …).")
	case d.OptSelect != nil:
		return sqlerr.Instead("CREATE TABLE … SELECT", hintCreateTable)
	case strings.EqualFold(d.Action, sqlparser.CreateStr):
		return sqlerr.Instead("CREATE TABLE", hintCreateTable)
	default:
		return sqlerr.Unsupported(kindOf(d))
	}
}

func databaseError(d *sqlparser.DBDDL) error {
	return sqlerr.Instead(strings.ToUpper(d.Action)+" DATABASE", hintDatabase)
}

// analyzeTable answers ANALYZE TABLE, which tools send: statistics are always those of the moment.
func (c *conn) analyzeTable(ctx *sql.Context, a *sqlparser.Analyze) (*answer, error) {
	var out []sql.Row
	for _, name := range a.Tables {
		db := name.DbQualifier.String()
		if db == "" {
			db = ctx.GetCurrentDatabase()
		}
		if _, err := c.s.engine.table(ctx, db, name.Name.String()); err != nil {
			return nil, err
		}
		out = append(out, sql.Row{db + "." + name.Name.String(), "analyze", "status", "OK"})
	}
	return rows(sql.Schema{textColumn("Table"), textColumn("Op"), textColumn("Msg_type"), textColumn("Msg_text")}, out), nil
}

// refusedForms are statements that the parser does not know either.
func refusedForms() []ownForm {
	refuse := func(form, what, hint string) ownForm {
		return ownForm{regexp.MustCompile(`(?is)^` + form + `\b.*$`), func([]string) *ownStatement {
			return &ownStatement{run: func(*conn, *sql.Context, map[string]sql.Expression) (*answer, error) {
				return nil, sqlerr.Instead(what, hint)
			}}
		}}
	}
	return []ownForm{
		refuse(`CREATE\s+(?:AGGREGATE\s+)?FUNCTION`, "CREATE FUNCTION", hintProgram),
		refuse(`OPTIMIZE\s+(?:LOCAL\s+|NO_WRITE_TO_BINLOG\s+)?TABLES?`, "OPTIMIZE TABLE", hintMaintain),
		refuse(`REPAIR\s+(?:LOCAL\s+|NO_WRITE_TO_BINLOG\s+)?TABLES?`, "REPAIR TABLE", "Run `millrace verify` on the stopped server's data directory."),
		refuse(`CHECK\s+TABLES?`, "CHECK TABLE", "Run `millrace verify` on the stopped server's data directory."),
		refuse(`CHECKSUM\s+TABLES?`, "CHECKSUM TABLE", "Run `millrace verify` on the stopped server's data directory."),
		refuse(`HANDLER`, "HANDLER", "Use SELECT."),
		refuse(`HELP`, "HELP", "See the manual."),
		refuse(`(?:XA|INSTALL|UNINSTALL|CLONE|RESTART|SHUTDOWN|BINLOG|CACHE\s+INDEX|IMPORT\s+TABLE)`, "this statement", "It belongs to MySQL's own server."),
	}
}
