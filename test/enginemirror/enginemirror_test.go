package enginemirror

import (
	"bufio"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"regexp"
	"strings"
	"testing"

	engine "github.com/dolthub/go-mysql-server/sql"
)

type row = engine.Row

var (
	full = flag.Bool("mirror.full", false, "all lists whole, also those of plans; minutes instead of seconds")
	only = flag.String("mirror.only", "", "a list to run alone")
	show = flag.Bool("mirror.show", false, "print every difference, the listed ones, too")
)

// key names a query of a list in exceptions.txt.
func key(list, sql string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(sql))
	return fmt.Sprintf("%s/%08x", list, h.Sum32())
}

// exceptions are the queries whose answer is another one for good: key → why.
func exceptions(t *testing.T) map[string]string {
	f, err := os.Open("exceptions.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]string{}
	reason := ""
	for s := bufio.NewScanner(f); s.Scan(); {
		line := s.Text()
		switch {
		case strings.HasPrefix(line, "## "):
			reason = line[3:]
		case line == "" || line[0] == '#':
		default:
			k, _, _ := strings.Cut(line, " ")
			out[k] = reason
		}
	}
	return out
}

var (
	stars       = regexp.MustCompile(`(?is)(select|,|\.|distinct|all|\*/)\s*\*|\btable\s+\w|\bnatural\b`)
	isQuery     = regexp.MustCompile(`(?is)^[\s(]*(/\*.*?\*/\s*)?(select|with|values|table)\b`)
	hasMark     = regexp.MustCompile(`[=<>(,+]\s*(\?|:\w)`)
	isVolatile  = regexp.MustCompile(`(?i)\b(now|rand|uuid|sysdate|current_timestamp|current_time|current_date|curdate|curtime|utc_timestamp|utc_date|utc_time|localtime|localtimestamp|sleep|connection_id|found_rows|row_count|last_insert_id|version|unix_timestamp\(\)|get_lock|release_lock|is_free_lock|is_used_lock|release_all_locks|load_file|last_insert_uuid)\b|ntile\(\d+\) over\((partition by \w+)?\)`)
	isLocal     = regexp.MustCompile(`(?i)\bdual\b.*\*|\*.*\bdual\b|information_schema|performance_schema|mysql\.|dolt_|\bfoo\.|@@|\bas of\b|\binto\b|\bfor (update|share)\b|database\(\)|schema\(\)|user\(\)|current_user`)
	orders      = regexp.MustCompile(`(?i)\border\s+by\b`)
	limits      = regexp.MustCompile(`(?i)\blimit\b`)
	hasDatabase = regexp.MustCompile("(?i)`?\\bmydb`?\\.")
)

// why a query is no question to topics; "" if it is one.
func (w *shown) notAsked(sql string) string {
	switch {
	case !isQuery.MatchString(sql):
		return "no query"
	case hasMark.MatchString(sql):
		return "a parameter without a value"
	case isVolatile.MatchString(sql):
		return "another answer every time"
	case isLocal.MatchString(sql):
		return "about the server or another database"
	case w.refused != nil && w.refused.MatchString(sql):
		return "a table that is no topic"
	case w.partial != nil && stars.MatchString(sql) && w.partial.MatchString(sql):
		return "all columns, of types that no topic has"
	case stars.MatchString(sql) && !w.viewable(sql):
		return "all columns of a table that is called as a column"
	}
	return ""
}

// words matches any of the names as a word.
func words(names []string) *regexp.Regexp {
	if len(names) == 0 {
		return nil
	}
	for i, n := range names {
		names[i] = regexp.QuoteMeta(n)
	}
	return regexp.MustCompile(`(?i)\b(` + strings.Join(names, "|") + `)\b`)
}

// overTopics is the statement with names as they are here: topics' case counts, and the database is another.
func (w *shown) overTopics(sql string) string {
	return w.rename(sql, func(name string) string { return w.spelled[strings.ToLower(name)] })
}

// overViews is the statement with views in the place of tables.
func (w *shown) overViews(sql string) string { return w.rename(sql, viewName) }

// viewable says whether overViews can tell tables from columns.
func (w *shown) viewable(sql string) bool { return w.clashing == nil || !w.clashing.MatchString(sql) }

// quoted is a string, which names no table.
var quoted = regexp.MustCompile(`'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"`)

func (w *shown) rename(sql string, name func(string) string) string {
	var b strings.Builder
	at := 0
	plain := func(s string) {
		s = hasDatabase.ReplaceAllString(s, "kafka.")
		if w.names != nil {
			s = w.names.ReplaceAllStringFunc(s, name)
		}
		b.WriteString(s)
	}
	for _, q := range quoted.FindAllStringIndex(sql, -1) {
		plain(sql[at:q[0]])
		b.WriteString(sql[q[0]:q[1]])
		at = q[1]
	}
	plain(sql[at:])
	return b.String()
}

// cut says that two answers hold rows that a LIMIT was free to choose.
func cut(sql string, a, b answer) bool {
	return limits.MatchString(sql) && a.number == 0 && b.number == 0 && len(a.rows) == len(b.rows)
}

// tally counts what was done with the queries.
type tally struct {
	asked, listed int
	skipped       map[string]int
}

func (y *tally) String() string {
	return fmt.Sprintf("%d asked, %d excepted, skipped %v", y.asked, y.listed, y.skipped)
}

func TestTopicsAnswerWhatTheEnginesTablesAnswer(t *testing.T) {
	all := lists()
	if *full {
		all = append(all, planLists()...)
	}
	ex := exceptions(t)
	for _, l := range all {
		if *only != "" && *only != l.name {
			continue
		}
		t.Run(l.name, func(t *testing.T) { mirrorList(t, l, ex) })
	}
}

func mirrorList(t *testing.T, l list, ex map[string]string) {
	r, err := newReference(l.setup...)
	if err != nil {
		t.Fatal(err)
	}
	m := newMirror(t)
	w := m.show(r)
	y := tally{skipped: map[string]int{}}
	type asked struct {
		query
		text  string // over topics
		first answer
	}
	var todo []asked
	for i, q := range l.queries {
		if i%l.step != 0 && !*full {
			continue
		}
		if why := w.notAsked(q.sql); why != "" {
			y.skipped[why]++
			continue
		}
		todo = append(todo, asked{query: q, text: w.overTopics(q.sql)})
	}
	for _, stage := range []string{"hot", "views", "sealed", "restarted"} {
		switch stage {
		case "sealed":
			m.seal(w.topics)
		case "restarted":
			m.stop()
			m.start()
		}
		for i := range todo {
			q := &todo[i]
			text, ordered := q.text, orders.MatchString(q.sql)
			switch stage {
			case "hot":
				q.first = ask(m.off, text, false)
				if q.first.hidden {
					t.Errorf("%s: a star shows hidden columns", text)
				}
				y.asked++
				// A topic's star has system columns, so positions and the like are others than a table's.
				if !stars.MatchString(text) {
					judge(t, r, l.name, q.query, q.first, ex, &y)
				}
			case "views":
				if !w.viewable(q.sql) {
					continue
				}
				text = w.overViews(q.sql)
				off := ask(m.off, text, false)
				switch {
				case stars.MatchString(text):
					judge(t, r, l.name, q.query, off, ex, &y)
				case !sameAnswers(off, q.first, ordered) && !cut(q.sql, off, q.first):
					t.Errorf("%s\n topics %v\n views  %v", q.sql, q.first, off)
				}
				on := ask(m.on, text, false)
				if !sameAnswers(on, off, ordered) && !cut(q.sql, on, off) {
					t.Errorf("%s\n in columns %v\n by rows    %v", text, on, off)
				}
				continue
			}
			on := ask(m.on, text, stage == "sealed")
			if !sameAnswers(on, q.first, ordered) && !cut(q.sql, on, q.first) {
				t.Errorf("%s: %s\n in columns %v\n by rows    %v", stage, text, on, q.first)
			}
		}
	}
	t.Log(&y)
}

// judge compares an answer with the list's, or with that of the engine as it comes.
func judge(t *testing.T, r *reference, list string, q query, got answer, ex map[string]string, y *tally) {
	want := answer{}
	right := false
	switch {
	case q.failed:
		want.number = 1
		right = got.number != 0
	case q.known:
		want.rows = cells(q.answer)
	default:
		_, rows, err := r.run(q.sql)
		if err != nil {
			want.number, want.text = 1, err.Error()
			right = true // what the engine cannot do, ours may
		} else {
			want.rows = cells(rows)
		}
	}
	if !q.failed && want.number == 0 {
		right = got.number == 0 && (sameRows(got.rows, want.rows, orders.MatchString(q.sql)) || cut(q.sql, got, want))
	}
	if (got.number == 1055 || got.number == 1140) && !right && !q.failed {
		// The lists take a key of a table as what its columns depend on, or any row of a group.
		y.skipped["not grouped by what is shown"]++
		return
	}
	if got.number == 1049 && !right {
		y.skipped["another database"]++
		return
	}
	k := key(list, q.sql)
	why, listed := ex[k]
	switch {
	case right && listed:
		t.Errorf("%s is no exception any more: %s", k, q.sql)
	case !right && listed:
		y.listed++
		if *show {
			t.Logf("%s (%s) %s\n got  %v\n want %v", k, why, q.sql, got, want)
		}
	case !right:
		t.Errorf("%s %s\n got  %v\n want %v", k, q.sql, got, want)
	}
}
