package account

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"millrace/server/auth"
	"millrace/server/mysql/sqlerr"

	"pgregory.net/rapid"
)

func number(err error) int {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return int(e.Number)
	}
	return 0
}

// described is a statement in few words.
func described(s Statement) string {
	opt := func(p *string) string {
		if p == nil {
			return "-"
		}
		return *p
	}
	var b strings.Builder
	switch s := s.(type) {
	case *CreateUser:
		fmt.Fprintf(&b, "alter=%v exists=%v", s.Alter, s.IfNotExists)
		for _, u := range s.Users {
			fmt.Fprintf(&b, " %s:%s", u.Name, opt(u.Password))
		}
		if s.Require != nil {
			fmt.Fprintf(&b, " require=%q", *s.Require)
		}
		if s.Locked != nil {
			fmt.Fprintf(&b, " locked=%v", *s.Locked)
		}
	case *SetPassword:
		fmt.Fprintf(&b, "%s current=%v %s replaces %s", s.User.Name, s.User.Name.Current, opt(s.User.Password), opt(s.User.Current))
	case *Grant:
		fmt.Fprintf(&b, "revoke=%v deny=%v admin=%v option=%v", s.Revoke, s.Deny, s.Rights.Administrator, s.Rights.Option)
		for _, n := range s.Accounts {
			for _, r := range s.Rights.List {
				for _, body := range r.ACLs {
					a := body.ACL(n, s.Deny)
					fmt.Fprintf(&b, " [%s %s %s %s prefix=%v %s]", a.Principal, a.Operation, a.Type, a.Name, a.Prefixed, a.Host)
				}
			}
		}
	default:
		fmt.Fprintf(&b, "%+v", s)
	}
	return b.String()
}

