package mysql

import (
	"encoding/binary"
	"strings"
	"testing"
)

const alterColumns = "SELECT GROUP_CONCAT(column_name, ' ', column_type ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name='t' AND ordinal_position > 7"

func TestAlterTableChangesColumnsOfTheWholeHistory(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"id":"7","user":{"id":1,"name":"x"},"amount":12.345,"ts":1700000000000}`, `{"id":"8","extra":true}`)
	db := in.open("app", "", "")
	for _, c := range []struct{ query, columns, rows string }{
		{
			"ALTER TABLE t COMMENT='retention.ms=-1'", "id varchar(16383),user.id bigint,user.name varchar(16383),amount double,ts bigint,extra tinyint(1)",
			"7,1,x,12.345,1700000000000,NULL / 8,NULL,NULL,NULL,NULL,1",
		},
		{
			"ALTER TABLE t MODIFY COLUMN id BIGINT", "id bigint,user.id bigint,user.name varchar(16383),amount double,ts bigint,extra tinyint(1)",
			"7,1,x,12.345,1700000000000,NULL / 8,NULL,NULL,NULL,NULL,1",
		},
		{
			"ALTER TABLE t RENAME COLUMN `user.id` TO uid, DROP COLUMN `user.name`, ADD COLUMN at TIMESTAMP(3) AS (FROM_UNIXTIME(_value->>'$.ts'/1000))",
			"id bigint,uid bigint,at timestamp(3),amount double,extra tinyint(1)", "7,1,2023-11-14 22:13:20.000,12.345,NULL / 8,NULL,NULL,NULL,1",
		},
		{
			"ALTER TABLE t CHANGE amount amt DECIMAL(10,3), MODIFY at DATETIME(3) FIRST", "at datetime(3),id bigint,uid bigint,amt decimal(10,3),extra tinyint(1)",
			"2023-11-14 22:13:20.000,7,1,12.345,NULL / NULL,8,NULL,NULL,1",
		},
		{
			"ALTER TABLE t ADD COLUMN name VARCHAR(10) AS (_value->>'$.user.name') AFTER id", "at datetime(3),id bigint,name varchar(10),uid bigint,amt decimal(10,3),extra tinyint(1)",
			"2023-11-14 22:13:20.000,7,x,1,12.345,NULL / NULL,8,NULL,NULL,NULL,1",
		},
		{"ALTER TABLE t DROP COLUMN at, DROP uid, DROP extra", "id bigint,name varchar(10),amt decimal(10,3)", "7,x,12.345 / 8,NULL,NULL"},
		{"ALTER TABLE t DROP COLUMN IF EXISTS nosuch, ADD COLUMN IF NOT EXISTS id INT", "id bigint,name varchar(10),amt decimal(10,3)", "7,x,12.345 / 8,NULL,NULL"},
	} {
		if _, err := db.Exec(c.query); err != nil {
			t.Fatalf("%s: %v", c.query, err)
		}
		if got := ask(t, db, alterColumns); got != c.columns {
			t.Errorf("%s:\n%s\n%s", c.query, got, c.columns)
		}
		rows, err := table(t, db, "SELECT * FROM t ORDER BY _offset")
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			rows[i] = rows[i][4:]
		}
		if got := join(rows); got != c.rows {
			t.Errorf("%s:\n%s\n%s", c.query, got, c.rows)
		}
	}
	// What was dropped stays so when more of it comes, and can be had again.
	in.produce(in.id("t"), `{"extra":false,"new":1}`)
	if got := ask(t, db, alterColumns); got != "id bigint,name varchar(10),amt decimal(10,3),new bigint" {
		t.Error(got)
	}
	if _, err := db.Exec("ALTER TABLE t ADD COLUMN extra BOOLEAN"); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, db, "SELECT extra FROM t ORDER BY _offset"); got != "NULL / 1 / 0" {
		t.Error(got)
	}
}

func TestAlterTableReplacesConfigsByItsComment(t *testing.T) {
	in := start(t, nil)
	run(t, in, "CREATE TABLE t (a INT) COMMENT='retention.ms=5000,cleanup.policy=compact,delete' PARTITION BY KEY(_key) PARTITIONS 2",
		"ALTER TABLE t DROP COLUMN a, ADD COLUMN b INT", "ALTER TABLE t COMMENT='max.message.bytes=1000', COLLATE utf8mb4_0900_ai_ci",
		"ALTER TABLE t PARTITION BY KEY(_key) PARTITIONS 5", "ALTER TABLE t ADD PARTITION PARTITIONS 1", "ALTER TABLE t ALGORITHM=INSTANT, LOCK=NONE")
	topic, _ := in.store.Topics().ByName("t")
	if topic.Partitions != 6 || topic.Configs["retention.ms"] != "" || topic.Configs["max.message.bytes"] != "1000" || topic.Configs["millrace.collation"] != "utf8mb4_0900_ai_ci" ||
		topic.Configs["millrace.columns"] != "`b` INT" || topic.Configs["millrace.columns.dropped"] != `["$.a"]` {
		t.Errorf("%+v", topic)
	}
	db := in.open("app", "", "")
	for _, c := range []struct {
		query string
		want  int
	}{
		{"ALTER TABLE t ADD COLUMN b BIGINT", 1060},
		{"ALTER TABLE t ADD COLUMN _offset BIGINT", 1060},
		{"ALTER TABLE t ADD COLUMN c INT NOT NULL", 1235},
		{"ALTER TABLE t ADD COLUMN c INT DEFAULT 1", 1235},
		{"ALTER TABLE t ADD COLUMN c VARCHAR(70000)", 1064},
		{"ALTER TABLE t DROP COLUMN c", 1091},
		{"ALTER TABLE t DROP COLUMN _value", 1235},
		{"ALTER TABLE t MODIFY COLUMN c INT", 1054},
		{"ALTER TABLE t RENAME COLUMN c TO d", 1054},
		{"ALTER TABLE t RENAME COLUMN b TO _key", 1060},
		{"ALTER TABLE t ADD COLUMN c INT AFTER nosuch", 1054},
		{"ALTER TABLE t COMMENT='x=1'", 1210},
		{"ALTER TABLE t COMMENT='retention.ms=soon'", 1210},
		{"ALTER TABLE t ADD INDEX (nosuch)", 1072},
		{"ALTER TABLE t RENAME TO u", 1235},
		{"ALTER TABLE t PARTITION BY KEY(_key) PARTITIONS 2", 1508},
		{"ALTER TABLE t PARTITION BY HASH(b) PARTITIONS 9", 1235},
		{"ALTER TABLE nosuch ADD COLUMN a INT", 1146},
		{"ALTER TABLE t ADD COLUMN", 1064},
	} {
		if _, err := db.Exec(c.query); errNumber(err) != c.want {
			t.Errorf("%s: %v, want %d", c.query, err, c.want)
		}
	}
	again, _ := in.store.Topics().ByName("t")
	if again.ConfigVersion != topic.ConfigVersion {
		t.Error("a refused statement changed the topic")
	}
}

func TestOpenCursorsKeepTheirColumnsAndPreparedStatementsRebind(t *testing.T) {
	in := start(t, nil)
	values := make([]string, 20)
	for i := range values {
		values[i] = `{"i":1}`
	}
	in.topic("t", nil)
	in.produce(in.id("t"), values...)
	r := dialRaw(t, in)
	r.send(0, append([]byte{0x16}, "SELECT * FROM t"...))
	p := r.packet()
	id := p[1:5]
	if n := binary.LittleEndian.Uint16(p[5:]); n != 5 {
		t.Fatal(n)
	}
	for range 5 {
		r.packet()
	}
	execute := func() (columns byte) {
		r.send(0, append(append([]byte{0x17}, id...), 1, 1, 0, 0, 0))
		columns = r.packet()[0]
		for p := r.packet(); !isEnd(p); p = r.packet() {
		}
		return columns
	}
	if n := execute(); n != 5 {
		t.Fatal(n)
	}
	run(t, in, "ALTER TABLE t RENAME COLUMN i TO j, ADD COLUMN k INT")
	r.send(0, append(append([]byte{0x1c}, id...), 100, 0, 0, 0))
	rows := 0
	for p := r.packet(); !isEnd(p); p = r.packet() {
		if p[0] == 0xff {
			t.Fatalf("%q", p)
		}
		rows++
	}
	if rows != 20 {
		t.Error(rows)
	}
	if n := execute(); n != 6 {
		t.Errorf("%d columns after ALTER TABLE", n)
	}
	db := in.open("app", "", "")
	if got := ask(t, db, "SELECT SUM(j), COUNT(k) FROM t"); !strings.HasPrefix(got, "20,0") {
		t.Error(got)
	}
}
