package mysql

import (
	"regexp"
	"strings"

	"millrace/server/mysql/rewrite"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// ownStatement is a statement that the parser does not know.
type ownStatement struct {
	sqlparser.Statement // nil: only to be one
	keepsWarnings       bool
	run                 func(c *conn, ctx *sql.Context, bindings map[string]sql.Expression) (*answer, error)
}

// ownForm is tried, on its first statement, when the parser has refused a text.
type ownForm struct {
	form *regexp.Regexp
	make func(m []string) *ownStatement
}

func newOwnForms() []ownForm {
	return append([]ownForm{
		{regexp.MustCompile(`(?is)^EXPLAIN\s+FORMAT\s*=\s*'?JSON'?\s+(.*)$`), func(m []string) *ownStatement {
			return &ownStatement{run: explainJSON(m[1])}
		}},
		{regexp.MustCompile(`(?is)^EXPLAIN\s+ANALYZE\s+FORMAT\s*=\s*'?TREE'?\s+(.*)$`), instead(func(m []string) string { return "EXPLAIN ANALYZE " + m[1] })},
		{regexp.MustCompile(`(?is)^SHOW\s+OPEN\s+TABLES\b.*$`), empty("Database", "Table", "In_use", "Name_locked")},
		{regexp.MustCompile(`(?is)^SHOW\s+ENGINE\s+\S+\s+(?:STATUS|MUTEX|LOGS)$`), empty("Type", "Name", "Status")},
		{regexp.MustCompile(`(?is)^SHOW\s+PROFILES$`), empty("Query_ID", "Duration", "Query")},
		{regexp.MustCompile(`(?is)^SHOW\s+(?:REPLICAS|SLAVE\s+HOSTS)$`), empty("Server_Id", "Host", "Port", "Source_Id", "Replica_UUID")},
		{regexp.MustCompile(`(?is)^SHOW\s+STORAGE\s+ENGINES$`), instead(func([]string) string { return "SHOW ENGINES" })},
		{odbcCatalog, instead(withoutAssignments)},
		{regexp.MustCompile(`(?is)^SHOW\s+FULL\s+(TRIGGERS\b.*)$`), instead(func(m []string) string { return "SHOW " + m[1] })},
		{regexp.MustCompile(`(?is)^SHOW\s+EXTENDED\s+(.*)$`), instead(func(m []string) string { return "SHOW " + m[1] })},
		{regexp.MustCompile("(?is)^(?:DESC|DESCRIBE|EXPLAIN)\\s+((?:`[^`]+`|[\\w$]+)(?:\\.(?:`[^`]+`|[\\w$]+))?)\\s+(?:'([^']*)'|`([^`]*)`|([\\w$%]+))$"), instead(func(m []string) string {
			return "SHOW COLUMNS FROM " + m[1] + " LIKE '" + strings.ReplaceAll(m[2]+m[3]+m[4], "'", "''") + "'"
		})},
		{regexp.MustCompile(`(?is)^((?:ALTER\s+TABLE|CREATE\s+INDEX)\b.*)$`), func(m []string) *ownStatement { return &ownStatement{run: alterTableForm(m[1])} }},
		{regexp.MustCompile(`(?is)^DO\s+(.*)$`), func(m []string) *ownStatement { return &ownStatement{run: doExpressions(m[1])} }},
	}, refusedForms()...)
}

// parseOwn recognises the first statement of text as one of ours.
func parseOwn(forms []ownForm, text string, multi bool) (stmt *ownStatement, first, rest string, ok bool) {
	first = strings.TrimSpace(text)
	if pieces, err := sqlparser.SplitStatementToPieces(text); err == nil && len(pieces) > 0 {
		if len(pieces) > 1 && !multi {
			return nil, "", "", false
		}
		first = strings.TrimSpace(pieces[0])
		if i := strings.Index(text, pieces[0]); i >= 0 {
			rest = strings.TrimLeft(text[i+len(pieces[0]):], "; \t\r\n")
		}
	}
	for strings.HasPrefix(first, "/*") && !strings.HasPrefix(first, "/*!") {
		i := strings.Index(first, "*/")
		if i < 0 {
			return nil, "", "", false
		}
		first = strings.TrimSpace(first[i+2:])
	}
	first = strings.TrimRight(first, "; \t\r\n")
	for _, f := range forms {
		if m := f.form.FindStringSubmatch(first); m != nil {
			return f.make(m), first, rest, true
		}
	}
	return nil, "", "", false
}

// empty answers with no rows.
func empty(names ...string) func([]string) *ownStatement {
	return func([]string) *ownStatement {
		return &ownStatement{run: func(*conn, *sql.Context, map[string]sql.Expression) (*answer, error) {
			var schema sql.Schema
			for _, n := range names {
				schema = append(schema, &sql.Column{Name: n, Type: types.LongText, Nullable: true})
			}
			return rows(schema, nil), nil
		}}
	}
}

// instead carries out another text.
func instead(text func(m []string) string) func([]string) *ownStatement {
	return func(m []string) *ownStatement {
		return &ownStatement{run: func(c *conn, ctx *sql.Context, bindings map[string]sql.Expression) (*answer, error) {
			t := text(m)
			stmt, err := sqlparser.Parse(t)
			if err != nil {
				return nil, sql.ErrSyntaxError.New(syntaxMessage(err))
			}
			if err := rewrite.CheckComplexity(stmt); err != nil {
				return nil, err
			}
			return c.execute(ctx, stmt, t, bindings)
		}}
	}
}

// doExpressions carries out DO: a SELECT whose rows nobody gets.
func doExpressions(list string) func(*conn, *sql.Context, map[string]sql.Expression) (*answer, error) {
	return func(c *conn, ctx *sql.Context, bindings map[string]sql.Expression) (*answer, error) {
		text := "SELECT " + list
		stmt, err := sqlparser.Parse(text)
		if err != nil {
			return nil, sql.ErrSyntaxError.New(syntaxMessage(err))
		}
		if err := rewrite.CheckComplexity(stmt); err != nil {
			return nil, err
		}
		a, err := c.execute(ctx, stmt, text, bindings)
		if err != nil {
			return nil, err
		}
		defer a.close(ctx)
		if a.schema == nil { // … INTO @variable
			return okAnswer(0), nil
		}
		if _, err := a.drain(ctx); err != nil {
			return nil, err
		}
		return okAnswer(0), nil
	}
}
