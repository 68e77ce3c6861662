package client

import (
	"cmp"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reeflective/readline"
)

// completionTimeout is how long Tab may wait for the server.
const completionTimeout = 700 * time.Millisecond

// namesAge is how long table and column names are believed.
const namesAge = 20 * time.Second

// maxCandidates bounds the menu.
const maxCandidates = 500

// candidate is what a word may become. Names are without their backticks.
type candidate struct {
	text string
	name bool
	what string // shown behind it: a column's type, "table", …
}

// listedName is a name as the server lists it, with what it says of it.
type listedName struct{ name, what string }

// completer offers keywords, functions, databases, tables, and the columns of the tables that
// the statement names. It asks the server by connections beside the session's.
type completer struct {
	session *session

	mu    sync.Mutex
	names map[string]cachedNames // by the statement that lists them
}

type cachedNames struct {
	names []listedName
	at    time.Time
}

func newCompleter(se *session) *completer {
	return &completer{session: se, names: map[string]cachedNames{}}
}

// completions are what readline shows. A name that needs backticks gets them: if all that is offered
// are names, the first one is put before what was typed.
func (c *completer) completions(rl *readline.Shell, line []rune, cursor int) readline.Completions {
	text := string(line)
	pos := len(string(line[:cursor]))
	cands, word, quoted := c.candidates(text, pos)
	if len(cands) == 0 {
		return readline.Completions{}
	}
	if len(cands) > maxCandidates || !ascii(word) { // readline counts a prefix in bytes
		return readline.CompleteMessage("%s: type the beginning", plural(int64(len(cands)), "name"))
	}
	onlyNames := !slices.ContainsFunc(cands, func(c candidate) bool { return !c.name })
	quote := quoted || word != "" && onlyNames && slices.ContainsFunc(cands, func(c candidate) bool { return !plainName(c.text) })
	prefix := word
	switch {
	case quoted:
		prefix = "`" + word
	case quote:
		rl.Line().Insert(cursor-len([]rune(word)), '`')
		rl.Cursor().Inc()
		prefix = "`" + word
	}
	// Readline takes all up to the blank before for the word, unless it is told of one.
	glued := ""
	if prefix == "" {
		glued = text[strings.LastIndexAny(text[:pos], " \t\n")+1 : pos]
		if !ascii(glued) {
			return readline.CompleteMessage("type the beginning")
		}
	}
	var values []readline.Completion
	for _, cand := range cands {
		v := readline.Completion{Value: cand.text, Display: cand.text, Description: cand.what}
		switch {
		case cand.name && quote:
			v.Value = quoteName(cand.text)
		case cand.name && word == "":
			v.Value = nameAsNeeded(cand.text)
		case cand.name && !plainName(cand.text):
			continue
		}
		v.Value = glued + v.Value
		values = append(values, v)
	}
	if behind := text[pos:]; len(values) == 1 && (behind == "" || nameRune(rune(behind[0]))) && !strings.HasSuffix(values[0].Value, "(") && !strings.HasSuffix(values[0].Value, "/") {
		values[0].Value += " "
	}
	out := readline.CompleteRaw(values).NoSort()
	out.PREFIX = prefix + glued
	return out
}

func ascii(s string) bool { return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 }) }

// candidates are what the word that ends at pos may become, best first; quoted says that its
// backtick is there already.
func (c *completer) candidates(text string, pos int) (out []candidate, word string, quoted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), completionTimeout)
	defer cancel()
	line := text[strings.LastIndexByte(text[:pos], '\n')+1 : pos]
	if trimmed := strings.TrimLeft(line, " \t"); strings.HasPrefix(trimmed, `\`) || strings.HasPrefix(strings.ToLower(trimmed), "source ") {
		return c.ofCommand(ctx, trimmed)
	}
	statement, begin := statementAround(text, pos)
	before, unfinished := tokens(statement[:pos-begin])
	if unfinished {
		return nil, "", false
	}
	if n := len(before); n > 0 && before[n-1].end == pos-begin && before[n-1].word() {
		last := before[n-1]
		if last.quoted && strings.HasSuffix(statement[:last.end], "`") && last.end-last.begin > 1 {
			return nil, "", false // complete
		}
		word, quoted = last.text, last.quoted
		before = before[:n-1]
	}
	behind := statement[pos-begin:]
	if strings.Count(behind, "`")%2 == 1 { // what is being typed has its second backtick
		_, behind, _ = strings.Cut(behind, "`")
	}
	all, _ := tokens(behind)
	all = append(slices.Clip(before), all...)
	out = matching(c.inStatement(ctx, before, all, word, quoted), word)
	return out, word, quoted
}

// inStatement are the candidates for the place behind the tokens before.
func (c *completer) inStatement(ctx context.Context, before, all []token, word string, quoted bool) (out []candidate) {
	n := len(before)
	if n >= 2 && before[n-1].text == "." && before[n-2].word() {
		return c.qualified(ctx, before[n-2].text, tableRefs(all))
	}
	if n > 0 && before[n-1].is("USE") {
		return c.list(ctx, "SHOW DATABASES", "database")
	}
	if wantsTable(before) {
		out = c.tables(ctx, c.session.database)
		if strings.Contains(word, "$") && strings.Contains(c.session.version, "millrace") {
			for _, t := range slices.Clone(out) {
				for _, companion := range []string{"$raw", "$latest", "$errors"} {
					out = append(out, candidate{t.text + companion, true, "table"})
				}
			}
		}
		return append(out, c.list(ctx, "SHOW DATABASES", "database")...)
	}
	refs := tableRefs(all)
	for _, ref := range refs {
		out = append(out, c.columns(ctx, ref.database, ref.table)...)
	}
	for _, ref := range refs {
		out = append(out, candidate{cmp.Or(ref.alias, ref.table), true, "table"})
	}
	if len(refs) == 0 && word != "" { // SELECT comes before FROM: columns that were looked at before
		for query, cached := range c.names {
			if strings.HasPrefix(query, "SHOW COLUMNS") {
				for _, name := range cached.names {
					out = append(out, candidate{name.name, true, name.what})
				}
			}
		}
	}
	if quoted || word == "" {
		return out
	}
	return append(out, keywords(word)...)
}

