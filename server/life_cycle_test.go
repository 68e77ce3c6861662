package server_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"millrace/server"

	"github.com/go-sql-driver/mysql"
	"github.com/twmb/franz-go/pkg/kgo"
)

// lifeCycle is one thing that people do with a table: what they do, and what they then ask. The answers must be the same
// while records are fresh, once they are sealed and their columns in files, and after a restart, with pushdown and without.
// then is done after the restart, and asks again.
type lifeCycle struct {
	name        string
	do, then    []string
	asks, again [][2]string
}

// Statements may be "produce TOPIC VALUE" and "produce TOPIC KEY=VALUE", for a record by Kafka's protocol. What ends with
// "→ X" must fail with MySQL's number, or Kafka's error, X. "mark NAME" keeps the time, which {NAME} then stands for.
const fails = " → "

var lifeCycles = []lifeCycle{
	{
		name: "a topic that rejects what does not fit",
		do: []string{
			"CREATE TABLE strict (i INT, s VARCHAR(3)) COMMENT='millrace.on_error=reject'",
			`produce strict {"i":1,"s":"abc","more":true}`,
			`produce strict {"i":"x"}` + fails + "INVALID_RECORD",
			`produce strict {"s":"abcd"}` + fails + "INVALID_RECORD",
			`INSERT INTO strict (_value) VALUES ('{"i":2}'), ('{"i":2147483648}')` + fails + "1366",
			"INSERT INTO strict (i, s) VALUES (3, NULL)",
		},
		asks: [][2]string{
			{"SELECT _offset, i, s, more FROM strict ORDER BY _offset", "0,1,abc,1 / 1,3,NULL,NULL"},
			{"SELECT COUNT(*) FROM `strict$errors`", "0"},
			{"SELECT value FROM millrace.configs WHERE topic = 'strict' AND name = 'millrace.on_error'", "reject"},
		},
		then: []string{
			`produce strict {"i":"y"}` + fails + "INVALID_RECORD",
			"ALTER TABLE strict MODIFY COLUMN s INT",
			`produce strict {"s":"abc"}` + fails + "INVALID_RECORD",
			`produce strict {"s":7,"i":8}`,
		},
		again: [][2]string{
			{"SELECT _offset, i, s, _error FROM strict ORDER BY _offset", `0,1,NULL,s: found "abc", expected INT / 1,3,NULL,NULL / 2,8,7,NULL`},
			{"SELECT SUM(i), SUM(s), COUNT(_error) FROM strict", "12,7,1"},
		},
	},
	{
		name: "pinned columns",
		do: []string{
			"CREATE TABLE pinned (_value LONGTEXT)", `produce pinned {"n":1,"d":1.5,"s":"x"}`, "CALL millrace.pin('pinned')",
			`produce pinned {"n":"many","d":2,"s":3,"new":1}`,
			"CREATE TABLE half (_value LONGTEXT)", `produce half {"a":1,"b":1}`, "CALL millrace.pin('half', 'a')", `produce half {"a":"x","b":"y"}`,
		},
		asks: [][2]string{
			{"SELECT n, d, s, new, _error FROM pinned ORDER BY _offset", `1,1.5,x,NULL,NULL / NULL,2,3,1,n: found "many", expected BIGINT`},
			{"SELECT SUM(n), SUM(d), COUNT(s), COUNT(_error) FROM pinned", "1,3.5,2,1"},
			{columnsOf("pinned"), "n bigint,d double,s varchar(16383),new bigint"},
			{"SELECT a, b FROM half ORDER BY _offset", "1,1 / NULL,y"},
			{columnsOf("half"), "a bigint,b varchar(16383)"},
			{"SELECT column_name, errors FROM millrace.columns WHERE topic = 'half' ORDER BY position", "a,1 / b,0"},
		},
		then: []string{`produce pinned {"n":2.5,"new":"wide"}`, `produce half {"a":2,"b":true}`},
		again: [][2]string{
			{"SELECT n, new, _error FROM pinned ORDER BY _offset", `1,NULL,NULL / NULL,1,n: found "many", expected BIGINT / NULL,wide,n: found 2.5, expected BIGINT`},
			{columnsOf("pinned"), "n bigint,d double,s varchar(16383),new varchar(16383)"},
			{"SELECT a, b FROM half ORDER BY _offset", "1,1 / NULL,y / 2,true"},
			{"SELECT column_name, errors FROM millrace.columns WHERE topic = 'pinned' ORDER BY position", "n,2 / d,0 / s,0 / new,0"},
		},
	},
	{
		name: "columns added, changed, dropped and renamed over history",
		do: []string{
			"CREATE TABLE h (id BIGINT, amount DOUBLE)",
			`produce h {"id":1,"amount":1.25,"user":{"name":"ann","age":30},"tag":"a"}`,
			`produce h {"id":"2","amount":2,"user":{"name":"bob"},"tag":7}`,
			"mark middle",
			`produce h {"id":3,"amount":0.1,"tag":"c"}`,
			"ALTER TABLE h MODIFY COLUMN amount DECIMAL(10,2)",
			"ALTER TABLE h RENAME COLUMN `user.name` TO who, DROP COLUMN tag",
			"ALTER TABLE h ADD COLUMN age TINYINT AS (_value->>'$.user.age') AFTER id, ADD COLUMN text VARCHAR(10) AS (_value->>'$.amount')",
		},
		asks: [][2]string{
			{columnsOf("h"), "id bigint,age tinyint,amount decimal(10,2),who varchar(16383),text varchar(10)"},
			{"SELECT id, age, amount, who, text FROM h ORDER BY _offset", "1,30,1.25,ann,1.25 / 2,NULL,2.00,bob,2 / 3,NULL,0.10,NULL,0.1"},
			{"SELECT SUM(amount), MAX(age), COUNT(who), COUNT(text) FROM h", "3.35,30,2,3"},
			{"SELECT tag FROM h", "error 1054"},
			{"SELECT id, amount, who FROM h AS OF TIMESTAMP '{middle}' ORDER BY _offset", "1,1.25,ann / 2,2.00,bob"},
			{"SELECT COUNT(*), SUM(amount) FROM h AS OF TIMESTAMP '{middle}'", "2,3.25"},
			{"SELECT who, COUNT(*) FROM h WHERE age IS NULL GROUP BY who ORDER BY who", "NULL,1 / bob,1"},
		},
		then: []string{
			`produce h {"id":4,"tag":"d","user":{"age":300}}`,
			"ALTER TABLE h ADD COLUMN tag VARCHAR(5) FIRST", "ALTER TABLE h DROP COLUMN text", "ALTER TABLE h CHANGE who name VARCHAR(2)",
		},
		again: [][2]string{
			{columnsOf("h"), "tag varchar(5),id bigint,age tinyint,amount decimal(10,2),name varchar(2)"},
			{"SELECT tag, id, age, amount, name, _error FROM h ORDER BY _offset", `a,1,30,1.25,NULL,name: found "ann", expected VARCHAR(2) / 7,2,NULL,2.00,NULL,name: found "bob", expected VARCHAR(2) / c,3,NULL,0.10,NULL,NULL / d,4,NULL,NULL,NULL,age: found 300, expected TINYINT`},
			{"SELECT COUNT(tag), COUNT(age), COUNT(name), COUNT(_error), SUM(id) FROM h", "4,1,0,3,10"},
			{"SELECT tag, amount FROM h AS OF TIMESTAMP '{middle}' ORDER BY _offset", "a,1.25 / 7,2.00"},
		},
	},
	{
		name: "invisible columns",
		do: []string{
			"CREATE TABLE inv (a INT)", `produce inv k={"a":1,"b":"x"}`, `produce inv {"a":"?"}`, `produce inv k=`,
		},
		asks: [][2]string{
			{"SELECT COUNT(*) FROM (SELECT * FROM inv WHERE a = 1) x", "1"},
			{"SELECT GROUP_CONCAT(column_name ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = 'inv' AND extra LIKE '%INVISIBLE%'", "_headers,_value,_error"},
			{"SELECT _key, _value, _headers, _error FROM inv ORDER BY _offset", `k,{"a":1,"b":"x"},{},NULL / NULL,{"a":"?"},{},a: found "?", expected INT / k,NULL,{},NULL`},
			{"SELECT a, b FROM `inv$latest`", ""},
			{"SELECT _offset, _error FROM `inv$errors`", `1,a: found "?", expected INT`},
		},
	},
	{
		name: "SHOW CREATE TABLE",
		do: []string{
			"CREATE TABLE made (id BIGINT, amount DECIMAL(10,2) AS (_value->>'$.pay.amount'), at TIMESTAMP(3) AS (FROM_UNIXTIME(_value->>'$.ts'/1000)) COMMENT 'it''s', kind ENUM('a','b')) COLLATE utf8mb4_0900_ai_ci COMMENT='retention.ms=86400000,cleanup.policy=compact' PARTITION BY KEY(_key) PARTITIONS 3",
			`produce made k={"id":1,"pay":{"amount":"1.5"},"ts":1700000000123,"kind":"b","seen":true}`,
			"remake made copied",
		},
		asks: [][2]string{
			{"SELECT id, amount, at, kind, seen FROM made", "1,1.50,2023-11-14 22:13:20.123,b,1"},
			{"SELECT COUNT(*) FROM made WHERE kind = 'B'", "1"},
			{columnsOf("copied"), "id bigint,amount decimal(10,2),at timestamp(3),kind enum('a','b'),seen tinyint(1)"},
			{"SELECT partitions FROM millrace.topics WHERE name = 'copied'", "3"},
			{"SELECT name, value FROM millrace.configs WHERE topic = 'copied' AND name IN ('retention.ms', 'cleanup.policy', 'millrace.collation') ORDER BY name", "cleanup.policy,compact / millrace.collation,utf8mb4_0900_ai_ci / retention.ms,86400000"},
		},
		then: []string{`produce copied k={"id":2,"pay":{"amount":2},"ts":0,"kind":"c"}`, "remake copied copied2", "CREATE TABLE likewise LIKE made", `produce likewise k={"id":3}`},
		again: [][2]string{
			{"SELECT id, amount, at, kind, _error FROM copied", `2,2.00,NULL,NULL,at: found 0, expected TIMESTAMP(3); kind: found "c", expected ENUM('a','b')`},
			{columnsOf("copied2"), "id bigint,amount decimal(10,2),at timestamp(3),kind enum('a','b'),seen tinyint(1)"},
			{"SELECT id, amount FROM likewise", "3,NULL"},
		},
	},
	{
		name: "CSV values",
		do: []string{
			"CREATE TABLE csv (id INT, name VARCHAR(5), price DECIMAL(6,2), at DATE) COMMENT='millrace.value.format=csv'",
			`produce csv 1,ann,1.5,2024-01-02`, `produce csv 2,"o'n,l",,`, `produce csv x,"say ""hi""",2.25,never`, `produce csv 4`,
			"INSERT INTO csv (id, name, price) VALUES (5, 'a\"b', 3.10)", "INSERT INTO csv (_value) VALUES ('6,,7,')",
		},
		asks: [][2]string{
			{"SELECT id, name, price, at FROM csv ORDER BY _offset", `1,ann,1.50,2024-01-02 / 2,o'n,l,NULL,NULL / NULL,NULL,2.25,NULL / 4,NULL,NULL,NULL / 5,a"b,3.10,NULL / 6,NULL,7.00,NULL`},
			{"SELECT COUNT(*), SUM(price), COUNT(_error), MAX(id) FROM csv", "6,13.85,2,6"},
			{"SELECT _offset, _error FROM `csv$errors` ORDER BY _offset", `2,id: found "x", expected INT; name: found "say "hi"", expected VARCHAR(5); at: found "never", expected DATE / 3,found 1 fields, expected 4`},
			{"SELECT _value FROM csv WHERE id >= 5 ORDER BY id", `5,"a""b",3.10, / 6,,7,`},
			{"SELECT column_name, errors FROM millrace.columns WHERE topic = 'csv' ORDER BY position", "id,1 / name,1 / price,0 / at,1"},
		},
		then: []string{"ALTER TABLE csv MODIFY COLUMN id VARCHAR(9)", "ALTER TABLE csv DROP COLUMN at", "ALTER TABLE csv DROP COLUMN name" + fails + "1235", "ALTER TABLE csv ADD COLUMN x INT FIRST" + fails + "1235", `produce csv 7,z,1`},
		again: [][2]string{
			{"SELECT id, name, price, _error FROM csv ORDER BY _offset", `1,ann,1.50,found 4 fields, expected 3 / 2,o'n,l,NULL,found 4 fields, expected 3 / x,NULL,2.25,name: found "say "hi"", expected VARCHAR(5); found 4 fields, expected 3 / 4,NULL,NULL,found 1 fields, expected 3 / 5,a"b,3.10,found 4 fields, expected 3 / 6,NULL,7.00,found 4 fields, expected 3 / 7,z,1.00,NULL`},
		},
	},
	{
		name: "a CSV topic that rejects",
		do: []string{
			"CREATE TABLE csvstrict (id INT, at DATE) COMMENT='millrace.value.format=csv,millrace.on_error=reject'",
			`produce csvstrict 1,2024-01-02`, `produce csvstrict 1,never` + fails + "INVALID_RECORD", `produce csvstrict "` + fails + "INVALID_RECORD",
		},
		asks:  [][2]string{{"SELECT id, at FROM csvstrict", "1,2024-01-02"}},
		then:  []string{`produce csvstrict x,` + fails + "INVALID_RECORD", `produce csvstrict 2,`},
		again: [][2]string{{"SELECT id, at FROM csvstrict ORDER BY id", "1,2024-01-02 / 2,NULL"}},
	},
	{
		name: "TRUNCATE and DELETE",
		do: []string{
			"CREATE TABLE cut (i INT)", "INSERT INTO cut (i) VALUES (1), (2), (3)", "mark full", "TRUNCATE TABLE cut", "INSERT INTO cut (i) VALUES (4), (5)",
			"CREATE TABLE del (i INT)", "INSERT INTO del (i) VALUES (1), (2), (3), (4)", "DELETE FROM del WHERE _partition = 0 AND _offset < 2",
			"CREATE TABLE none (i INT)", "INSERT INTO none (i) VALUES (1)", "TRUNCATE TABLE none",
		},
		asks: [][2]string{
			{"SELECT _offset, i FROM cut ORDER BY _offset", "3,4 / 4,5"},
			{"SELECT COUNT(*), MIN(_offset), MAX(_offset), SUM(i) FROM cut", "2,3,4,9"},
			{"SELECT COUNT(*) FROM cut AS OF TIMESTAMP '{full}'", "0"},
			{"SELECT _offset, i FROM del ORDER BY _offset", "2,3 / 3,4"},
			{"SELECT COUNT(*), MIN(_offset), SUM(i) FROM del", "2,2,7"},
			{"SELECT COUNT(*), MIN(_offset), SUM(i) FROM none", "0,NULL,NULL"},
			{"SELECT log_start, end_offset FROM millrace.partitions WHERE topic = 'none'", "1,1"},
		},
		then: []string{"INSERT INTO none (i) VALUES (2)", "TRUNCATE TABLE cut", "DELETE FROM del WHERE _partition = 0 AND _offset < 3", "INSERT INTO del (i) VALUES (6)"},
		again: [][2]string{
			{"SELECT _offset, i FROM none", "1,2"},
			{"SELECT COUNT(*), MAX(i) FROM cut", "0,NULL"},
			{"SELECT _offset, i FROM del ORDER BY _offset", "3,4 / 4,6"},
		},
	},
	{
		name: "views",
		do: []string{
			"CREATE TABLE ev (kind VARCHAR(10), n INT)", `produce ev {"kind":"click","n":1,"url":"/a"}`, `produce ev {"kind":"view","n":2}`, `produce ev {"kind":"click","n":4,"url":"/b"}`,
			"CREATE VIEW clicks AS SELECT n, url FROM ev WHERE kind = 'click'",
			"CREATE VIEW most AS SELECT MAX(n) AS n FROM clicks",
			"CREATE VIEW every AS SELECT * FROM ev",
			"CREATE VIEW gone AS SELECT 1", "DROP VIEW gone",
		},
		asks: [][2]string{
			{"SELECT n, url FROM clicks ORDER BY n", "1,/a / 4,/b"},
			{"SELECT c.url FROM clicks c JOIN most m ON c.n = m.n", "/b"},
			{"SELECT COUNT(*), SUM(n) FROM every", "3,7"},
			{"SELECT GROUP_CONCAT(table_name ORDER BY table_name) FROM information_schema.views WHERE table_name IN ('clicks','most','every','gone')", "clicks,every,most"},
			{"SELECT * FROM gone", "error 1146"},
			{"SELECT view_definition LIKE '%click%' FROM information_schema.views WHERE table_name = 'clicks'", "1"},
		},
		then: []string{
			"CREATE OR REPLACE VIEW clicks AS SELECT n * 10 AS n, url FROM ev WHERE kind = 'click'", "ALTER TABLE ev DROP COLUMN url", "ALTER TABLE ev ADD COLUMN url VARCHAR(20)",
			`produce ev {"kind":"click","n":5,"url":"/c","late":true}`,
		},
		again: [][2]string{
			{"SELECT n, url FROM clicks ORDER BY n", "10,/a / 40,/b / 50,/c"},
			{"SELECT n FROM most", "50"},
			{"SELECT COUNT(late), SUM(n) FROM every", "1,12"},
		},
	},
	{
		name: "transactions",
		do: []string{
			"CREATE TABLE tx (i INT)", "BEGIN", "INSERT INTO tx (i) VALUES (1), (2)", "COMMIT", "BEGIN", "INSERT INTO tx (i) VALUES (4)", "ROLLBACK", "INSERT INTO tx (i) VALUES (8)",
		},
		asks: [][2]string{
			{"SELECT i FROM tx ORDER BY i", "1 / 2 / 8"},
			{"SELECT COUNT(*), SUM(i), MIN(i), MAX(i) FROM tx", "3,11,1,8"},
		},
		then:  []string{"BEGIN", "INSERT INTO tx (i) SELECT i * 2 FROM tx", "ROLLBACK", "INSERT INTO tx (i) SELECT i * 100 FROM tx"},
		again: [][2]string{{"SELECT COUNT(*), SUM(i) FROM tx", "6,1111"}},
	},
	{
		name: "long keys, and more members than columns",
		do: []string{
			"CREATE TABLE wide (_value LONGTEXT)", "produce wide " + manyMembers(300), "INSERT INTO wide (_key, _value) VALUES (REPEAT('k', 17000), '{\"m0\":7}')",
		},
		asks: [][2]string{
			{"SELECT COUNT(*) FROM information_schema.columns WHERE table_name = 'wide' AND column_name LIKE 'm%'", "256"},
			{"SELECT JSON_EXTRACT(_rest, '$.m299'), m0, m255 FROM wide WHERE _offset = 0", "299,0,255"},
			{"SELECT LENGTH(_key), m0, _rest FROM wide WHERE _key IS NOT NULL", "17000,7,NULL"},
			{"SELECT data_type FROM information_schema.columns WHERE table_name = 'wide' AND column_name = '_key'", "longtext"},
		},
		then:  []string{"ALTER TABLE wide DROP COLUMN m1", `produce wide {"zz":1}`},
		again: [][2]string{{"SELECT zz, JSON_EXTRACT(_rest, '$.zz') FROM wide WHERE _offset = 2", "1,NULL"}},
	},
}