func TestStatementsAreReadAsMySQLWritesThem(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"CREATE USER bob IDENTIFIED BY 'x'", "alter=false exists=false 'bob'@'%':x"},
		{"create user if not exists 'b''ob'@'%' identified with `caching_sha2_password` by \"it's\", ann require ssl account lock", `alter=false exists=true 'b'ob'@'%':it's 'ann'@'%':- require="ssl" locked=true`},
		{"/* c */ CREATE -- d\n USER bob@'10.0.0.1' IDENTIFIED BY 'a\\'b\\n'", "alter=false exists=false 'bob'@'10.0.0.1':a'b\n"},
		{"CREATE USER bob IDENTIFIED WITH caching_sha2_password REQUIRE X509 PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT", `alter=false exists=false 'bob'@'%':- require="x509" locked=false`},
		{"ALTER USER a IDENTIFIED BY 'x', b IDENTIFIED BY 'y'", "alter=true exists=false 'a'@'%':x 'b'@'%':y"},
		{"ALTER USER IF EXISTS bob REQUIRE NONE WITH MAX_USER_CONNECTIONS 0", `alter=true exists=true 'bob'@'%':- require=""`},
		{"SET PASSWORD = 'x'", "''@'' current=true x replaces -"},
		{"SET PASSWORD FOR bob@'%' = 'x' REPLACE 'y'", "'bob'@'%' current=false x replaces y"},
		{"SHOW GRANTS", "&{For:''@''}"},
		{"SHOW GRANTS FOR CURRENT_USER()", "&{For:''@''}"},
		{"SHOW GRANTS FOR `bob`@`%`", "&{For:'bob'@'%'}"},
		{"SHOW CREATE USER bob", "&{For:'bob'@'%'}"},
		{"SET ROLE NONE", "&{}"},
		{"GRANT SELECT, INSERT ON kafka.orders TO bob, ann@'10.0.0.1'", "revoke=false deny=false admin=false option=false [User:bob READ TOPIC orders prefix=false *] [User:bob WRITE TOPIC orders prefix=false *] [User:ann READ TOPIC orders prefix=false 10.0.0.1] [User:ann WRITE TOPIC orders prefix=false 10.0.0.1]"},
		{"GRANT SELECT ON orders TO bob@10.0.0.1", "revoke=false deny=false admin=false option=false [User:bob READ TOPIC orders prefix=false 10.0.0.1]"},
		{"GRANT SELECT ON TABLE * TO ''", "revoke=false deny=false admin=false option=false [User:ANONYMOUS READ TOPIC * prefix=false *]"},
		{"GRANT ALTER, DROP, DELETE ON kafka.`orders-%` TO bob WITH GRANT OPTION", "revoke=false deny=false admin=false option=true [User:bob ALTER TOPIC orders- prefix=true *] [User:bob ALTER_CONFIGS TOPIC orders- prefix=true *] [User:bob DELETE TOPIC orders- prefix=true *]"},
		{"GRANT SELECT, CREATE, CREATE USER, PROCESS ON *.* TO bob", "revoke=false deny=false admin=false option=false [User:bob READ TOPIC * prefix=false *] [User:bob DESCRIBE CLUSTER kafka-cluster prefix=false *] [User:bob CREATE CLUSTER kafka-cluster prefix=false *] [User:bob ALTER CLUSTER kafka-cluster prefix=false *] [User:bob DESCRIBE CLUSTER kafka-cluster prefix=false *]"},
		{"GRANT CREATE, CREATE VIEW ON kafka.* TO bob", "revoke=false deny=false admin=false option=false [User:bob CREATE TOPIC * prefix=false *]"},
		{"GRANT ALL PRIVILEGES ON *.* TO bob WITH GRANT OPTION", "revoke=false deny=false admin=true option=true"},
		{"GRANT ALL ON kafka.x TO '*'", "revoke=false deny=false admin=false option=false [User:* ALL TOPIC x prefix=false *]"},
		{"GRANT SELECT ON millrace.* TO bob", "revoke=false deny=false admin=false option=false [User:bob DESCRIBE CLUSTER kafka-cluster prefix=false *]"},
		{"GRANT USAGE ON *.* TO bob", "revoke=false deny=false admin=false option=false"},
		{"GRANT READ, describe ON GROUP PREFIX 'app-' TO bob", "revoke=false deny=false admin=false option=false [User:bob READ GROUP app- prefix=true *] [User:bob DESCRIBE GROUP app- prefix=true *]"},
		{"GRANT ALL ON GROUP prefix TO bob", "revoke=false deny=false admin=false option=false [User:bob ALL GROUP prefix prefix=false *]"},
		{"GRANT WRITE ON TRANSACTIONAL_ID `x` TO bob", "revoke=false deny=false admin=false option=false [User:bob WRITE TRANSACTIONAL_ID x prefix=false *]"},
		{"GRANT IDEMPOTENT_WRITE ON CLUSTER TO bob", "revoke=false deny=false admin=false option=false [User:bob IDEMPOTENT_WRITE CLUSTER kafka-cluster prefix=false *]"},
		{"GRANT SELECT ON topic TO bob", "revoke=false deny=false admin=false option=false [User:bob READ TOPIC topic prefix=false *]"},
		{"GRANT SELECT ON `group`.x TO bob", "1235"},
		{"DENY SELECT ON kafka.secret TO bob", "revoke=false deny=true admin=false option=false [User:bob READ TOPIC secret prefix=false *]"},
		{"DENY READ ON TOPIC secret TO bob", "revoke=false deny=true admin=false option=false [User:bob READ TOPIC secret prefix=false *]"},
		{"REVOKE DENY READ ON TOPIC secret FROM bob", "revoke=true deny=true admin=false option=false [User:bob READ TOPIC secret prefix=false *]"},
		{"REVOKE IF EXISTS GRANT OPTION ON kafka.x FROM bob IGNORE UNKNOWN USER", "revoke=true deny=false admin=false option=true"},
		{"REVOKE ALL PRIVILEGES, GRANT OPTION FROM bob", "revoke=true deny=false admin=false option=false"},
		{"RENAME USER a TO b, c TO d", "&{From:['a'@'%' 'c'@'%'] To:['b'@'%' 'd'@'%']}"},
		{"DROP USER IF EXISTS a, b", "&{IfExists:true Names:['a'@'%' 'b'@'%']}"},
		// What there is not is said, never passed over.
		{"GRANT UPDATE ON kafka.x TO bob", "1235"},
		{"GRANT SELECT, UPDATE ON kafka.x TO bob", "1235"},
		{"GRANT DELETE ON kafka.x TO bob", "1235"},
		{"GRANT CREATE VIEW ON kafka.x TO bob", "1235"},
		{"GRANT SELECT (a, b) ON kafka.x TO bob", "1235"},
		{"GRANT SUPER ON *.* TO bob", "1235"},
		{"GRANT PROCESS ON kafka.* TO bob", "1221"},
		{"GRANT EXECUTE ON PROCEDURE millrace.pin TO bob", "1235"},
		{"GRANT SELECT ON mysql.* TO bob", "1235"},
		{"GRANT SELECT ON millrace.topics TO bob", "1235"},
		{"GRANT INSERT ON millrace.* TO bob", "1235"},
		{"GRANT SELECT ON kafka.`x$raw` TO bob", "1235"},
		{"GRANT SELECT ON kafka.`a%b` TO bob", "1103"},
		{"GRANT SELECT ON *.x TO bob", "1064"},
		{"GRANT SELECT ON GROUP x TO bob", "1064"},
		{"GRANT READ ON kafka.x TO bob", "1235"},
		{"GRANT ALL ON GROUP x TO bob WITH GRANT OPTION", "1235"},
		{"GRANT admin TO bob", "1235"},
		{"REVOKE admin FROM bob", "1235"},
		{"GRANT PROXY ON a TO b", "1235"},
		{"GRANT SELECT ON kafka.x TO bob IDENTIFIED BY 'x'", "1235"},
		{"GRANT SELECT ON kafka.x TO bob AS ann", "1235"},
		{"GRANT SELECT ON kafka.x TO bob extra", "1064"},
		{"DENY ALL ON *.* TO bob", "1235"},
		{"DENY SELECT ON kafka.x TO bob WITH GRANT OPTION", "1235"},
		{"CREATE ROLE r", "1235"},
		{"DROP ROLE r", "1235"},
		{"SET ROLE r", "1235"},
		{"SET DEFAULT ROLE r TO bob", "1235"},
		{"SHOW GRANTS FOR bob USING r", "1235"},
		{"CREATE USER bob IDENTIFIED BY RANDOM PASSWORD", "1235"},
		{"CREATE USER bob IDENTIFIED WITH mysql_native_password BY 'x'", "1524"},
		{"CREATE USER bob IDENTIFIED WITH caching_sha2_password AS 'x'", "1235"},
		{"CREATE USER bob IDENTIFIED BY 'x' AND IDENTIFIED BY 'y'", "1235"},
		{"CREATE USER bob IDENTIFIED BY 'x' DEFAULT ROLE r", "1235"},
		{"CREATE USER bob IDENTIFIED BY 'x' PASSWORD EXPIRE", "1235"},
		{"CREATE USER bob IDENTIFIED BY 'x' FAILED_LOGIN_ATTEMPTS 3", "1235"},
		{"CREATE USER bob IDENTIFIED BY 'x' WITH MAX_USER_CONNECTIONS 3", "1235"},
		{"CREATE USER bob IDENTIFIED BY 'x' COMMENT 'c'", "1235"},
		{"CREATE USER bob REQUIRE SUBJECT '/CN=x'", "1235"},
		{"CREATE USER bob IDENTIFIED BY 'x", "1064"},
		{"CREATE USER bob IDENTIFIED BY x", "1064"},
		{"ALTER USER bob IDENTIFIED BY 'x' RETAIN CURRENT PASSWORD", "1235"},
		{"SET PASSWORD = PASSWORD('x')", "1235"},
		{"SET PASSWORD TO RANDOM", "1235"},
		{"CREATE USER", "1064"},
		{"GRANT", "1064"},
		{"GRANT SELECT", "1064"},
		{"GRANT SELECT ON", "1064"},
		{"GRANT , ON x TO y", "1064"},
		{"SELECT 1", "not ours"},
		{"CREATE TABLE user (a INT)", "not ours"},
		{"SHOW GRANT", "not ours"},
		{"SET password_x = 1", "not ours"},
	} {
		s, first, rest, ok, err := Parse(c.text+" ; SELECT 2", "kafka")
		got := "not ours"
		switch {
		case err != nil:
			got = fmt.Sprint(number(err))
		case ok:
			got = described(s)
			if first != strings.TrimSpace(strings.TrimPrefix(c.text, "/* c */")) || rest != "SELECT 2" {
				t.Errorf("%s\nfirst %q, rest %q", c.text, first, rest)
			}
		}
		if got != c.want {
			t.Errorf("%s\n got %s\nwant %s (%v)", c.text, got, c.want, err)
		}
	}
}

