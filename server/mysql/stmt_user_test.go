package mysql

import (
	"context"
	"slices"
	"strings"
	"testing"

	"millrace/server/auth"
)

// as asks each query as one user and compares: "error N" is compared by its number alone.
type asked struct{ query, want string }

func (in *instance) as(t *testing.T, user, password string, list []asked) {
	t.Helper()
	db := in.open(user, password, "tls=skip-verify")
	defer db.Close()
	for _, c := range list {
		got := ask(t, db, c.query)
		if strings.HasPrefix(c.want, "error") && len(got) > len(c.want) {
			got = got[:len(c.want)]
		}
		if got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", user, c.query, got, c.want)
		}
	}
}

func TestUsersAreKeptBySQL(t *testing.T) {
	in := start(t, nil)
	in.topic("orders", nil, `{"x":1}`)
	if err := in.auth.AddUser("root", "pw"); err != nil {
		t.Fatal(err)
	}
	in.as(t, "root", "pw", []asked{
		{"CREATE USER ada IDENTIFIED BY 'one', bob IDENTIFIED BY 'two'", ""},
		{"CREATE USER ada IDENTIFIED BY 'x', eve IDENTIFIED BY 'x'", "error 1396"}, // neither
		{"SHOW GRANTS FOR eve", "error 1141"},
		{"CREATE USER IF NOT EXISTS ada IDENTIFIED BY 'x'", ""},
		{"SHOW WARNINGS", "Note,3163,Authorization ID 'ada'@'%' already exists."},
		{"CREATE USER eve", "error 1819"},
		{"CREATE USER eve IDENTIFIED BY ''", "error 1819"},
		{"CREATE USER 'eve'@'localhost' IDENTIFIED BY 'x'", "error 1235"},
		{"CREATE USER '*' IDENTIFIED BY 'x'", "error 1470"},
		{"CREATE USER ANONYMOUS IDENTIFIED BY 'x'", "error 1470"},
		{"CREATE USER cert REQUIRE X509", ""},
		{"SHOW CREATE USER cert", "CREATE USER `cert`@`%` IDENTIFIED WITH 'caching_sha2_password' REQUIRE X509 PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT"},
		{"ALTER USER cert REQUIRE NONE", "error 1819"},
		{"ALTER USER nobody IDENTIFIED BY 'x'", "error 1396"},
		{"ALTER USER 'ada'@'10.0.0.1' IDENTIFIED BY 'x'", "error 1396"},
		{"ALTER USER IF EXISTS nobody IDENTIFIED BY 'x'", ""},
		{"SHOW WARNINGS", "Note,3162,Authorization ID 'nobody'@'%' does not exist."},
		{"ALTER USER bob ACCOUNT LOCK", ""},
		{"ALTER USER root ACCOUNT LOCK", "error 1396"}, // the last administrator
		{"SET PASSWORD FOR nobody = 'x'", "error 1133"},
		{"SET PASSWORD FOR ada = 'three'", ""},
		{"RENAME USER cert TO paper", ""},
		{"SHOW CREATE USER cert", "error 1396"},
		{"RENAME USER paper TO ada", "error 1396"},
		{"RENAME USER nobody TO somebody", "error 1396"},
		{"DROP USER paper, nobody", "error 1396"},
		{"DROP USER IF EXISTS paper, nobody", ""},
		{"SHOW WARNINGS", "Note,3162,Authorization ID 'nobody'@'%' does not exist."},
		{"DROP USER root", "error 1396"},
	})
	for password, want := range map[string]int{"one": 1045, "three": 0} {
		if err := in.open("ada", password, "tls=skip-verify").Ping(); errNumber(err) != want {
			t.Errorf("ada with %s: %v", password, err)
		}
	}
	for password, want := range map[string]int{"x": 1045, "two": 3118} { // that it is locked learns who knows the password
		if err := in.open("bob", password, "tls=skip-verify").Ping(); errNumber(err) != want {
			t.Errorf("bob with %s: %v", password, err)
		}
	}
	in.as(t, "ada", "three", []asked{
		{"SHOW CREATE USER ada", "CREATE USER `ada`@`%` IDENTIFIED WITH 'caching_sha2_password' REQUIRE NONE PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT"},
		{"SHOW CREATE USER bob", "error 1044"},
		{"SHOW GRANTS FOR bob", "error 1044"},
		{"SHOW GRANTS FOR CURRENT_USER", "GRANT USAGE ON *.* TO `ada`@`%`"},
		{"CREATE USER eve IDENTIFIED BY 'x'", "error 1227"},
		{"DROP USER bob", "error 1227"},
		{"RENAME USER ada TO root2", "error 1227"},
		{"ALTER USER ada ACCOUNT LOCK", "error 1227"},
		{"ALTER USER bob IDENTIFIED BY 'x'", "error 1227"},
		{"SET PASSWORD FOR bob = 'x'", "error 1227"},
		{"SET PASSWORD = 'four' REPLACE 'wrong'", "error 3891"},
		{"SET PASSWORD = 'four' REPLACE 'three'", ""},
		{"ALTER USER CURRENT_USER() IDENTIFIED BY 'five'", ""},
	})
	if err := in.open("ada", "five", "tls=skip-verify").Ping(); err != nil {
		t.Error(err)
	}
	// Kafka's right to alter the cluster is the right to keep users.
	if err := in.auth.Grant("ada", auth.Alter, auth.Pattern{Type: auth.Cluster}); err != nil {
		t.Fatal(err)
	}
	in.as(t, "ada", "five", []asked{{"CREATE USER eve IDENTIFIED BY 'x' REQUIRE SSL", ""}, {"ALTER USER bob ACCOUNT UNLOCK", ""}, {"DROP USER bob", ""}})
}