// keywords are in the letters that the word is in.
func keywords(word string) (out []candidate) {
	spell := strings.ToUpper
	if word == strings.ToLower(word) {
		spell = strings.ToLower
	}
	for _, k := range sqlKeywords {
		out = append(out, candidate{text: spell(k)})
	}
	for _, f := range sqlFunctions {
		out = append(out, candidate{text: spell(f) + "("})
	}
	return out
}

// qualified are the columns of the table, or the tables of the database, before a dot.
func (c *completer) qualified(ctx context.Context, qualifier string, refs []tableRef) []candidate {
	for _, ref := range refs {
		if strings.EqualFold(qualifier, ref.alias) || strings.EqualFold(qualifier, ref.table) {
			return c.columns(ctx, ref.database, ref.table)
		}
	}
	return c.tables(ctx, qualifier)
}

// wantsTable says whether a table's name comes next.
func wantsTable(before []token) bool {
	for i := len(before) - 1; i >= 0; i-- {
		t := before[i]
		switch {
		case i == len(before)-1 && t.is(beforeTables...):
			return true
		case i == len(before)-1 && t.text == "(" && i > 0 && before[i-1].is("HOP"):
			return true
		case i == len(before)-1 && t.text != ",":
			return false
		case i < len(before)-1 && t.is("FROM"):
			return true
		case t.text != "," && t.text != "." && !t.is("AS") && (!t.word() || t.is(sqlKeywords...)):
			return false
		}
	}
	return false
}

// ofCommand completes what comes behind a backslash.
func (c *completer) ofCommand(ctx context.Context, line string) (out []candidate, word string, quoted bool) {
	name, arg, ok := strings.Cut(line, " ")
	if !ok {
		for _, n := range strings.Fields(`\plot \watch \d \dt \l \u \format \pager \timing \warnings \i \q \?`) {
			out = append(out, candidate{text: n})
		}
		return matching(out, line), line, false
	}
	word = arg[strings.LastIndexByte(arg, ' ')+1:]
	choices := func(words ...string) {
		for _, w := range words {
			out = append(out, candidate{text: w})
		}
	}
	switch strings.ToLower(name) {
	case `\d`, `\dt`:
		word, quoted = strings.CutPrefix(word, "`")
		out = c.tables(ctx, c.session.database)
	case `\u`, `\use`:
		word, quoted = strings.CutPrefix(word, "`")
		out = c.list(ctx, "SHOW DATABASES", "database")
	case `\format`:
		choices(FormatTable, FormatVertical, FormatCSV, FormatTSV, FormatJSON, FormatNDJSON, FormatMarkdown)
	case `\timing`, `\warnings`:
		choices("on", "off")
	case `\plot`:
		choices(plotLine, plotBar)
	case `\pager`:
		choices("off", "less -S")
	case `\i`, "source":
		choices(files(word)...)
	}
	return matching(out, word), word, quoted
}

// files are the files and directories that a path may become.
func files(path string) (out []string) {
	dir, _ := filepath.Split(path)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		switch {
		case e.IsDir():
			out = append(out, dir+e.Name()+"/")
		case strings.HasSuffix(e.Name(), ".sql"):
			out = append(out, dir+e.Name())
		}
	}
	return out
}

// matching are the candidates that word begins, without regard to case, each once.
func matching(in []candidate, word string) (out []candidate) {
	seen := map[string]bool{}
	for _, c := range in {
		if len(c.text) >= len(word) && strings.EqualFold(c.text[:len(word)], word) && !seen[c.text] {
			seen[c.text] = true
			out = append(out, c)
		}
	}
	return out
}

func (c *completer) tables(ctx context.Context, database string) []candidate {
	query := "SHOW FULL TABLES"
	if database != "" {
		query += " FROM " + quoteName(database)
	}
	out := c.list(ctx, query, "table")
	for i := range out {
		if strings.Contains(out[i].what, "VIEW") {
			out[i].what = "view"
		} else {
			out[i].what = "table"
		}
	}
	return out
}

func (c *completer) columns(ctx context.Context, database, table string) []candidate {
	query := "SHOW COLUMNS FROM " + quoteName(table)
	if database = cmp.Or(database, c.session.database); database != "" {
		query += " FROM " + quoteName(database)
	}
	return c.list(ctx, query, "column")
}

// list asks the server for names unless they are fresh. When that fails, the old ones have to do.
func (c *completer) list(ctx context.Context, query, what string) (out []candidate) {
	cached := c.names[query]
	if time.Since(cached.at) >= namesAge {
		names, err := listNames(ctx, c.session.db, query)
		if err == nil {
			cached.names = names
		}
		cached.at = time.Now()
		c.names[query] = cached
	}
	for _, n := range cached.names {
		out = append(out, candidate{n.name, true, cmp.Or(n.what, what)})
	}
	return out
}

// listNames are the first two columns of an answer.
func listNames(ctx context.Context, db *sql.DB, query string) (names []listedName, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil || len(cols) == 0 {
		return nil, err
	}
	var name, what sql.NullString
	var rest sql.RawBytes
	dest := []any{&name, &what}[:min(2, len(cols))]
	for range max(0, len(cols)-2) {
		dest = append(dest, &rest)
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		names = append(names, listedName{name.String, what.String})
	}
	return names, rows.Err()
}