func TestErrorsDoNotRepeatAPassword(t *testing.T) {
	for _, text := range []string{"CREATE USER bob IDENTIFIED BY 'hunter2' 'hunter2'", "SET PASSWORD 'hunter2'", "ALTER USER bob 'hunter2'"} {
		if _, _, _, _, err := Parse(text, ""); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestListsOfWhatRunsShowNoPassword(t *testing.T) {
	for _, text := range []string{
		"CREATE USER bob IDENTIFIED BY 'hunter2'", " /* x */ alter user a identified by \"hunter2\", b identified by 'hunter2'",
		"SET PASSWORD = 'hunter2'", "SET PASSWORD FOR 'bob' = 'hunter2", "CREATE USER bob IDENTIFIED BY 'a\\'hunter2'; SELECT 'hunter2'",
		"GRANT SELECT ON x TO bob IDENTIFIED BY 'hunter2'", "CREATE USER b IDENTIFIED BY 'x" + strings.Repeat("x", 8000) + "hunter2'",
	} {
		if got := Redacted(text); strings.Contains(got, "hunter2") || !strings.Contains(got, "<secret>") {
			t.Errorf("%.100s is shown as %.100s", text, got)
		}
	}
	for _, text := range []string{"SELECT 'x'", "CREATE TABLE t (a INT) COMMENT='x'", "SET NAMES 'utf8'", ""} {
		if got := Redacted(text); got != text {
			t.Errorf("%s is shown as %s", text, got)
		}
	}
}

// anACL draws one that can be stored.
func anACL(t *rapid.T) auth.ACL {
	typ := rapid.SampledFrom([]auth.ResourceType{auth.Topic, auth.Topic, auth.Topic, auth.Group, auth.Cluster, auth.TransactionalID, auth.User}).Draw(t, "type")
	a := auth.ACL{
		Principal: "User:" + rapid.SampledFrom([]string{"bob", "*"}).Draw(t, "principal"),
		Host:      rapid.SampledFrom([]string{"*", "*", "10.0.0.1", "::1"}).Draw(t, "host"),
		Operation: rapid.SampledFrom([]auth.Operation{
			auth.Read, auth.Write, auth.Create, auth.Delete, auth.Alter, auth.Describe, auth.AlterConfigs, auth.DescribeConfigs,
			auth.All, auth.ClusterAction, auth.IdempotentWrite, auth.CreateTokens, auth.DescribeTokens, auth.TwoPhaseCommit,
		}).Draw(t, "operation"),
		Deny: rapid.Bool().Draw(t, "deny"), Type: typ,
	}
	if typ == auth.Cluster {
		a.Name = auth.ClusterName
		return a
	}
	a.Name = rapid.OneOf(
		rapid.SampledFrom([]string{"*", "orders", "orders-", "a.b_c", "PREFIX", "to", "x%", "it's `x`", "ü \"q\"", "a$raw", "\\", "-- x", "/*"}),
		rapid.StringN(1, 20, 60)).Draw(t, "name")
	a.Prefixed = rapid.Bool().Draw(t, "prefixed")
	return a
}

// What SHOW GRANTS shows gives, executed again, what there was.
func TestShownRightsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		acls := rapid.SliceOfNDistinct(rapid.Custom(anACL), 0, 12, func(a auth.ACL) auth.ACL { return a }).Draw(t, "ACLs")
		options := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) auth.ACLPattern {
			return auth.ACLPattern{
				Type: auth.Topic, Name: rapid.SampledFrom([]string{"orders", "orders-", "x"}).Draw(t, "name"), Prefixed: rapid.Bool().Draw(t, "prefixed"),
			}
		}), 0, 3, func(p auth.ACLPattern) auth.ACLPattern { return p }).Draw(t, "grant options")
		h := Holder{Name: "bob", ACLs: acls, Options: options}
		var got []auth.ACL
		var gotOptions []auth.ACLPattern
		for _, text := range h.Statements() {
			s, _, rest, ok, err := Parse(text, "")
			g, isGrant := s.(*Grant)
			if err != nil || !ok || !isGrant || rest != "" || g.Revoke {
				t.Fatalf("%s: %v, rest %q", text, err, rest)
			}
			for _, n := range g.Accounts {
				for _, r := range g.Rights.List {
					for _, b := range r.ACLs {
						got = append(got, b.ACL(n, g.Deny))
					}
				}
			}
			if g.Rights.Option {
				gotOptions = append(gotOptions, g.Rights.Pattern)
			}
		}
		less := func(a, b auth.ACL) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
		slices.SortFunc(got, less)
		slices.SortFunc(acls, less)
		if !slices.Equal(got, acls) {
			t.Fatalf("%s\n got %v\nwant %v", strings.Join(h.Statements(), "\n"), got, acls)
		}
		lessPattern := func(a, b auth.ACLPattern) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
		slices.SortFunc(gotOptions, lessPattern)
		slices.SortFunc(options, lessPattern)
		if !slices.Equal(gotOptions, options) {
			t.Fatalf("%s\n got %v\nwant %v", strings.Join(h.Statements(), "\n"), gotOptions, options)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"CREATE USER bob@'%' IDENTIFIED BY 'x' REQUIRE SSL", "GRANT SELECT ON kafka.`a-%` TO bob", "REVOKE ALL PRIVILEGES, GRANT OPTION FROM a",
		"DENY READ ON GROUP PREFIX 'x' TO b@10.0.0.1", "SET PASSWORD = 'x", "SHOW GRANTS FOR CURRENT_USER()", "/*", "--", "`", "GRANT ' ON",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		_, first, rest, ok, err := Parse(in, "kafka")
		if err == nil && ok && len(first)+len(rest) > len(in) {
			t.Fatalf("%q and %q of %q", first, rest, in)
		}
		Redacted(in)
	})
}