func TestRightsAreGivenAndTakenBySQL(t *testing.T) {
	in := start(t, nil)
	for _, name := range []string{"orders", "orders-a", "secret"} {
		in.topic(name, nil, `{"x":1}`)
	}
	for _, name := range []string{"root", "ada", "bob", "eve"} {
		if err := in.auth.AddUser(name, "pw"); err != nil {
			t.Fatal(err)
		}
	}
	root := func(list ...asked) { t.Helper(); in.as(t, "root", "pw", list) }
	bob := func(list ...asked) { t.Helper(); in.as(t, "bob", "pw", list) }
	bob(asked{"SELECT x FROM orders", "error 1142"}, asked{"SHOW TABLES", ""})

	root(asked{"GRANT SELECT ON kafka.orders TO bob", ""}, asked{"GRANT SELECT ON kafka.orders TO bob", ""})
	bob(asked{"SELECT x FROM orders", "1"}, asked{"SHOW TABLES", "orders"}, asked{"INSERT INTO orders (x) VALUES (2)", "error 1142"})
	if want := (auth.ACL{Principal: "User:bob", Host: "*", Operation: auth.Read, Type: auth.Topic, Name: "orders"}); !slices.Equal(in.auth.ACLsOf("bob"), []auth.ACL{want}) {
		t.Errorf("Kafka is shown %v", in.auth.ACLsOf("bob"))
	}
	root(
		asked{"GRANT INSERT, ALTER ON kafka.`orders%` TO bob", ""},
		asked{"SHOW GRANTS FOR bob", "GRANT USAGE ON *.* TO `bob`@`%` / GRANT SELECT ON `kafka`.`orders` TO `bob`@`%` / GRANT INSERT, ALTER ON `kafka`.`orders%` TO `bob`@`%`"})
	bob(
		asked{"INSERT INTO orders (x) VALUES (2)", ""}, asked{"INSERT INTO `orders-a` (x) VALUES (2)", ""}, asked{"INSERT INTO secret (x) VALUES (2)", "error 1142"},
		asked{"SELECT x FROM `orders-a`", "error 1142"}, asked{"ALTER TABLE orders COMMENT='retention.ms=1000000'", ""}, asked{"DROP TABLE orders", "error 1142"})

	// What one wire denies is denied on the other, and shown.
	root(asked{"GRANT SELECT ON kafka.* TO bob", ""}, asked{"DENY SELECT ON kafka.secret TO bob", ""})
	bob(asked{"SELECT x FROM secret", "error 1142"}, asked{"SELECT COUNT(*) FROM orders", "2"})
	root(
		asked{"SHOW GRANTS FOR bob", "GRANT USAGE ON *.* TO `bob`@`%` / GRANT SELECT ON `kafka`.* TO `bob`@`%` / GRANT SELECT ON `kafka`.`orders` TO `bob`@`%` / " +
			"GRANT INSERT, ALTER ON `kafka`.`orders%` TO `bob`@`%` / DENY READ ON TOPIC `secret` TO `bob`@`%`"},
		asked{"REVOKE DENY READ ON TOPIC secret FROM bob", ""})
	bob(asked{"SELECT x FROM secret", "1"})

	root(
		asked{"REVOKE SELECT ON kafka.secret FROM bob", "error 1147"}, // it comes from kafka.*
		asked{"REVOKE SELECT ON kafka.* FROM bob", ""},
		asked{"REVOKE SELECT ON kafka.* FROM bob", "error 1141"},
		asked{"REVOKE IF EXISTS SELECT ON kafka.* FROM bob", ""},
		asked{"REVOKE SELECT ON kafka.x FROM nobody", "error 1141"},
		asked{"REVOKE SELECT ON kafka.x FROM nobody IGNORE UNKNOWN USER", "error 1147"},
		asked{"GRANT SELECT ON kafka.orders TO nobody", "error 1410"},
		asked{"GRANT SELECT ON kafka.orders TO bob@localhost", "error 1235"},
		asked{"REVOKE ALL PRIVILEGES, GRANT OPTION FROM bob", ""},
		asked{"REVOKE ALL PRIVILEGES, GRANT OPTION FROM nobody", "error 1269"},
		asked{"SHOW GRANTS FOR bob", "GRANT USAGE ON *.* TO `bob`@`%`"})
	bob(asked{"SHOW TABLES", ""})

	// One right out of ALL leaves the others.
	root(
		asked{"GRANT ALL ON kafka.orders TO bob", ""},
		asked{"SHOW GRANTS FOR bob", "GRANT USAGE ON *.* TO `bob`@`%` / GRANT ALL PRIVILEGES ON `kafka`.`orders` TO `bob`@`%`"},
		asked{"REVOKE INSERT ON kafka.orders FROM bob", ""})
	bob(asked{"INSERT INTO orders (x) VALUES (2)", "error 1142"}, asked{"SELECT COUNT(*) FROM orders", "2"}, asked{"TRUNCATE orders", ""})
	root(asked{"REVOKE ALL ON kafka.orders FROM bob", ""}, asked{"SHOW GRANTS FOR bob", "GRANT USAGE ON *.* TO `bob`@`%`"})

	// A right for one address, and for everyone.
	root(asked{"GRANT SELECT ON kafka.secret TO bob@10.1.2.3", ""})
	bob(asked{"SELECT x FROM secret", "error 1142"})
	root(asked{"GRANT SELECT ON kafka.secret TO bob@127.0.0.1", ""}, asked{"GRANT SELECT ON kafka.orders TO '*'", ""})
	bob(asked{"SELECT x FROM secret", "1"}, asked{"SHOW TABLES", "orders / secret"},
		asked{"SHOW GRANTS", "GRANT USAGE ON *.* TO `bob`@`%` / GRANT SELECT ON `kafka`.`orders` TO `*`@`%` / GRANT SELECT ON `kafka`.`secret` TO `bob`@`10.1.2.3` / GRANT SELECT ON `kafka`.`secret` TO `bob`@`127.0.0.1`"})
	root(asked{"REVOKE SELECT ON kafka.orders FROM '*'", ""}, asked{"REVOKE ALL PRIVILEGES, GRANT OPTION FROM bob", ""})

	// The system tables, and what is global.
	bob(asked{"SELECT COUNT(*) > 0 FROM millrace.topics", "error 1142"})
	root(asked{"GRANT SELECT ON millrace.* TO bob", ""})
	bob(asked{"SELECT COUNT(*) > 0 FROM millrace.topics", "1"}, asked{"SHOW GRANTS FOR ada", "GRANT USAGE ON *.* TO `ada`@`%`"})
	root(asked{"REVOKE SELECT ON millrace.* FROM bob", ""}, asked{"GRANT SELECT ON *.* TO bob", ""},
		asked{"SHOW GRANTS FOR bob", "GRANT USAGE ON *.* TO `bob`@`%` / GRANT SELECT ON `kafka`.* TO `bob`@`%` / GRANT SELECT ON millrace.* TO `bob`@`%`"},
		asked{"GRANT CREATE, CREATE USER ON *.* TO bob", ""},
		asked{"SHOW GRANTS FOR bob", "GRANT USAGE ON *.* TO `bob`@`%` / GRANT SELECT ON `kafka`.* TO `bob`@`%` / GRANT SELECT ON millrace.* TO `bob`@`%` / GRANT CREATE, CREATE USER ON *.* TO `bob`@`%`"})
	bob(asked{"CREATE TABLE made (a INT)", ""}, asked{"CREATE USER temp IDENTIFIED BY 'x'", ""}, asked{"DROP USER temp", ""}, asked{"SET GLOBAL max_connections=1", "error 1227"},
		asked{"GRANT ALL ON *.* TO bob", "error 1045"}) // keeps users, but makes no administrators

	// An administrator is made and unmade.
	root(asked{"GRANT ALL ON *.* TO bob", ""}, asked{"SHOW GRANTS FOR bob", "GRANT ALL PRIVILEGES ON *.* TO `bob`@`%` WITH GRANT OPTION"},
		asked{"REVOKE SELECT ON *.* FROM bob", "error 1235"}, asked{"GRANT ALL ON *.* TO '*'", "error 1235"})
	bob(asked{"DROP TABLE made", ""}, asked{"SHOW TABLES", "orders / orders-a / secret"})
	root(asked{"REVOKE ALL ON *.* FROM bob", ""}, asked{"REVOKE ALL ON *.* FROM root", "error 1396"})
	bob(asked{"SET GLOBAL max_connections=1", "error 1227"})
	root(asked{"DROP USER bob", ""}, asked{"CREATE USER bob IDENTIFIED BY 'pw'", ""}) // nothing is left of the old one
	bob(asked{"SHOW GRANTS", "GRANT USAGE ON *.* TO `bob`@`%`"}, asked{"SHOW TABLES", ""})
}

