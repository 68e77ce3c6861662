package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// ownModel is what two sessions that write one topic must see: what is committed, and what is their own.
type ownModel struct {
	t        testing.TB
	topic    string
	sessions [2]*sql.DB
	begun    [2]bool
	manual   [2]bool // autocommit=0
	rows     []modelRow
	pushdown [2]bool
}

type modelRow struct {
	id, partition int
	key           string
	owner         int // the session in whose open transaction it is; -1: committed
}

const modelPartitions = 2

// visible are the rows that a session sees, in the order in which they were written.
func (m *ownModel) visible(session int) (out []modelRow) {
	for _, r := range m.rows {
		if r.owner < 0 || r.owner == session {
			out = append(out, r)
		}
	}
	return out
}

func (m *ownModel) exec(t *rapid.T, session int, statement string) {
	t.Logf("session %d: %s", session, statement)
	if _, err := m.sessions[session].Exec(statement); err != nil {
		t.Fatalf("session %d: %s: %v", session, statement, err)
	}
}

func (m *ownModel) end(session int, commit bool) {
	kept := m.rows[:0]
	for _, r := range m.rows {
		if r.owner == session {
			if !commit {
				continue
			}
			r.owner = -1
		}
		kept = append(kept, r)
	}
	m.rows, m.begun[session] = kept, false
}

// write adds rows to the model as the session's next statement does.
func (m *ownModel) write(session int, rows ...modelRow) {
	for _, r := range rows {
		r.owner = -1
		if m.begun[session] || m.manual[session] {
			r.owner = session
		}
		m.rows = append(m.rows, r)
	}
}

func (m *ownModel) insert(t *rapid.T, session int) {
	var values []string
	var rows []modelRow
	for range rapid.IntRange(1, 4).Draw(t, "rows") {
		r := modelRow{
			id: rapid.IntRange(0, 99).Draw(t, "id"), partition: rapid.IntRange(0, modelPartitions-1).Draw(t, "partition"),
			key: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key"),
		}
		rows = append(rows, r)
		values = append(values, fmt.Sprintf("(%d, '%s', %d)", r.partition, r.key, r.id))
	}
	m.exec(t, session, "INSERT INTO "+m.topic+" (_partition, _key, id) VALUES "+strings.Join(values, ","))
	m.write(session, rows...)
}

// copyRows inserts what the session sees of some ids once more, a hundred higher.
func (m *ownModel) copyRows(t *rapid.T, session int) {
	from := rapid.IntRange(0, 99).Draw(t, "from")
	var rows []modelRow
	for _, r := range m.visible(session) {
		if r.id >= from && r.id < from+10 {
			rows = append(rows, modelRow{id: r.id + 100, partition: r.partition, key: r.key})
		}
	}
	// A partition's rows are read, and so written, in order.
	slices.SortStableFunc(rows, func(a, b modelRow) int { return a.partition - b.partition })
	m.exec(t, session, fmt.Sprintf("INSERT INTO %s (_partition, _key, id) SELECT _partition, _key, id + 100 FROM %[1]s WHERE id >= %d AND id < %d", m.topic, from, from+10))
	m.write(session, rows...)
}

// read asks some of what a session sees.
func (m *ownModel) read(t *rapid.T, session int) {
	asked := rapid.IntRange(0, 7).Draw(t, "question")
	m.ask(t, session, func(n int) bool { return n == asked || n == asked+2 })
}

