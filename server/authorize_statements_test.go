package server_test

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"millrace/internal/testkit"
	"millrace/server/auth"
	"millrace/store/state"

	"github.com/go-sql-driver/mysql"
	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

var updateMatrix = flag.Bool("update", false, "write docs/authorisation.md anew")

// statementKind is a statement about a topic, and the operations on it that it needs.
type statementKind struct {
	kind string
	text string // OBJ is the topic; several statements are separated by " ;; "
	ops  []auth.Operation
	// row: allowed is to get a row, for what is shown or left out.
	row bool
	// drops: the topic is gone when it was allowed.
	drops bool
}

var (
	reads     = []auth.Operation{auth.Read}
	describes = []auth.Operation{auth.Describe}
	writes    = []auth.Operation{auth.Write}
	alters    = []auth.Operation{auth.Alter, auth.AlterConfigs}
	deletes   = []auth.Operation{auth.Delete}
	creates   = []auth.Operation{auth.Create}
)

var statementKinds = []statementKind{
	{kind: "SELECT", text: "SELECT _offset FROM `OBJ`", ops: reads},
	{kind: "SELECT *", text: "SELECT * FROM `OBJ`", ops: reads},
	{kind: "SELECT COUNT(*)", text: "SELECT COUNT(*) FROM `OBJ`", ops: reads},
	{kind: "SELECT … WHERE, prepared", text: "SELECT _offset FROM `OBJ` WHERE _offset >= ?", ops: reads},
	{kind: "a constant FROM", text: "SELECT 1 FROM `OBJ` LIMIT 0", ops: reads},
	{kind: "GROUP BY", text: "SELECT _partition, MAX(_offset) FROM `OBJ` GROUP BY _partition", ops: reads},
	{kind: "window function", text: "SELECT ROW_NUMBER() OVER (ORDER BY _offset) FROM `OBJ`", ops: reads},
	{kind: "join", text: "SELECT 1 FROM mine JOIN `OBJ` o ON mine._offset = o._offset", ops: reads},
	{kind: "outer join", text: "SELECT 1 FROM mine LEFT JOIN `OBJ` o USING (_offset)", ops: reads},
	{kind: "scalar subquery", text: "SELECT (SELECT MAX(_offset) FROM `OBJ`)", ops: reads},
	{kind: "IN subquery", text: "SELECT 1 FROM mine WHERE _offset IN (SELECT _offset FROM `OBJ`)", ops: reads},
	{kind: "EXISTS", text: "SELECT 1 FROM mine WHERE EXISTS (SELECT 1 FROM `OBJ` o WHERE o._offset = mine._offset)", ops: reads},
	{kind: "derived table", text: "SELECT * FROM (SELECT _offset FROM `OBJ`) d", ops: reads},
	{kind: "LATERAL", text: "SELECT 1 FROM mine, LATERAL (SELECT o._offset FROM `OBJ` o WHERE o._offset = mine._offset) l", ops: reads},
	{kind: "common table expression", text: "WITH c AS (SELECT _offset FROM `OBJ`) SELECT * FROM c", ops: reads},
	{kind: "UNION", text: "SELECT _offset FROM mine UNION ALL SELECT _offset FROM `OBJ`", ops: reads},
	{kind: "ORDER BY a subquery", text: "SELECT _offset FROM mine ORDER BY (SELECT MAX(_offset) FROM `OBJ`)", ops: reads},
	{kind: "HAVING with a subquery", text: "SELECT _offset FROM mine GROUP BY _offset HAVING _offset < (SELECT MAX(_offset) + 1 FROM `OBJ`)", ops: reads},
	{kind: "TABLE", text: "TABLE `OBJ`", ops: reads},
	{kind: "AS OF", text: "SELECT COUNT(*) FROM `OBJ` AS OF TIMESTAMP '2037-01-01 00:00:00'", ops: reads},
	{kind: "HOP", text: "SELECT COUNT(*) FROM HOP(`OBJ`, _timestamp, INTERVAL 10 SECOND, INTERVAL 5 SECOND)", ops: reads},
	{kind: "companion $raw", text: "SELECT COUNT(*) FROM `OBJ$raw`", ops: reads},
	{kind: "companion $latest", text: "SELECT COUNT(*) FROM `OBJ$latest`", ops: reads},
	{kind: "companion $errors", text: "SELECT COUNT(*) FROM `OBJ$errors`", ops: reads},
	{kind: "a view of it", text: "SELECT * FROM `view_of_OBJ`", ops: reads},
	{kind: "EXPLAIN", text: "EXPLAIN SELECT * FROM `OBJ`", ops: reads},
	{kind: "EXPLAIN FORMAT=JSON", text: "EXPLAIN FORMAT=JSON SELECT * FROM `OBJ`", ops: reads},
	{kind: "EXPLAIN ANALYZE", text: "EXPLAIN ANALYZE SELECT * FROM `OBJ`", ops: reads},
	{kind: "SELECT INTO", text: "SELECT MAX(_offset) FROM `OBJ` INTO @a", ops: reads},
	{kind: "SET from a subquery", text: "SET @a = (SELECT MAX(_offset) FROM `OBJ`)", ops: reads},
	{kind: "DO", text: "DO (SELECT MAX(_offset) FROM `OBJ`)", ops: reads},
	{kind: "PREPARE", text: "PREPARE p FROM 'SELECT _offset FROM `OBJ`' ;; EXECUTE p", ops: reads},
	{kind: "INSERT … SELECT from it", text: "INSERT INTO mine (_value) SELECT _value FROM `OBJ`", ops: reads},
	{kind: "CREATE VIEW of it", text: "CREATE OR REPLACE VIEW mine_too AS SELECT _offset FROM `OBJ`", ops: reads},
	{kind: "CALL millrace.suggest", text: "CALL millrace.suggest('OBJ')", ops: reads},

	{kind: "DESCRIBE", text: "DESCRIBE `OBJ`", ops: describes},
	{kind: "SHOW COLUMNS", text: "SHOW FULL COLUMNS FROM `OBJ`", ops: describes},
	{kind: "SHOW INDEX", text: "SHOW INDEX FROM `OBJ`", ops: describes},
	{kind: "SHOW CREATE TABLE", text: "SHOW CREATE TABLE `OBJ`", ops: describes},
	{kind: "SHOW TABLES", text: "SHOW TABLES LIKE 'OBJ'", ops: describes, row: true},
	{kind: "SHOW TABLE STATUS", text: "SHOW TABLE STATUS LIKE 'OBJ'", ops: describes, row: true},
	{kind: "information_schema.tables", text: "SELECT 1 FROM information_schema.tables WHERE table_schema = 'kafka' AND table_name = 'OBJ'", ops: describes, row: true},
	{kind: "information_schema.columns", text: "SELECT 1 FROM information_schema.columns WHERE table_name = 'OBJ'", ops: describes, row: true},
	{kind: "information_schema.statistics", text: "SELECT 1 FROM information_schema.statistics WHERE table_name = 'OBJ'", ops: describes, row: true},

	{kind: "INSERT", text: "INSERT INTO `OBJ` (_value) VALUES ('{}')", ops: writes},
	{kind: "INSERT … SELECT into it", text: "INSERT INTO `OBJ` (_value) SELECT '{}' FROM mine WHERE _offset < 0", ops: writes},
	{kind: "INSERT in a transaction", text: "BEGIN ;; INSERT INTO `OBJ` (_value) VALUES ('{}') ;; ROLLBACK", ops: writes},

	{kind: "ALTER TABLE … COMMENT", text: "ALTER TABLE `OBJ` COMMENT='retention.ms=604800000'", ops: alters},
	{kind: "ALTER TABLE … ADD COLUMN", text: "ALTER TABLE `OBJ` ADD COLUMN IF NOT EXISTS extra INT", ops: alters},
	{kind: "CALL millrace.pin", text: "CALL millrace.pin('OBJ')", ops: alters},

	{kind: "TRUNCATE TABLE", text: "TRUNCATE TABLE `OBJ`", ops: deletes},
	{kind: "DELETE", text: "DELETE FROM `OBJ` WHERE _partition = 0 AND _offset < 1", ops: deletes},
	{kind: "DROP TABLE", text: "DROP TABLE `OBJ`", ops: deletes, drops: true},

	{kind: "CREATE TABLE", text: "CREATE TABLE `OBJ` (a INT)", ops: creates},
	{kind: "CREATE VIEW", text: "CREATE VIEW `OBJ` AS SELECT 1", ops: creates},
}