// columnsOf asks for the expanded columns of a table and their types.
func columnsOf(table string) string {
	return "SELECT GROUP_CONCAT(column_name, ' ', column_type ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = '" + table + "' AND ordinal_position > 7"
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"m%d":%d`, i, i)
	}
	return "{" + b.String()[1:] + "}"
}

// liver carries life cycles out on a server.
type liver struct {
	t     *testing.T
	s     *server.Server
	db    *sql.DB
	kafka *kgo.Client
	marks []string // for strings.NewReplacer
}

func (l *liver) open(dir string) {
	l.t.Helper()
	o := server.DefaultOptions()
	o.Data = dir
	o.Kafka = []server.Listener{{Address: "127.0.0.1:0"}}
	o.MySQL, o.HTTP = "127.0.0.1:0", ""
	o.Logger = slog.New(slog.NewTextHandler(l.t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	var err error
	if l.s, err = server.Start(context.Background(), o); err != nil {
		l.t.Fatal(err)
	}
	if l.db, err = sql.Open("mysql", "app@tcp("+l.s.MySQLAddr()+")/kafka"); err != nil {
		l.t.Fatal(err)
	}
	l.db.SetMaxOpenConns(1)
	if l.kafka, err = kgo.NewClient(kgo.SeedBrokers(l.s.KafkaAddr()), kgo.RecordRetries(0)); err != nil {
		l.t.Fatal(err)
	}
}

func (l *liver) close() {
	l.t.Helper()
	l.kafka.Close()
	_ = l.db.Close()
	if err := l.s.Close(); err != nil {
		l.t.Fatal(err)
	}
}

func (l *liver) do(statements []string) {
	l.t.Helper()
	for _, s := range statements {
		s, want, _ := strings.Cut(s, fails)
		err := l.step(s)
		got := ""
		var m *mysql.MySQLError
		switch {
		case errors.As(err, &m):
			got = fmt.Sprint(m.Number)
		case err != nil:
			got, _, _ = strings.Cut(err.Error(), ":")
		}
		if got != want {
			l.t.Errorf("%.200s: %v, want %q", s, err, want)
		}
	}
}

func (l *liver) step(s string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	word, rest, _ := strings.Cut(s, " ")
	switch word {
	case "produce":
		topic, value, _ := strings.Cut(rest, " ")
		r := &kgo.Record{Topic: topic, Value: []byte(value)}
		if key, v, ok := strings.Cut(value, "="); ok && !strings.ContainsAny(key, `{",`) {
			r.Key, r.Value = []byte(key), []byte(v)
			if v == "" {
				r.Value = nil
			}
		}
		return l.kafka.ProduceSync(ctx, r).FirstErr()
	case "mark":
		at := l.now()
		for l.now() == at {
		}
		l.marks = append(l.marks, "{"+rest+"}", at)
		return nil
	case "remake":
		from, to, _ := strings.Cut(rest, " ")
		var name, statement string
		if err := l.db.QueryRowContext(ctx, "SHOW CREATE TABLE "+from).Scan(&name, &statement); err != nil {
			return err
		}
		made := strings.Replace(statement, "`"+from+"`", "`"+to+"`", 1)
		if _, err := l.db.ExecContext(ctx, made); err != nil {
			return fmt.Errorf("%s: %w", made, err)
		}
		return nil
	}
	_, err := l.db.ExecContext(ctx, s)
	return err
}

