package mysql

import (
	"strings"
	"testing"
)

// SHOW CREATE TABLE of a topic with every type, configs, generated columns and comments makes the same topic again.
func TestEveryTypeComesBackFromShowCreateTable(t *testing.T) {
	in := start(t, nil)
	db := in.open("app", "", "")
	types := []string{
		"BOOLEAN", "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "TINYINT UNSIGNED", "SMALLINT UNSIGNED", "MEDIUMINT UNSIGNED", "INT UNSIGNED",
		"BIGINT UNSIGNED", "BIT(1)", "DECIMAL(10,2)", "DECIMAL(65,30)", "FLOAT", "DOUBLE", "CHAR(3)", "VARCHAR(20)", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT",
		"ENUM('a','b''c','d,e')", "BINARY(4)", "VARBINARY(9)", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB", "DATE", "TIME", "TIME(3)", "DATETIME", "DATETIME(6)",
		"TIMESTAMP", "TIMESTAMP(3)", "YEAR", "JSON",
	}
	var cols []string
	for i, typ := range types {
		cols = append(cols, "c"+string(rune('a'+i/26))+string(rune('a'+i%26))+" "+typ)
	}
	cols = append(cols,
		"`nested.path` VARCHAR(5)", "`odd ``name` INT COMMENT 'it''s a \\\\ \"comment\"'", "gen BIGINT AS (_value->>'$.a.\"b c\"')",
		"secs DATETIME AS (FROM_UNIXTIME(_value->>'$.t'))", "millis TIMESTAMP(3) AS (FROM_UNIXTIME(_value->>'$.t'/1000)) COMMENT 'ms'",
		"micros DATETIME(6) AS (FROM_UNIXTIME(_value->>'$.t'/1000000))", "nanos DATETIME(6) AS (FROM_UNIXTIME(_value->>'$.t'/1000000000))")
	create := "CREATE TABLE every (" + strings.Join(cols, ", ") + ") COLLATE utf8mb4_0900_ai_ci COMMENT='cleanup.policy=compact,delete,retention.ms=1000000,millrace.expand=declared,millrace.on_error=reject' PARTITION BY KEY(_key) PARTITIONS 4"
	if _, err := db.Exec(create); err != nil {
		t.Fatalf("%s: %v", create, err)
	}
	shown, err := table(t, db, "SHOW CREATE TABLE every")
	if err != nil {
		t.Fatal(err)
	}
	before := in.store.Topics()
	if _, err := db.Exec("DROP TABLE every"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(shown[0][1]); err != nil {
		t.Fatalf("%s: %v", shown[0][1], err)
	}
	again, err := table(t, db, "SHOW CREATE TABLE every")
	if err != nil {
		t.Fatal(err)
	}
	if again[0][1] != shown[0][1] {
		t.Errorf("got  %s\nwant %s", again[0][1], shown[0][1])
	}
	old, _ := before.ByName("every")
	made, _ := in.store.Topics().ByName("every")
	if made.Partitions != old.Partitions || len(made.Configs) != len(old.Configs) {
		t.Errorf("%+v, was %+v", made, old)
	}
	for name, v := range old.Configs {
		if made.Configs[name] != v {
			t.Errorf("%s: %s, was %s", name, made.Configs[name], v)
		}
	}
	if got := ask(t, db, "SELECT generation_expression FROM information_schema.columns WHERE table_name='every' AND column_name IN ('gen','millis','caa')"); got != " / _value->>'$.a.\"b c\"' / FROM_UNIXTIME(_value->>'$.t'/1000)" {
		t.Error(got)
	}
}

// Values of a CSV topic are records of one row each, in the order of the declared columns.
func TestCSVTopicsReadTheirDeclaredColumns(t *testing.T) {
	in := start(t, nil)
	in.topic("c", map[string]string{"millrace.value.format": "csv", "millrace.columns": "id INT, name VARCHAR(20), note TEXT"},
		`1,ann,plain`, `2,"o'neill, jr.","say ""hi"""`, "3,\"two\nlines\",", `4,,""`, "-", `5,short`, `x,bad,type`, `6,"open`)
	db := in.open("app", "", "")
	for _, on := range []string{"1", "0"} {
		if _, err := db.Exec("SET millrace_pushdown=" + on); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ query, want string }{
			{"SELECT id, name, note FROM c WHERE _offset<4 ORDER BY _offset", "1,ann,plain / 2,o'neill, jr.,say \"hi\" / 3,two\nlines,NULL / 4,NULL,"},
			{
				"SELECT _offset, id, name, _error FROM `c$errors` ORDER BY _offset",
				"4,5,short,found 2 fields, expected 3 / 5,NULL,bad,id: found \"x\", expected INT / 6,NULL,NULL,not CSV: a quoted field without its end",
			},
			{"SELECT COUNT(*), COUNT(id), SUM(id) FROM c", "7,5,15"},
		} {
			if got := ask(t, db, c.query); got != c.want {
				t.Errorf("%s (pushdown %s):\n got %s\nwant %s", c.query, on, got, c.want)
			}
		}
	}
	if got := ask(t, db, "SELECT column_name, errors, present FROM millrace.columns WHERE topic='c' ORDER BY position"); got != "id,1,5 / name,0,5 / note,0,4" {
		t.Error(got)
	}
}

// Text and binary topics have no columns of their own; their value is what was sent.
func TestTextAndBinaryTopicsHaveTheirValueOnly(t *testing.T) {
	in := start(t, nil)
	in.topic("txt", map[string]string{"millrace.value.format": "text"}, `{"a":1}`, "plain")
	in.topic("bin", map[string]string{"millrace.value.format": "binary"}, "\xff\x00\x01")
	db := in.open("app", "", "")
	for _, c := range []struct{ query, want string }{
		{"SELECT _value, _error FROM txt ORDER BY _offset", `{"a":1},NULL / plain,NULL`},
		{"SELECT COUNT(*) FROM information_schema.columns WHERE table_name='txt'", "7"},
		{"SELECT HEX(value) FROM `bin$raw`", "FF0001"},
		{"SELECT _error FROM bin", "NULL"},
	} {
		if got := ask(t, db, c.query); got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
}