// holder is a user of the matrix: what he was granted, and the ACLs that it means, said by hand.
type holder struct {
	name string
	sql  []string // granted by SQL; USER is who
	acls []auth.ACL
	// admin: everything is allowed.
	admin bool
}

func on(name string, prefixed bool, ops ...auth.Operation) (list []auth.ACL) {
	for _, op := range ops {
		list = append(list, auth.ACL{Host: "*", Operation: op, Type: auth.Topic, Name: name, Prefixed: prefixed})
	}
	return list
}

func withDenied(list []auth.ACL, ops ...auth.Operation) []auth.ACL {
	for _, op := range ops {
		list = append(list, auth.ACL{Host: "*", Operation: op, Type: auth.Topic, Name: "orders", Deny: true})
	}
	return list
}

var holders = []holder{
	{name: "admin", admin: true},
	{name: "nobody"},
	{name: "sql_select", sql: []string{"GRANT SELECT ON kafka.orders TO USER"}, acls: on("orders", false, auth.Read)},
	{name: "sql_insert", sql: []string{"GRANT INSERT ON kafka.orders TO USER"}, acls: on("orders", false, auth.Write)},
	{name: "sql_alter", sql: []string{"GRANT ALTER ON kafka.orders TO USER"}, acls: on("orders", false, auth.Alter, auth.AlterConfigs)},
	{name: "sql_drop", sql: []string{"GRANT DROP ON kafka.orders TO USER"}, acls: on("orders", false, auth.Delete)},
	{name: "sql_create", sql: []string{"GRANT CREATE ON kafka.`orders%` TO USER"}, acls: on("orders", true, auth.Create)},
	{name: "sql_show", sql: []string{"GRANT SHOW VIEW ON kafka.orders TO USER"}, acls: on("orders", false, auth.Describe)},
	{name: "sql_all", sql: []string{"GRANT ALL ON kafka.orders TO USER"}, acls: on("orders", false, auth.All)},
	{name: "sql_prefix", sql: []string{"GRANT SELECT, INSERT ON kafka.`orders-%` TO USER"}, acls: on("orders-", true, auth.Read, auth.Write)},
	{name: "sql_database", sql: []string{"GRANT SELECT ON kafka.* TO USER"}, acls: on("*", false, auth.Read)},
	{name: "sql_global", sql: []string{"GRANT SELECT, DROP ON *.* TO USER"}, acls: on("*", false, auth.Read, auth.Delete)},
	{name: "sql_denied", sql: []string{"GRANT ALL ON kafka.* TO USER", "DENY SELECT ON kafka.orders TO USER"}, acls: withDenied(on("*", false, auth.All), auth.Read)},
	{name: "sql_hidden", sql: []string{"GRANT ALL ON kafka.* TO USER", "DENY SHOW VIEW ON kafka.orders TO USER"}, acls: withDenied(on("*", false, auth.All), auth.Describe)},
	{name: "sql_elsewhere", sql: []string{"GRANT ALL ON kafka.* TO USER@'10.1.2.3'"}},
	{name: "sql_revoked", sql: []string{"GRANT ALL ON kafka.orders TO USER", "REVOKE INSERT ON kafka.orders FROM USER"}, acls: on("orders", false, auth.Read, auth.Create, auth.Describe, auth.Delete, auth.Alter, auth.DescribeConfigs, auth.AlterConfigs)},
	{name: "kafka_read", acls: on("orders", false, auth.Read)},
	{name: "kafka_write", acls: on("orders", true, auth.Write)},
	{name: "kafka_alter", acls: on("orders", false, auth.Alter)}, // half of SQL's ALTER
	{name: "kafka_alter_configs", acls: on("orders", false, auth.AlterConfigs)},
	{name: "kafka_describe", acls: on("*", false, auth.Describe)},
	{name: "kafka_all_denied", acls: withDenied(on("orders", true, auth.All), auth.Write, auth.Delete)},
}

