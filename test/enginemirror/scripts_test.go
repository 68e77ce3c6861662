package enginemirror

import (
	"database/sql"
	"regexp"
	"strings"
	"testing"
)

var (
	isSet   = regexp.MustCompile(`(?is)^\s*set\s`)
	hasInto = regexp.MustCompile(`(?i)\binto\s+@`)
)

// Scripts change their tables. What changes them is carried out by the engine as it comes; whenever it was, the
// topics are made anew before the next query.
func TestTopicsAnswerWhatTheEnginesScriptsExpect(t *testing.T) {
	ex := exceptions(t)
	for _, l := range scriptLists() {
		if *only != "" && *only != l.name {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			y := tally{skipped: map[string]int{}}
			m := newMirror(t)
			for _, script := range l.scripts {
				if script.Dialect != "" && script.Dialect != "mysql" {
					continue
				}
				r, err := newReference(l.setup...)
				if err != nil {
					t.Fatal(err)
				}
				mirrorScript(t, m, r, l.name, scriptOf(script), ex, &y)
			}
			t.Log(&y)
		})
	}
}

func mirrorScript(t *testing.T, m *mirror, r *reference, list string, script []query, ex map[string]string, y *tally) {
	var w *shown
	into := false
	defer func() {
		if w != nil {
			m.drop(w)
		}
		for _, db := range []*sql.DB{m.on, m.off} {
			if _, err := db.Exec("SET SESSION sql_mode = DEFAULT, time_zone = DEFAULT"); err != nil {
				t.Fatal(err)
			}
		}
	}()
	for _, q := range script {
		if !isQuery.MatchString(q.sql) {
			if isSet.MatchString(q.sql) {
				_, _ = m.on.Exec(q.sql)
				_, _ = m.off.Exec(q.sql)
				_, _, _ = r.run(q.sql)
				continue
			}
			if w != nil {
				m.drop(w)
				w = nil
			}
			if _, _, err := r.run(q.sql); err != nil && !q.failed && !q.known {
				y.skipped["a script that the engine refuses"]++
				return
			}
			continue
		}
		if !q.known && !q.failed {
			into = into || hasInto.MatchString(q.sql)
			continue
		}
		if into = into || hasInto.MatchString(q.sql); into && strings.Contains(q.sql, "@") {
			y.skipped["what INTO left in a variable"]++
			continue
		}
		if w == nil {
			w = m.show(r)
		}
		if why := w.notAsked(q.sql); why != "" {
			y.skipped[why]++
			continue
		}
		text := w.overTopics(q.sql)
		if stars.MatchString(text) {
			text = w.overViews(q.sql)
		}
		y.asked++
		on, off := ask(m.on, text, false), ask(m.off, text, false)
		if !sameAnswers(on, off, orders.MatchString(q.sql)) && !cut(q.sql, on, off) {
			t.Errorf("%s\n in columns %v\n by rows    %v", text, on, off)
		}
		judge(t, r, list, q, off, ex, y)
	}
}