func (l *liver) now() (at string) {
	if err := l.db.QueryRow("SELECT DATE_FORMAT(NOW(3), '%Y-%m-%d %H:%i:%s.%f')").Scan(&at); err != nil {
		l.t.Fatal(err)
	}
	return at
}

// ask returns a query's rows: cells by commas, rows by slashes.
func (l *liver) ask(query string) string {
	rows, err := l.db.Query(strings.NewReplacer(l.marks...).Replace(query))
	if err != nil {
		var m *mysql.MySQLError
		if errors.As(err, &m) {
			return fmt.Sprint("error ", m.Number)
		}
		return err.Error()
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err.Error()
	}
	var lines []string
	cells := make([]sql.NullString, len(names))
	into := make([]any, len(names))
	for i := range into {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err.Error()
		}
		texts := make([]string, len(cells))
		for i, c := range cells {
			texts[i] = "NULL"
			if c.Valid {
				texts[i] = c.String
			}
		}
		lines = append(lines, strings.Join(texts, ","))
	}
	if err := rows.Err(); err != nil {
		return err.Error()
	}
	return strings.Join(lines, " / ")
}

func (l *liver) expect(stage, name string, asks [][2]string) {
	l.t.Helper()
	for _, pushdown := range []string{"1", "0"} {
		l.do([]string{"SET millrace_pushdown=" + pushdown})
		for _, a := range asks {
			if got := l.ask(a[0]); got != a[1] {
				l.t.Errorf("%s, %s, pushdown %s:\n%s\n got %s\nwant %s", name, stage, pushdown, a[0], got, a[1])
			}
		}
	}
	l.do([]string{"SET millrace_pushdown=1"})
}