func TestWhoHoldsTheGrantOptionPassesOnWhatHeHas(t *testing.T) {
	in := start(t, nil)
	for _, name := range []string{"orders", "orders-a", "secret"} {
		in.topic(name, nil, `{"x":1}`)
	}
	for _, name := range []string{"root", "ada", "bob"} {
		if err := in.auth.AddUser(name, "pw"); err != nil {
			t.Fatal(err)
		}
	}
	in.as(t, "root", "pw", []asked{
		{"GRANT SELECT, INSERT ON kafka.`orders%` TO ada WITH GRANT OPTION", ""},
		{"SHOW GRANTS FOR ada", "GRANT USAGE ON *.* TO `ada`@`%` / GRANT SELECT, INSERT ON `kafka`.`orders%` TO `ada`@`%` WITH GRANT OPTION"},
		{"GRANT SELECT ON kafka.secret TO ada", ""},
	})
	in.as(t, "ada", "pw", []asked{
		{"GRANT SELECT ON kafka.orders TO bob", ""},
		{"GRANT SELECT ON kafka.`orders-%` TO bob WITH GRANT OPTION", ""},
		{"GRANT ALTER ON kafka.orders TO bob", "error 1142"},
		{"GRANT SELECT ON kafka.secret TO bob", "error 1142"},
		{"GRANT SELECT ON kafka.* TO bob", "error 1044"},
		{"GRANT SELECT ON *.* TO bob", "error 1045"},
		{"GRANT READ ON GROUP g TO bob", "error 1227"},
		{"DENY SELECT ON kafka.orders TO bob", "error 1142"},
		{"REVOKE SELECT ON kafka.orders FROM bob", ""},
		{"GRANT SELECT ON kafka.orders TO bob", ""},
	})
	in.as(t, "bob", "pw", []asked{
		{"SELECT x FROM orders", "1"}, {"GRANT SELECT ON kafka.orders TO ada", "error 1142"}, {"GRANT SELECT ON kafka.`orders-a` TO ada", ""},
	})
	// Who is denied a part gives nothing away around it.
	in.as(t, "root", "pw", []asked{{"DENY SELECT ON kafka.`orders-a` TO ada", ""}})
	in.as(t, "ada", "pw", []asked{{"GRANT SELECT ON kafka.`orders%` TO bob", "error 1142"}, {"GRANT SELECT ON kafka.orders TO bob", ""}})
	in.as(t, "root", "pw", []asked{{"REVOKE GRANT OPTION ON kafka.`orders%` FROM ada", ""}})
	in.as(t, "ada", "pw", []asked{{"GRANT SELECT ON kafka.orders TO bob", "error 1142"}})
	// It goes with a new name, and not to who gets the old one.
	in.as(t, "root", "pw", []asked{
		{"RENAME USER bob TO rob", ""},
		{"SHOW GRANTS FOR rob", "GRANT USAGE ON *.* TO `rob`@`%` / GRANT SELECT ON `kafka`.`orders` TO `rob`@`%` / GRANT SELECT ON `kafka`.`orders-%` TO `rob`@`%` WITH GRANT OPTION"},
		{"CREATE USER bob IDENTIFIED BY 'pw'", ""},
		{"SHOW GRANTS FOR bob", "GRANT USAGE ON *.* TO `bob`@`%`"},
	})
}

