package mysql

import (
	"errors"
	"strings"
	"testing"

	"millrace/catalog"

	driver "github.com/go-sql-driver/mysql"
)

// run carries out statements and fails the test where one does not do what its error number says.
func run(t testing.TB, in *instance, statements ...string) {
	t.Helper()
	db := in.open("app", "", "")
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func TestCreateTableMakesATopicWithColumnsConfigsAndPartitions(t *testing.T) {
	in := start(t, nil)
	run(t, in, `CREATE TABLE orders (order_id BIGINT, status VARCHAR(20), amount DECIMAL(10,2) AS (_value->>'$.payment.amount'),
		at TIMESTAMP(3) AS (FROM_UNIXTIME(_value->>'$.ts'/1000)) COMMENT 'it''s', kind ENUM('a','b'), flag TINYINT(1), n INT UNSIGNED)
		COMMENT='retention.ms=86400000,cleanup.policy=compact,delete' PARTITION BY KEY(_key) PARTITIONS 6`)
	topic, ok := in.store.Topics().ByName("orders")
	if !ok || topic.Partitions != 6 || topic.Configs["retention.ms"] != "86400000" || topic.Configs["cleanup.policy"] != "compact,delete" {
		t.Fatalf("%+v", topic)
	}
	if _, err := catalog.ParseColumns(topic.Configs["millrace.columns"]); err != nil {
		t.Fatal(err)
	}
	db := in.open("app", "", "")
	got := ask(t, db, "SELECT column_name, column_type FROM information_schema.columns WHERE table_name='orders' AND ordinal_position > 7 ORDER BY ordinal_position")
	want := "order_id,bigint / status,varchar(20) / amount,decimal(10,2) / at,timestamp(3) / kind,enum('a','b') / flag,tinyint(1) / n,int unsigned"
	if got != want {
		t.Fatalf("%s\n%s", got, want)
	}
}

func TestShowCreateTableRecreatesTheTopic(t *testing.T) {
	in := start(t, nil)
	run(t, in, "CREATE TABLE a (`x.y` BIGINT AS (_value->>'$.x.y'), s VARCHAR(20) COMMENT 'a''b', e ENUM('p','q''r'), at DATETIME AS (FROM_UNIXTIME(_value->>'$.t'))) COLLATE utf8mb4_0900_ai_ci COMMENT='retention.ms=5000,cleanup.policy=compact,delete' PARTITION BY KEY(_key) PARTITIONS 3")
	in.topic("inferred", map[string]string{"max.message.bytes": "5000"}, `{"a":1,"b":{"c":"x","d.e":1.5},"l":[1]}`)
	db := in.open("app", "", "")
	for _, name := range []string{"a", "inferred"} {
		shown, err := table(t, db, "SHOW CREATE TABLE "+name)
		if err != nil {
			t.Fatal(err)
		}
		create := strings.Replace(shown[0][1], "`"+name+"`", "`again`", 1)
		if _, err := db.Exec(create); err != nil {
			t.Fatalf("%s: %v", create, err)
		}
		again, err := table(t, db, "SHOW CREATE TABLE again")
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.ReplaceAll(create, " /* inferred */", ""); again[0][1] != want {
			t.Errorf("got  %s\nwant %s", again[0][1], want)
		}
		old, _ := in.store.Topics().ByName(name)
		made, _ := in.store.Topics().ByName("again")
		if made.Partitions != old.Partitions {
			t.Error(made.Partitions)
		}
		for k, v := range old.Configs {
			if made.Configs[k] != v {
				t.Errorf("%s: %s, want %s", k, made.Configs[k], v)
			}
		}
		if _, err := db.Exec("DROP TABLE again"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec("CREATE TABLE b LIKE a"); err != nil {
		t.Fatal(err)
	}
	if a, b := ask(t, db, "SHOW CREATE TABLE a"), ask(t, db, "SHOW CREATE TABLE b"); strings.ReplaceAll(a, "a,CREATE TABLE `a`", "") != strings.ReplaceAll(b, "b,CREATE TABLE `b`", "") {
		t.Errorf("%s\n%s", a, b)
	}
}

func TestCreateTableRefusesWithMySQLsNumbers(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil)
	db := in.open("app", "", "")
	for _, c := range []struct {
		query string
		want  int
	}{
		{"CREATE TABLE t (a INT)", 1050},
		{"CREATE TABLE IF NOT EXISTS t (a INT)", 0},
		{"CREATE TABLE `x y` (a INT)", 1103},
		{"CREATE TABLE __x (a INT)", 1103},
		{"CREATE TABLE `x$raw` (a INT)", 1103},
		{"CREATE TABLE x (a INT, A INT)", 1060},
		{"CREATE TABLE x (_offset VARCHAR(3))", 1060},
		{"CREATE TABLE x (a INT NOT NULL)", 1235},
		{"CREATE TABLE x (a INT DEFAULT 5)", 1235},
		{"CREATE TABLE x (a INT PRIMARY KEY)", 1235},
		{"CREATE TABLE x (a INT, UNIQUE KEY (a))", 1235},
		{"CREATE TABLE x (a INT AS (b + 1))", 1064},
		{"CREATE TABLE x (a VARCHAR(99999))", 1064},
		{"CREATE TABLE x (a SET('a', 'b'))", 1235},
		{"CREATE TABLE x (a POINT)", 1064},
		{"CREATE TABLE x (a INT) COMMENT='hello'", 1210},
		{"CREATE TABLE x (a INT) COMMENT='nosuch.config=1'", 1210},
		{"CREATE TABLE x (a INT) COMMENT='retention.ms=soon'", 1210},
		{"CREATE TABLE x (a INT) COMMENT='millrace.columns=b INT'", 1210},
		{"CREATE TABLE x (a INT) PARTITION BY HASH(a) PARTITIONS 2", 1235},
		{"CREATE TABLE x (a INT) PARTITION BY KEY(_key) PARTITIONS 0", 1504},
		{"CREATE TABLE x (a INT) PARTITION BY KEY(_key) PARTITIONS 1000000000", 1499},
		{"CREATE TABLE x (a INT) CHARACTER SET latin1", 1115},
		{"CREATE TABLE x (a INT) COLLATE latin1_bin", 1273},
		{"CREATE TABLE x AS SELECT 1", 1235},
		{"CREATE TABLE x LIKE nosuch", 1146},
		{"CREATE TABLE millrace.x (a INT)", 1044},
		{"CREATE TEMPORARY TABLE x (a INT)", 1235},
	} {
		if _, err := db.Exec(c.query); errNumber(err) != c.want {
			t.Errorf("%s: %v, want %d", c.query, err, c.want)
		}
	}
	if _, ok := in.store.Topics().ByName("x"); ok {
		t.Error("a refused statement made a topic")
	}
}

// sqlState of a MySQL error.
func sqlState(err error) string {
	var e *driver.MySQLError
	if errors.As(err, &e) {
		return string(e.SQLState[:])
	}
	return ""
}