var matrixTopics = []string{"orders", "orders-eu", "billing"}

// Every kind of statement, for every kind of right, however it was given: allowed or refused as the ACLs say.
func TestEveryKindOfStatementFollowsTheRights(t *testing.T) {
	s := testkit.Server(t)
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	createTopic(t, s, append(matrixTopics, "mine")...)
	root := openSQL(t, s, "root", "")
	exec := func(db *sql.DB, statement string) {
		t.Helper()
		if _, err := db.ExecContext(ctx, statement); err != nil {
			t.Fatal(statement, err)
		}
	}
	for _, topic := range append(matrixTopics, "mine") {
		exec(root, "INSERT INTO `"+topic+"` (_key, _value) VALUES ('k', '{\"a\":1}')")
	}
	for _, topic := range matrixTopics {
		exec(root, "CREATE VIEW `view_of_"+topic+"` AS SELECT _offset FROM `"+topic+"`")
	}
	users := auth.New(s.Store)
	for _, h := range holders {
		if err := users.AddUser(h.name, matrixPassword); err != nil {
			t.Fatal(err)
		}
	}
	admin := openSQL(t, s, "admin", matrixPassword)
	for i, h := range holders {
		for j := range h.acls {
			holders[i].acls[j].Principal = "User:" + h.name
		}
		for _, statement := range h.sql {
			exec(admin, strings.ReplaceAll(statement, "USER", "'"+h.name+"'"))
		}
		if len(h.sql) > 0 {
			var got []auth.ACL
			for _, a := range users.ACLsFor(h.name) {
				if a.Type == auth.Topic && a.Host == "*" {
					got = append(got, a)
				}
			}
			order := func(a, b auth.ACL) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
			want := slices.SortedFunc(slices.Values(h.acls), order)
			if slices.SortFunc(got, order); !slices.Equal(got, want) {
				t.Errorf("%s: %v became %v, want %v", h.name, h.sql, got, want)
			}
		}
		for _, a := range h.acls {
			if len(h.sql) == 0 {
				if err := users.AddACL(ctx, a); err != nil {
					t.Fatal(err)
				}
			}
		}
		// What the statements need beside the topic that they are about.
		for _, statement := range []string{"GRANT ALL ON kafka.mine TO USER", "GRANT ALL ON kafka.mine_too TO USER", "GRANT SELECT ON kafka.`view_of_%` TO USER"} {
			if !h.admin {
				exec(admin, strings.ReplaceAll(statement, "USER", "'"+h.name+"'"))
			}
		}
	}
	var rootID int
	victim, err := admin.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer victim.Close()
	if err := victim.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&rootID); err != nil {
		t.Fatal(err)
	}
	cells, allowed, wrong := 0, 0, 0
	cell := func(h holder, kind, topic string, ops []auth.Operation, got bool, detail any) {
		t.Helper()
		want := true
		for _, op := range ops {
			want = want && (h.admin || mayDo(h.acls, h.name, op, auth.Topic, topic))
		}
		if len(ops) > 0 && ops[0] == auth.Read && !h.admin { // what is hidden cannot be named
			want = want && mayDo(h.acls, h.name, auth.Describe, auth.Topic, topic)
		}
		if cells++; want {
			allowed++
		}
		if got != want {
			if wrong++; wrong < 40 {
				t.Errorf("%s: %s of %s: allowed %v, want %v (%v)", h.name, kind, topic, got, want, detail)
			}
		}
	}
	for _, h := range holders {
		db := openSQL(t, s, h.name, matrixPassword)
		conn, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range statementKinds {
			for _, topic := range matrixTopics {
				rows, err := runStatements(ctx, conn, strings.ReplaceAll(k.text, "OBJ", topic))
				ok := !isDenied(t, err)
				if k.row {
					ok = ok && rows > 0
				}
				cell(h, k.kind, topic, k.ops, ok, err)
				if k.drops && err == nil {
					if _, err := s.Store.Commit(ctx, state.CreateTopic{ID: uuid.New(), Name: topic, Partitions: 1}); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		// What is about no topic: administrators', or for who may describe the cluster.
		describes := h.admin || h.name == "sql_global"
		for statement, want := range map[string]bool{
			"SELECT COUNT(*) FROM millrace.topics": describes, "SELECT COUNT(*) FROM millrace.connections": describes, "SELECT * FROM millrace.statements": describes,
			"SHOW GRANTS FOR nobody": describes || h.name == "nobody", "SHOW CREATE USER nobody": describes || h.name == "nobody",
			"SET GLOBAL max_connections = 151": h.admin, "FLUSH PRIVILEGES": h.admin,
			"CREATE USER IF NOT EXISTS made IDENTIFIED BY 'x'": h.admin, "ALTER USER IF EXISTS made IDENTIFIED BY 'y'": h.admin, "DROP USER IF EXISTS made": h.admin, "RENAME USER nobody TO nobody": h.admin,
			"GRANT READ ON GROUP g TO nobody": h.admin, "REVOKE IF EXISTS READ ON GROUP g FROM nobody": h.admin, "DENY WRITE ON TOPIC nothing TO nobody": h.admin,
			fmt.Sprintf("KILL QUERY %d", rootID): h.admin,
		} {
			_, err := runStatements(ctx, conn, statement)
			var e *mysql.MySQLError
			if err != nil && !errors.As(err, &e) {
				t.Fatal(statement, err)
			}
			ok := err == nil || e.Number == 1396 // of RENAME, once it is allowed
			if cells++; want {
				allowed++
			}
			if ok != want {
				wrong++
				t.Errorf("%s: %s: allowed %v, want %v (%v)", h.name, statement, ok, want, err)
			}
		}
		_ = conn.Close()
		_ = db.Close()
		cl, err := kgo.NewClient(kgo.SeedBrokers(s.KafkaAddr()), kgo.MaxVersions(kversion.V3_0_0()), kgo.SASL(scram.Auth{User: h.name, Pass: matrixPassword}.AsSha256Mechanism()))
		if err != nil {
			t.Fatal(err)
		}
		ask := func(req kmsg.Request) kmsg.Response {
			t.Helper()
			resp, err := cl.SeedBrokers()[0].Request(ctx, req)
			if err != nil {
				t.Fatal(err)
			}
			return resp
		}
		for _, a := range topicActions {
			if a.op == auth.Delete {
				continue // it would delete records
			}
			for i, code := range a.ask(ask, matrixTopics) {
				want := h.admin || mayDo(h.acls, h.name, a.op, auth.Topic, matrixTopics[i])
				if cells++; want {
					allowed++
				}
				if got := code != 29; got != want {
					wrong++
					t.Errorf("%s: Kafka's %s of %s: allowed %v, want %v", h.name, a.name, matrixTopics[i], got, want)
				}
			}
		}
		cl.Close()
	}
	if cells < 3000 || allowed < cells/5 || allowed > cells*4/5 {
		t.Errorf("%d cells, %d of them allowed: too few of one kind", cells, allowed)
	}
	t.Logf("%d cells, %d allowed, %d wrong", cells, allowed, wrong)
}

// runStatements runs one after the other, up to the first that fails, and counts the rows of all.
func runStatements(ctx context.Context, conn *sql.Conn, text string) (n int, err error) {
	defer func() {
		if err != nil && strings.Contains(text, "BEGIN") {
			_, _ = conn.ExecContext(ctx, "ROLLBACK")
		}
	}()
	for statement := range strings.SplitSeq(text, " ;; ") {
		var args []any
		if strings.Contains(statement, "?") {
			args = append(args, 0)
		}
		rows, err := conn.QueryContext(ctx, statement, args...)
		if err != nil {
			return n, err
		}
		for rows.Next() {
			n++
		}
		err = rows.Err()
		_ = rows.Close()
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// isDenied says whether the error is about rights: anything else is another reason.
func isDenied(t *testing.T, err error) bool {
	t.Helper()
	var e *mysql.MySQLError
	if err == nil {
		return false
	}
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	switch e.Number {
	case 1142, 1044, 1227, 1146:
		return true
	case 1050: // CREATE of what there is: who may not is told so before
		return false
	default:
		t.Errorf("neither allowed nor denied: %v", err)
		return false
	}
}

// docs/authorisation.md is made from the matrix.
func TestTheMatrixIsDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("# What a right allows\n\nMade from the tests' matrix by `go test ./server -run TheMatrixIsDocumented -update`: each line is tried for each kind of right, given by SQL or by Kafka, on topics that it is about and others.\n\n")
	b.WriteString("| statement about a topic | operations on the topic (Kafka) | right (SQL) |\n|---|---|---|\n")
	rights := map[auth.Operation]string{auth.Read: "SELECT", auth.Write: "INSERT", auth.Describe: "any (SHOW VIEW is this alone)", auth.Alter: "ALTER", auth.Delete: "DROP", auth.Create: "CREATE"}
	for _, k := range statementKinds {
		ops := make([]string, len(k.ops))
		for i, op := range k.ops {
			ops[i] = op.String()
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", k.kind, strings.Join(ops, ", "), rights[k.ops[0]])
	}
	b.WriteString("\n| Kafka's request about a topic | operation |\n|---|---|\n")
	for _, a := range topicActions {
		fmt.Fprintf(&b, "| %s | %s |\n", a.name, a.op)
	}
	const file = "../docs/authorisation.md"
	if *updateMatrix {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != b.String() {
		t.Fatal("docs/authorisation.md is not what is tested: go test ./server -run TheMatrixIsDocumented -update", err)
	}
}