// seal writes everything into segments and files of columns.
func (l *liver) seal() {
	l.t.Helper()
	for name := range strings.SplitSeq(l.ask("SELECT name FROM millrace.topics WHERE name NOT LIKE '\\_\\_%'"), " / ") {
		l.do([]string{"CALL millrace.seal('" + name + "')"})
	}
}

func TestTheLifeOfTablesIsTheSameFreshSealedAndAfterARestart(t *testing.T) {
	dir := t.TempDir()
	l := &liver{t: t}
	l.open(dir)
	for _, c := range lifeCycles {
		l.do(c.do)
	}
	all := func(stage string, of func(c *lifeCycle) [][2]string) {
		t.Helper()
		for i := range lifeCycles {
			l.expect(stage, lifeCycles[i].name, of(&lifeCycles[i]))
		}
	}
	restart := func() {
		t.Helper()
		l.close()
		l.open(dir)
	}
	asks := func(c *lifeCycle) [][2]string { return c.asks }
	all("fresh", asks)
	restart()
	all("restarted before it was sealed", asks)
	l.seal()
	all("sealed", asks)
	restart()
	all("restarted", asks)

	for _, c := range lifeCycles {
		l.do(c.then)
	}
	again := func(c *lifeCycle) [][2]string { return c.again }
	all("changed", again)
	l.seal()
	all("changed and sealed", again)
	restart()
	all("changed and restarted", again)
	l.close()
}
