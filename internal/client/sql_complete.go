package client

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"sync"
	"time"
)

// completionTimeout is how long Tab may wait for the server.
const completionTimeout = 700 * time.Millisecond

// namesAge is how long table and column names are believed.
const namesAge = 20 * time.Second

var sqlKeywords = strings.Fields(`SELECT FROM WHERE GROUP BY ORDER LIMIT HAVING JOIN LEFT RIGHT INNER ON AS AND OR NOT IN IS NULL LIKE
BETWEEN DISTINCT COUNT SUM AVG MIN MAX CASE WHEN THEN ELSE END UNION ALL WITH DESC ASC INSERT INTO VALUES CREATE TABLE DROP ALTER VIEW
SHOW TABLES DATABASES COLUMNS DESCRIBE EXPLAIN USE SET CALL PARTITION PARTITIONS INTERVAL CAST FROM_UNIXTIME DATE_FORMAT TUMBLE EXISTS OFFSET`)

// completer offers keywords, tables, and the columns of the tables that the statement names.
type completer struct {
	db      *sql.DB
	pending func() string // the statement's earlier lines

	mu      sync.Mutex
	tables  cachedNames
	columns map[string]cachedNames
}

type cachedNames struct {
	names []string
	at    time.Time
}

func newCompleter(db *sql.DB, pending func() string) *completer {
	return &completer{db: db, pending: pending, columns: map[string]cachedNames{}}
}

// Do implements readline's AutoCompleter: the endings that may follow line[:pos],
// and how many runes of it they complete.
func (c *completer) Do(line []rune, pos int) ([][]rune, int) {
	text := string(line[:pos])
	word, quoted := lastWord(text)
	var out [][]rune
	for _, cand := range c.candidates(c.pending()+" "+text, word, quoted) {
		out = append(out, []rune(cand))
	}
	return out, len([]rune(word))
}

// candidates are the endings that word may get.
func (c *completer) candidates(statement, word string, quoted bool) []string {
	ctx, cancel := context.WithTimeout(context.Background(), completionTimeout)
	defer cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tables = c.load(ctx, c.tables, "SHOW TABLES")
	names := slices.Clone(c.tables.names)
	onlyTables := afterTableWord(strings.TrimSuffix(strings.TrimSuffix(statement, word), "`"))
	if !onlyTables {
		names = append(names, c.columnsOf(ctx, statement)...)
	}
	slices.Sort(names)
	var out []string
	for _, n := range slices.Compact(names) {
		rest, ok := strings.CutPrefix(n, word)
		switch {
		case !ok || rest == "" && !quoted:
		case quoted:
			out = append(out, rest+"`")
		case plainName(n):
			out = append(out, rest+" ")
		case word == "":
			out = append(out, quoteName(n)+" ")
		}
	}
	if quoted || word == "" || onlyTables {
		return out
	}
	for _, k := range sqlKeywords {
		if rest, ok := strings.CutPrefix(k, strings.ToUpper(word)); ok && rest != "" {
			if word == strings.ToLower(word) {
				rest = strings.ToLower(rest)
			}
			out = append(out, rest+" ")
		}
	}
	return out
}

// columnsOf are the columns of the tables that the statement names, or, while it names
// none (SELECT comes before FROM), of all that were named before.
func (c *completer) columnsOf(ctx context.Context, statement string) (names []string) {
	for _, t := range c.tables.names {
		if strings.Contains(statement, t) {
			c.columns[t] = c.load(ctx, c.columns[t], "SHOW COLUMNS FROM "+quoteName(t))
			names = append(names, c.columns[t].names...)
		}
	}
	if names == nil {
		for _, n := range c.columns {
			names = append(names, n.names...)
		}
	}
	return names
}

// afterTableWord says whether a table's name comes next.
func afterTableWord(text string) bool {
	words := strings.Fields(text)
	if len(words) == 0 {
		return false
	}
	switch strings.ToUpper(words[len(words)-1]) {
	case "FROM", "JOIN", "INTO", "TABLE", "DESCRIBE", `\D`:
		return true
	}
	return false
}

// load asks the server for names, the first column of the answer, unless they are
// fresh. When that fails, the old ones have to do.
func (c *completer) load(ctx context.Context, old cachedNames, query string) cachedNames {
	if time.Since(old.at) < namesAge {
		return old
	}
	rows, err := c.db.QueryContext(ctx, query)
	if err != nil {
		return old
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil || len(cols) == 0 {
		return old
	}
	n := cachedNames{at: time.Now()}
	dest := make([]any, len(cols))
	var name string
	var rest sql.RawBytes
	dest[0] = &name
	for i := 1; i < len(dest); i++ {
		dest[i] = &rest
	}
	for rows.Next() {
		if rows.Scan(dest...) != nil {
			return old
		}
		n.names = append(n.names, name)
	}
	if rows.Err() != nil {
		return old
	}
	return n
}

// lastWord is the name being typed at the end of text, without its opening backtick.
func lastWord(text string) (word string, quoted bool) {
	if strings.Count(text, "`")%2 == 1 {
		return text[strings.LastIndexByte(text, '`')+1:], true
	}
	i := strings.LastIndexFunc(text, func(r rune) bool { return !nameRune(r) })
	return text[i+1:], false
}

func nameRune(r rune) bool {
	return r == '_' || r == '$' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
}

// plainName needs no backticks.
func plainName(n string) bool {
	if n == "" || n[0] >= '0' && n[0] <= '9' || slices.Contains(sqlKeywords, strings.ToUpper(n)) {
		return false
	}
	return !strings.ContainsFunc(n, func(r rune) bool { return !nameRune(r) })
}

func quoteName(n string) string { return "`" + strings.ReplaceAll(n, "`", "``") + "`" }
