package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"millrace/internal/testkit"
	"millrace/server/auth"

	"github.com/twmb/franz-go/pkg/kgo"
)

// S12: names of topics, groups and users that somebody may not see are in no answer of his, nor in an error's text, and
// what is hidden is told from what does not exist by nothing.
func TestNamesThatAreHiddenAppearNowhere(t *testing.T) {
	s := testkit.Server(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.KafkaAddr()), kgo.ConsumerGroup("zqhiddentogroup"), kgo.ConsumeTopics("zqhiddento"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.AllowAutoTopicCreation())
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for topic, value := range map[string]string{"zqhiddento": `{"zqhiddenco":1}`, "open": `{"a":1}`} {
		if err := cl.ProduceSync(ctx, &kgo.Record{Topic: topic, Key: []byte("k"), Value: []byte(value)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	cl.PollFetches(ctx)
	if err := cl.CommitUncommittedOffsets(ctx); err != nil {
		t.Fatal(err)
	}
	admin := openSQL(t, s, "root", "")
	if _, err := admin.ExecContext(ctx, "CREATE VIEW zqhiddenvi AS SELECT zqhiddenco FROM zqhiddento"); err != nil {
		t.Fatal(err)
	}
	users := auth.New(s.Store)
	for _, name := range []string{"zqhiddenus", "eve"} {
		if err := users.AddUser(name, matrixPassword); err != nil {
			t.Fatal(err)
		}
	}
	if err := users.Grant("eve", auth.Write, auth.Pattern{Type: auth.Topic, Name: "open"}); err != nil { // seen, not read
		t.Fatal(err)
	}
	eve := openSQL(t, s, "eve", matrixPassword)
	all := openSQL(t, s, "zqhiddenus", matrixPassword) // the first user is the administrator
	answer := func(statement string) string {
		rows, err := eve.QueryContext(ctx, statement)
		if err != nil {
			return err.Error()
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		fmt.Fprintln(&b, columns)
		for rows.Next() {
			cells := make([]any, len(columns))
			for i := range cells {
				cells[i] = new([]byte)
			}
			if err := rows.Scan(cells...); err != nil {
				t.Fatal(statement, err)
			}
			for _, c := range cells {
				fmt.Fprintf(&b, "%s ", *c.(*[]byte))
			}
		}
		if err := rows.Err(); err != nil {
			fmt.Fprint(&b, err)
		}
		return b.String()
	}
	lists := []string{"SHOW TABLES", "SHOW FULL TABLES", "SHOW TABLE STATUS", "SHOW DATABASES", "SHOW GRANTS", "SHOW PROCESSLIST", "SHOW OPEN TABLES", "SHOW WARNINGS"}
	for _, db := range []string{"information_schema", "performance_schema", "mysql", "sys", "millrace"} {
		for _, table := range tablesOf(ctx, t, all, db) {
			lists = append(lists, "SELECT * FROM "+db+".`"+table+"`")
		}
	}
	if len(lists) < 60 {
		t.Errorf("only %d lists", len(lists))
	}
	for _, statement := range lists {
		if got := answer(statement); strings.Contains(got, "zqhidden") {
			t.Errorf("%s\n%.500s", statement, got)
		}
	}
	// One that exists, and one that does not.
	for _, statement := range []string{
		"SELECT * FROM NAME", "SELECT zqhiddenco FROM NAME", "SELECT nosuch FROM NAME", "SELECT COUNT(*) FROM `NAME$raw`", "SELECT * FROM `NAME$latest`", "SELECT * FROM `NAME$errors`", "SELECT * FROM `NAME$nosuch`",
		"SELECT _value FROM NAME", "DESCRIBE NAME", "SHOW COLUMNS FROM NAME", "SHOW INDEX FROM NAME", "SHOW CREATE TABLE NAME", "SHOW CREATE VIEW NAME", "SHOW TABLE STATUS LIKE 'NAME'", "SHOW TABLES LIKE 'NAME'",
		"EXPLAIN SELECT * FROM NAME", "EXPLAIN FORMAT=JSON SELECT * FROM NAME", "EXPLAIN ANALYZE SELECT * FROM NAME", "EXPLAIN FORMAT=TREE SELECT * FROM NAME",
		"SELECT * FROM open JOIN NAME USING (_offset)", "SELECT (SELECT MAX(_offset) FROM NAME)", "WITH a AS (SELECT * FROM NAME) SELECT * FROM a", "SELECT * FROM NAME AS OF TIMESTAMP '2026-01-01 00:00:00'",
		"SELECT * FROM HOP(NAME, _timestamp, INTERVAL 10 SECOND, INTERVAL 5 SECOND)", "SELECT _offset FROM open UNION SELECT _offset FROM NAME",
		"INSERT INTO NAME (_value) VALUES ('x')", "INSERT INTO open (_value) SELECT _value FROM NAME", "ALTER TABLE NAME ADD COLUMN a INT", "ALTER TABLE NAME COMMENT='retention.ms=1'", "DROP TABLE NAME", "DROP TABLE IF EXISTS NAME", "DROP VIEW NAME",
		"TRUNCATE TABLE NAME", "DELETE FROM NAME WHERE _partition = 0 AND _offset < 1", "UPDATE NAME SET a = 1", "CREATE TABLE NAME (a INT)", "CREATE TABLE IF NOT EXISTS NAME (a INT)", "CREATE TABLE copy LIKE NAME",
		"CREATE VIEW NAME AS SELECT 1", "CREATE OR REPLACE VIEW NAME AS SELECT 1", "CREATE VIEW v AS SELECT * FROM NAME", "ANALYZE TABLE NAME", "CHECK TABLE NAME", "LOCK TABLES NAME READ", "FLUSH TABLES NAME", "HANDLER NAME OPEN",
		"CALL millrace.seal('NAME')", "CALL millrace.compact('NAME')", "CALL millrace.pin('NAME')", "CALL millrace.suggest('NAME')", "CALL millrace.reset_offsets('NAMEgroup', 'NAME', 'earliest')",
		"PREPARE p FROM 'SELECT * FROM NAME'", "SET @a = (SELECT MAX(_offset) FROM NAME)", "DO (SELECT MAX(_offset) FROM NAME)", "TABLE NAME", "SELECT NAME.a FROM open", "LOAD DATA INFILE 'x' INTO TABLE NAME",
		"SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'NAME'", "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'kafka' AND table_name = 'NAME'",
		"SELECT COUNT(*) FROM information_schema.statistics WHERE table_name = 'NAME'", "SELECT COUNT(*) FROM information_schema.views WHERE table_name = 'NAME'", "SELECT COUNT(*) FROM information_schema.key_column_usage WHERE table_name = 'NAME'",
		"GRANT SELECT ON kafka.NAME TO eve", "REVOKE SELECT ON kafka.NAME FROM eve", "GRANT READ ON GROUP NAMEgroup TO eve",
	} {
		for hidden, none := range map[string]string{"zqhiddento": "nonesuchto", "zqhiddenvi": "nonesuchvi"} {
			with := func(name string) string {
				return strings.ReplaceAll(answer(strings.ReplaceAll(statement, "NAME", name)), name, "NAME")
			}
			if a, b := with(hidden), with(none); a != b {
				t.Errorf("%s\n hidden: %.300s\n   none: %.300s", statement, a, b)
			}
		}
	}
	for _, statement := range []string{
		"SHOW GRANTS FOR NAME", "SHOW CREATE USER NAME", "DROP USER NAME", "DROP USER IF EXISTS NAME", "ALTER USER NAME IDENTIFIED BY 'x'", "CREATE USER NAME IDENTIFIED BY 'x'",
		"CREATE USER IF NOT EXISTS NAME IDENTIFIED BY 'x'", "SET PASSWORD FOR NAME = 'x'", "RENAME USER NAME TO other", "RENAME USER eve TO NAME", "GRANT SELECT ON kafka.open TO NAME", "REVOKE SELECT ON kafka.open FROM NAME", "REVOKE ALL PRIVILEGES, GRANT OPTION FROM NAME",
	} {
		with := func(name string) string {
			return strings.ReplaceAll(answer(strings.ReplaceAll(statement, "NAME", name)), name, "NAME")
		}
		if a, b := with("zqhiddenus"), with("nosuchuse_"); a != b {
			t.Errorf("%s\n hidden: %.300s\n   none: %.300s", statement, a, b)
		}
	}
}