// What Kafka's tools granted is shown, in words that give it again.
func TestRightsGivenByKafkaAreShownAndReadBack(t *testing.T) {
	in := start(t, nil)
	for _, name := range []string{"root", "bob", "copy"} {
		if err := in.auth.AddUser(name, "pw"); err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range []auth.ACL{
		{Operation: auth.Read, Type: auth.Group, Name: "app-", Prefixed: true},
		{Operation: auth.Describe, Type: auth.Group, Name: "app-", Prefixed: true},
		{Operation: auth.Write, Type: auth.TransactionalID, Name: "it's"},
		{Operation: auth.AlterConfigs, Type: auth.Topic, Name: "orders"},
		{Operation: auth.Describe, Type: auth.Topic, Name: "seen"},
		{Operation: auth.IdempotentWrite, Type: auth.Cluster, Name: auth.ClusterName},
		{Operation: auth.Delete, Type: auth.Topic, Name: "*", Deny: true},
		{Operation: auth.Delete, Type: auth.Topic, Name: "gone"},
	} {
		a.Principal, a.Host = "User:bob", "*"
		if err := in.auth.AddACL(context.Background(), a); err != nil {
			t.Fatal(err)
		}
	}
	db := in.open("root", "pw", "tls=skip-verify")
	shown := ask(t, db, "SHOW GRANTS FOR bob")
	want := []string{
		"GRANT USAGE ON *.* TO `bob`@`%`", "GRANT DELETE, DROP ON `kafka`.`gone` TO `bob`@`%`", "GRANT ALTER_CONFIGS ON TOPIC `orders` TO `bob`@`%`",
		"GRANT SHOW VIEW ON `kafka`.`seen` TO `bob`@`%`", "GRANT READ, DESCRIBE ON GROUP PREFIX `app-` TO `bob`@`%`",
		"GRANT IDEMPOTENT_WRITE ON CLUSTER TO `bob`@`%`", "GRANT WRITE ON TRANSACTIONAL_ID `it's` TO `bob`@`%`", "DENY DELETE ON TOPIC `*` TO `bob`@`%`",
	}
	if got := strings.Split(shown, " / "); !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
	for _, text := range want {
		if got := ask(t, db, strings.ReplaceAll(text, "`bob`", "`copy`")); got != "" {
			t.Errorf("%s: %s", text, got)
		}
	}
	if got := strings.ReplaceAll(ask(t, db, "SHOW GRANTS FOR copy"), "`copy`", "`bob`"); got != shown {
		t.Errorf("read back as %s", got)
	}
}

func TestTablesOfRightsShowWhatWasGranted(t *testing.T) {
	in := start(t, nil)
	for _, name := range []string{"root", "ada", "bob"} {
		if err := in.auth.AddUser(name, "pw"); err != nil {
			t.Fatal(err)
		}
	}
	in.as(t, "root", "pw", []asked{
		{"GRANT SELECT, INSERT ON kafka.`orders-%` TO bob WITH GRANT OPTION", ""},
		{"GRANT SELECT ON kafka.* TO bob@10.1.2.3", ""},
		{"GRANT SELECT ON millrace.* TO ada", ""},
		{"GRANT CREATE ON *.* TO ada", ""},
		{"DENY SELECT ON kafka.x TO bob", ""},
		{"SELECT GRANTEE, TABLE_SCHEMA, TABLE_NAME, PRIVILEGE_TYPE, IS_GRANTABLE FROM information_schema.table_privileges ORDER BY 4", "'bob'@'%',kafka,orders-%,INSERT,YES / 'bob'@'%',kafka,orders-%,SELECT,YES"},
		{"SELECT GRANTEE, TABLE_SCHEMA, PRIVILEGE_TYPE, IS_GRANTABLE FROM information_schema.schema_privileges ORDER BY 2", "'bob'@'10.1.2.3',kafka,SELECT,NO / 'ada'@'%',millrace,SELECT,NO"},
		{"SELECT GRANTEE, PRIVILEGE_TYPE, IS_GRANTABLE FROM information_schema.user_privileges WHERE grantee NOT LIKE '%root%' ORDER BY 1, 2", "'ada'@'%',CREATE,NO / 'ada'@'%',PROCESS,NO / 'ada'@'%',USAGE,NO / 'bob'@'%',USAGE,NO"},
		{"SELECT COUNT(*) > 5, MIN(is_grantable) FROM information_schema.user_privileges WHERE grantee LIKE '%root%'", "1,YES"},
		{"SELECT Host, Db, User, Select_priv FROM mysql.db ORDER BY Db", "10.1.2.3,kafka,bob,Y / %,millrace,ada,Y"},
		{"SELECT User, Table_name, Table_priv FROM mysql.tables_priv", "bob,orders-%,Select,Insert"},
	})
	in.as(t, "bob", "pw", []asked{
		{"SELECT DISTINCT GRANTEE FROM information_schema.user_privileges", "'bob'@'%'"},
		{"SELECT COUNT(*) FROM information_schema.schema_privileges", "1"},
		{"SELECT User FROM mysql.db", "bob"},
	})
}