// ask asks the questions of which want says that they are wanted.
func (m *ownModel) ask(t *rapid.T, session int, want func(n int) bool) {
	seen := m.visible(session)
	questions := 0
	expect := func(query, answer string) {
		t.Helper()
		if questions++; !want(questions - 1) {
			return
		}
		if got := ask(m.t, m.sessions[session], query); got != answer {
			t.Fatalf("session %d, pushdown %v: %s: %s, want %s", session, m.pushdown[session], query, got, answer)
		}
	}
	ids, sum, low, high := make([]int, 0, len(seen)), 0, "NULL", "NULL"
	perKey := map[string]int{}
	newest := map[string]int{} // by partition and key
	for _, r := range seen {
		ids = append(ids, r.id)
		sum += r.id
		perKey[r.key]++
		newest[fmt.Sprint(r.partition, r.key)] = r.id
	}
	slices.Sort(ids)
	list := func(all []int, by string) string {
		if len(all) == 0 {
			return "NULL"
		}
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(all), "[]"), " ", by)
	}
	total := "NULL"
	if len(ids) > 0 {
		low, high, total = fmt.Sprint(ids[0]), fmt.Sprint(ids[len(ids)-1]), fmt.Sprint(sum)
	}
	expect("SELECT COUNT(*) FROM "+m.topic, fmt.Sprint(len(ids)))
	expect("SELECT MIN(id), MAX(id), SUM(id), COUNT(DISTINCT _partition, _offset) FROM "+m.topic, fmt.Sprintf("%s,%s,%s,%d", low, high, total, len(ids)))
	expect("SELECT GROUP_CONCAT(id ORDER BY id SEPARATOR ' ') FROM "+m.topic, list(ids, " "))
	top := slices.Clone(ids)
	slices.Reverse(top)
	if want := list(top[:min(3, len(top))], " / "); want == "NULL" {
		expect("SELECT id FROM "+m.topic+" ORDER BY id DESC LIMIT 3", "")
	} else {
		expect("SELECT id FROM "+m.topic+" ORDER BY id DESC LIMIT 3", want)
	}
	var groups []string
	for _, k := range []string{"a", "b", "c"} {
		if perKey[k] > 0 {
			groups = append(groups, fmt.Sprintf("%s,%d", k, perKey[k]))
		}
	}
	expect("SELECT _key, COUNT(*) FROM "+m.topic+" GROUP BY _key ORDER BY _key", strings.Join(groups, " / "))
	latest := make([]int, 0, len(newest))
	for _, id := range newest {
		latest = append(latest, id)
	}
	slices.Sort(latest)
	expect("SELECT GROUP_CONCAT(id ORDER BY id SEPARATOR ' ') FROM `"+m.topic+"$latest`", list(latest, " "))
	for p := range modelPartitions {
		var of []int
		for _, r := range seen {
			if r.partition == p {
				of = append(of, r.id)
			}
		}
		expect(fmt.Sprintf("SELECT GROUP_CONCAT(id ORDER BY _offset SEPARATOR ' ') FROM %s WHERE _partition = %d", m.topic, p), list(of, " "))
	}
}

// Two sessions, with and without pushdown, begin, insert, copy, commit, roll back and read in any order, while the log is sealed.
func TestSessionsSeeWhatIsCommittedAndWhatIsTheirOwn(tt *testing.T) {
	in := start(tt, nil)
	topics := 0
	rapid.Check(tt, func(t *rapid.T) {
		topics++
		m := &ownModel{t: tt, topic: fmt.Sprintf("m%d", topics), pushdown: [2]bool{true, true}}
		for i := range m.sessions {
			db := in.open("app", "", "")
			defer db.Close()
			m.sessions[i] = db
		}
		m.exec(t, 0, fmt.Sprintf("CREATE TABLE %s (id BIGINT) PARTITION BY KEY(_key) PARTITIONS %d", m.topic, modelPartitions))
		session := func(do func(t *rapid.T, session int)) func(*rapid.T) {
			return func(t *rapid.T) { do(t, rapid.IntRange(0, 1).Draw(t, "session")) }
		}
		t.Repeat(map[string]func(*rapid.T){
			"insert": session(m.insert),
			"copy":   session(m.copyRows),
			"read":   session(m.read),
			"begin": session(func(t *rapid.T, s int) {
				m.exec(t, s, "BEGIN")
				m.end(s, true)
				m.begun[s] = true
			}),
			"commit": session(func(t *rapid.T, s int) {
				m.exec(t, s, "COMMIT")
				m.end(s, true)
			}),
			"roll back": session(func(t *rapid.T, s int) {
				m.exec(t, s, "ROLLBACK")
				m.end(s, false)
			}),
			"autocommit": session(func(t *rapid.T, s int) {
				m.manual[s] = !m.manual[s]
				m.exec(t, s, fmt.Sprintf("SET autocommit=%d", map[bool]int{true: 0, false: 1}[m.manual[s]]))
				if !m.manual[s] {
					m.end(s, true)
				}
			}),
			"pushdown": session(func(t *rapid.T, s int) {
				m.pushdown[s] = !m.pushdown[s]
				m.exec(t, s, fmt.Sprintf("SET millrace_pushdown=%d", map[bool]int{true: 1, false: 0}[m.pushdown[s]]))
			}),
			"seal": func(t *rapid.T) {
				if rapid.IntRange(0, 3).Draw(t, "seldom") == 0 {
					if err := in.store.Seal(context.Background()); err != nil {
						t.Fatal(err)
					}
				}
			},
			"": func(t *rapid.T) {},
		})
		for s := range m.sessions {
			m.ask(t, s, func(int) bool { return true })
		}
	})
}
