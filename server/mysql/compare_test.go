package mysql

import (
	"fmt"
	"strings"
	"testing"
)

func TestTextComparesWithNumbersByTheNumberItBeginsWith(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"n":5,"d":0.5,"s":"5abc","big":9007199254740993}`, `{"n":0,"d":0,"s":"x","big":9007199254740992}`, "-", `{"n":null,"s":null}`)
	db := in.open("app", "", "")
	for _, c := range []struct{ query, want string }{
		{"SELECT '5abc'=5, 5='5abc', 'abc'=0, '5'=5, ' 5 '=5, '1e1'=10, '.5x'=0.5, '-2x'<-1, '5abc'<=>5", "1,1,1,1,1,1,1,1,1"},
		{"SELECT '5abc'<>5, '5abc'>4, '5abc' BETWEEN 4 AND 6, '5abc' IN (4,5), 5 IN ('5abc'), 5 NOT IN ('6','5abc'), 5 BETWEEN '4x' AND '5x'", "0,1,1,1,1,0,1"},
		{"SELECT '5abc'+1, '1e2x'*2, -'3x', '7x' DIV 2, '7x'%4, '2x' OR 0, '2x' AND 1, NOT '2x', '2024-01-31'+INTERVAL 1 DAY", "6,200,-3,3,3,1,1,0,2024-02-01"},
		{"SELECT SUM(s+1), MAX(s*2) FROM t", "7,10"},
		{"SELECT COUNT(*) FROM t WHERE n='5abc'", "1"},
		{"SELECT COUNT(*) FROM t WHERE n='5'", "1"},
		{"SELECT COUNT(*) FROM t WHERE n>'-1'", "2"},
		{"SELECT COUNT(*) FROM t WHERE d='0.5'", "1"},
		{"SELECT COUNT(*) FROM t WHERE n IN ('5abc','7')", "1"},
		{"SELECT _offset FROM t WHERE s=5", "0"},
		{"SELECT _offset FROM t WHERE s=0", "1"},
		{"SELECT _offset FROM t WHERE n=s ORDER BY 1", "0 / 1"},
		{"SELECT _offset FROM t WHERE big='9007199254740993'", "0"},
		{"SELECT SUM(n='5abc'), SUM(CASE WHEN s=5 THEN 1 ELSE 0 END) FROM t", "1,1"},
		{"SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM t u WHERE u.n='5abc')", "3"},
		{"SELECT n FROM t GROUP BY n HAVING n='5x'", "5"},
	} {
		for _, on := range []string{"1", "0"} {
			if _, err := db.Exec("SET millrace_pushdown=" + on); err != nil {
				t.Fatal(err)
			}
			if got := ask(t, db, c.query); got != c.want {
				t.Errorf("%s (pushdown %s): %s, want %s", c.query, on, got, c.want)
			}
		}
	}
	if got := ask(t, db, "SELECT '5abc'=5"); got != "1" {
		t.Error(got)
	}
	if got := ask(t, db, "SHOW WARNINGS"); got != "Warning,1292,Truncated incorrect DOUBLE value: '5abc'" {
		t.Error(got)
	}
	st, err := db.Prepare("SELECT COUNT(*) FROM t WHERE n=?")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if got := askPrepared(t, st, "5abc"); got != "1" {
		t.Error(got)
	}
}

func TestAScanKeepsBoundedWarnings(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"s":"1x"}`)
	values := make([]string, 5000)
	for i := range values {
		values[i] = fmt.Sprintf(`{"s":"2x%d"}`, i) // each warns once, however often it comes
	}
	in.produce(in.id("t"), values...)
	db := in.open("app", "", "")
	if got := ask(t, db, "SELECT COUNT(*) FROM t WHERE s=2"); got != "5000" {
		t.Fatal(got)
	}
	if got := ask(t, db, "SHOW COUNT(*) WARNINGS"); got != "1024" {
		t.Error(got)
	}
}

func TestPrefixPatternsFindEveryCharacter(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"s":"abc"}`, `{"s":"abcz"}`, `{"s":"abcÿ"}`, `{"s":"abcĀ"}`, "-", `{"s":"abc日本"}`, `{"s":"abc😀"}`, `{"s":"ab"}`, `{"s":"abd"}`, `{"s":"a%c"}`, `{"s":null}`)
	db := in.open("app", "", "")
	for _, on := range []string{"1", "0"} {
		if _, err := db.Exec("SET millrace_pushdown=" + on); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ query, want string }{
			{"SELECT COUNT(*) FROM t WHERE s LIKE 'abc%'", "6"},
			{"SELECT COUNT(*) FROM t WHERE s NOT LIKE 'abc%'", "3"},
			{"SELECT COUNT(*) FROM t WHERE s LIKE 'abc'", "1"},
			{`SELECT COUNT(*) FROM t WHERE s LIKE 'a\%c'`, "1"},
			{"SELECT COUNT(*) FROM t WHERE s LIKE 'a|%c' ESCAPE '|'", "1"},
			{`SELECT 'a\%c\_\\%\'', "\%", "it's \%" /* '\% */, '-- \%' -- '\%`, `a\%c\_\%',\%,it's \%,-- \%`},
			{"SELECT COUNT(*) FROM t WHERE s LIKE 'abc_'", "4"},
			{"SELECT COUNT(*) FROM t WHERE s LIKE '%'", "9"},
			{"SELECT COUNT(*) FROM t WHERE s LIKE NULL", "0"},
		} {
			if got := ask(t, db, c.query); got != c.want {
				t.Errorf("%s (pushdown %s): %s, want %s", c.query, on, got, c.want)
			}
		}
	}
}

func TestUnixTimesFollowTheSessionsZoneAndKeepFractions(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"millrace.columns": "at TIMESTAMP(3), dt DATETIME"}, `{"at":"2024-03-10T12:00:00.250Z","dt":"2024-03-10T12:00:00Z","u":1710072000}`)
	db := in.open("app", "", "")
	for _, c := range []struct{ zone, query, want string }{
		{"+00:00", "SELECT FROM_UNIXTIME(1), FROM_UNIXTIME(1.5), FROM_UNIXTIME('1.5'), FROM_UNIXTIME(1447430881.123456)", "1970-01-01 00:00:01,1970-01-01 00:00:01.5,1970-01-01 00:00:01.500000,2015-11-13 16:08:01.123456"},
		{"+00:00", "SELECT FROM_UNIXTIME(-1), FROM_UNIXTIME(32536771199), FROM_UNIXTIME(32536771200), FROM_UNIXTIME(NULL)", "NULL,3001-01-18 23:59:59,NULL,NULL"},
		{"+00:00", "SELECT FROM_UNIXTIME(1447430881,'%Y %D %M %h:%i:%s %x')", "2015 13th November 04:08:01 2015"},
		{"+00:00", "SELECT UNIX_TIMESTAMP('2015-11-13 10:20:19'), UNIX_TIMESTAMP('2015-11-13 10:20:19.012'), UNIX_TIMESTAMP(20151113102019), UNIX_TIMESTAMP('x'), UNIX_TIMESTAMP(NULL), UNIX_TIMESTAMP('1969-01-01')", "1447410019,1447410019.012,1447410019,0,NULL,0"},
		{"+05:00", "SELECT UNIX_TIMESTAMP('1970-01-02 00:00:00'), FROM_UNIXTIME(0), UNIX_TIMESTAMP()-UNIX_TIMESTAMP(NOW())", "68400,1970-01-01 05:00:00,0"},
		{"America/New_York", "SELECT FROM_UNIXTIME(1710053999), FROM_UNIXTIME(1710054000), UNIX_TIMESTAMP('2024-03-10 03:00:00')", "2024-03-10 01:59:59,2024-03-10 03:00:00,1710054000"},
		// A TIMESTAMP is an instant in every zone; a DATETIME is wall time in the session's.
		{"+00:00", "SELECT at, UNIX_TIMESTAMP(at), UNIX_TIMESTAMP(dt), UNIX_TIMESTAMP(_timestamp) FROM t", "2024-03-10 12:00:00.250,1710072000.250,1710072000,1700000000.000"},
		{"+05:00", "SELECT at, UNIX_TIMESTAMP(at), UNIX_TIMESTAMP(dt), UNIX_TIMESTAMP(_timestamp) FROM t", "2024-03-10 17:00:00.250,1710072000.250,1710054000,1700000000.000"},
		{"America/New_York", "SELECT at, UNIX_TIMESTAMP(at), UNIX_TIMESTAMP(_timestamp), FROM_UNIXTIME(u) FROM t", "2024-03-10 08:00:00.250,1710072000.250,1700000000.000,2024-03-10 08:00:00"},
	} {
		if _, err := db.Exec("SET time_zone='" + c.zone + "'"); err != nil {
			t.Fatal(err)
		}
		if got := ask(t, db, c.query); got != c.want {
			t.Errorf("%s in %s:\n got %s\nwant %s", c.query, c.zone, got, c.want)
		}
	}
}

func TestOnlyDeterminedColumnsStandBesideAggregates(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"a":1,"b":2,"s":"x"}`, `{"a":1,"b":3,"s":"X"}`)
	in.topic("u", nil, `{"a":1,"c":7}`)
	db := in.open("app", "", "")
	for _, c := range []struct {
		query string
		want  int
	}{
		{"SELECT CONCAT(s,'a'), COUNT(*) FROM t GROUP BY CONCAT(s,'A')", 1055},
		{"SELECT s='X', COUNT(*) FROM t GROUP BY s='x'", 1055},
		{"SELECT (SELECT COUNT(*) FROM u WHERE u.a=t.b) m, COUNT(*) FROM t GROUP BY t.a", 1055},
		{"SELECT (SELECT COUNT(*) FROM u WHERE u.a=t.b AND c>1) m, COUNT(*) FROM t GROUP BY (SELECT COUNT(*) FROM u WHERE u.a=t.b AND c>2)", 1055},
		{"SELECT EXISTS (SELECT 1 FROM u WHERE u.a=t.b), COUNT(*) FROM t GROUP BY t.a", 1055},
		{"SELECT t.b IN (SELECT u.a FROM u WHERE u.c>t.a), COUNT(*) FROM t GROUP BY t.b", 1055},

		{"SELECT CONCAT(S,'a'), upper(T.s), COUNT(*) FROM t GROUP BY concat(t.s,'a'), UPPER(s)", 0},
		{"SELECT (SELECT COUNT(*) FROM u WHERE u.a=t.b) m, COUNT(*) FROM t GROUP BY m", 0},
		{"SELECT 1+(SELECT COUNT(*) FROM u WHERE u.a=t.b) m, COUNT(*) FROM t GROUP BY m ORDER BY m", 0},
		{"SELECT EXISTS (SELECT 1 FROM u WHERE u.a=t.b) m, COUNT(*) FROM t GROUP BY 1 HAVING m>=0", 0},
		{"SELECT (SELECT COUNT(*) FROM u WHERE u.a=t.b) m, COUNT(*) FROM t GROUP BY (SELECT COUNT(*) FROM u WHERE u.a=t.b)", 0},
		{"SELECT a, COUNT(*) FROM t", 1140},
		{"SELECT a+1, COUNT(*) FROM t", 1140},
		{"SELECT COUNT(*) FROM t ORDER BY a", 1140},
		{"SELECT a FROM t HAVING COUNT(*)>1", 1140},
		{"SELECT *, COUNT(*) FROM t", 1140},
		{"SELECT a, b FROM t GROUP BY a", 1055},
		{"SELECT a, b, COUNT(*) FROM t GROUP BY a LIMIT 1", 1055},
		{"SELECT a, MAX(b) FROM t GROUP BY a HAVING b>1", 1055},
		{"SELECT a FROM t GROUP BY a ORDER BY b", 1055},
		{"SELECT UPPER(s), s FROM t GROUP BY UPPER(s)", 1055},
		{"SELECT (SELECT u.a FROM u WHERE COUNT(u.a)) FROM t", -2},
		{"SELECT a, (SELECT a+COUNT(*) FROM u) FROM t GROUP BY a", 1140}, // the inner a is u's
		{"SELECT x.a, COUNT(*) FROM (SELECT a, b FROM t) x GROUP BY x.b", 1055},
		{"SELECT t.a, u.c, COUNT(*) FROM t LEFT JOIN u ON t.a=u.a GROUP BY t.a", 1055},

		{"SELECT a, COUNT(*) FROM t WHERE a=1", 0},
		{"SELECT a, COUNT(*), SUM(b)/COUNT(*) FROM t GROUP BY a", 0},
		{"SELECT a+1, CONCAT(a,'x'), COUNT(*)+1 FROM t GROUP BY a HAVING COUNT(*)>0 AND a>0 ORDER BY a, COUNT(*)", 0},
		{"SELECT UPPER(s) u, CONCAT(UPPER(s),'!') FROM t GROUP BY UPPER(s)", 0},
		{"SELECT LENGTH(s) l, COUNT(*) c FROM t GROUP BY l HAVING l>0 ORDER BY l, c", 0},
		{"SELECT LENGTH(s) l, COUNT(*) FROM t GROUP BY 1 ORDER BY 1", 0},
		{"SELECT ANY_VALUE(b), a FROM t GROUP BY a", 0},
		{"SELECT _partition, _offset, a, b, MAX(s) FROM t GROUP BY _partition, _offset", 0},
		{"SELECT t.a, u.a, COUNT(*) FROM t JOIN u ON t.a=u.a GROUP BY t.a", 0},
		{"SELECT a, b, RANK() OVER (ORDER BY b) FROM t", 0},
		{"SELECT a, COUNT(*), RANK() OVER (ORDER BY COUNT(*)) FROM t GROUP BY a", 0},
		{"SELECT x.a, x.n, COUNT(*) FROM (SELECT a, COUNT(*) n FROM t GROUP BY a) x GROUP BY x.a", 0},
		{"SELECT (SELECT COUNT(*)+o.a FROM u) FROM t o", 0},
		{"SELECT DISTINCT a FROM t GROUP BY a, b", 0},
		{"SELECT 1, NOW() IS NULL, COUNT(*) FROM t", 0},
		{"WITH w AS (SELECT a, COUNT(*) n FROM t GROUP BY a) SELECT a, n FROM w", 0},
		{"SELECT a FROM t GROUP BY a UNION SELECT c FROM u", 0},
		{"SELECT CASE WHEN a>0 THEN 'p' ELSE 'n' END k, SUM(b) FROM t GROUP BY CASE WHEN a>0 THEN 'p' ELSE 'n' END", 0},
		{"SELECT a DIV 2 * 2 k, COUNT(*) FROM t GROUP BY a DIV 2 * 2 ORDER BY k", 0},
	} {
		_, err := table(t, db, c.query)
		if got := errNumber(err); got != c.want && c.want != -2 {
			t.Errorf("%s: %d (%v), want %d", c.query, got, err, c.want)
		}
	}
	if _, err := db.Exec("SET sql_mode=''"); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, db, "SELECT a, COUNT(*) FROM t"); got != "1,2" {
		t.Error(got)
	}
}

func TestStatementsOfOtherVersionsSayWhatToDoInstead(t *testing.T) {
	in := start(t, nil)
	in.topic("flights", nil, `{"origin":"SFO"}`)
	db := in.open("app", "", "")
	for _, c := range []struct{ query, hint string }{
		{"CREATE TABLE x AS SELECT 1", "INSERT … SELECT"},
		{"CREATE TEMPORARY TABLE x (a INT)", "WITH"},
		{"CREATE UNIQUE INDEX i ON flights (origin)", "without one"},
		{"CREATE FULLTEXT INDEX i ON flights (origin)", "without one"},
		{"DROP INDEX i ON flights", "without one"},
		{"ALTER TABLE flights ADD UNIQUE (origin)", "without one"},
		{"ALTER TABLE flights ADD PRIMARY KEY (origin)", "without one"},
		{"ALTER TABLE flights DROP INDEX origin", "without one"},
		{"CREATE TABLE x (a INT, UNIQUE (a))", "(_partition, _offset)"},
		{"ALTER TABLE flights RENAME TO f2", "keep their name"},
		{"RENAME TABLE flights TO f2", "keep their name"},
		{"REPLACE INTO flights (origin) VALUES ('a')", "append-only"},
		{"UPDATE flights SET origin='x'", "append-only"},
		{"DELETE FROM flights WHERE origin='x'", "append-only"},
		{"CREATE DATABASE foo", "database kafka"},
		{"DROP DATABASE kafka", "database kafka"},
		{"ALTER DATABASE kafka CHARACTER SET utf8mb4", "database kafka"},
		{"CREATE TRIGGER t BEFORE INSERT ON flights FOR EACH ROW SET @a=1", "stored programs"},
		{"CREATE PROCEDURE p() SELECT 1", "stored programs"},
		{"CREATE FUNCTION f() RETURNS INT RETURN 1", "stored programs"},
		{"DROP PROCEDURE p", "stored programs"},
		{"DROP TRIGGER p", "stored programs"},
		{"CREATE EVENT e ON SCHEDULE EVERY 1 HOUR DO SELECT 1", "stored programs"},
		{"OPTIMIZE TABLE flights", "no maintenance"},
		{"CHECK TABLE flights", "millrace verify"},
		{"HANDLER flights OPEN", "SELECT"},
	} {
		_, err := db.Exec(c.query)
		if errNumber(err) != 1235 || !strings.Contains(err.Error(), c.hint) {
			t.Errorf("%s: %v, want 1235 with %q", c.query, err, c.hint)
		}
	}
	if got := ask(t, db, "ANALYZE TABLE flights"); got != "kafka.flights,analyze,status,OK" {
		t.Error(got)
	}
}

func TestInWithAGroupedSubqueryIsComputedOnce(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"k":-1}`)
	in.topic("u", nil, `{"k":-1}`)
	values := make([]string, 5000)
	for i := range values {
		values[i] = fmt.Sprintf(`{"k":%d}`, i/2)
	}
	in.produce(in.id("t"), values...)
	in.produce(in.id("u"), values...)
	db := in.open("app", "", "")
	for _, c := range []struct{ query, want string }{
		{"SELECT COUNT(*) FROM t WHERE k IN (SELECT k FROM u GROUP BY k HAVING COUNT(*)>1)", "5000"},
		{"SELECT COUNT(*) FROM t WHERE k IN (SELECT k FROM u GROUP BY k HAVING COUNT(*)=1) AND k<0", "1"},
		{"SELECT COUNT(*) FROM t WHERE k NOT IN (SELECT k FROM u GROUP BY k HAVING COUNT(*)>1)", "1"},
		{"SELECT COUNT(*) FROM t WHERE k IN (SELECT DISTINCT k FROM u)", "5001"},
		{"SELECT COUNT(*) FROM t WHERE k IN (SELECT k FROM u UNION SELECT 7)", "5001"},
		{"SELECT 1 IN (SELECT NULL FROM u GROUP BY k), 1 IN (SELECT k FROM u GROUP BY k)", "NULL,1"},
	} {
		if got := ask(t, db, c.query); got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
}

func TestAdministratorsListUsersAndOthersThemselves(t *testing.T) {
	in := start(t, nil)
	for _, u := range []string{"ada", "bob"} {
		if err := in.auth.AddUser(u, "secret-"+u); err != nil {
			t.Fatal(err)
		}
	}
	const query = "SELECT User, Host, Super_priv FROM mysql.user ORDER BY User"
	if got := ask(t, in.open("ada", "secret-ada", "tls=skip-verify"), query); got != "ada,%,Y / bob,%,N" {
		t.Error(got)
	}
	bob := in.open("bob", "secret-bob", "tls=skip-verify")
	if got := ask(t, bob, query); got != "bob,%,N" {
		t.Error(got)
	}
	if got := ask(t, bob, "SELECT * FROM mysql.nosuch"); !strings.HasPrefix(got, "error 1146") {
		t.Error(got)
	}
}

func TestTopicsThatDifferOnlyByCaseAreTwoTables(t *testing.T) {
	in := start(t, nil)
	in.topic("Orders", nil, `{"a":1}`)
	in.topic("orders", nil, `{"b":1}`, `{"b":2}`)
	db := in.open("app", "", "")
	for _, c := range []struct{ query, want string }{
		{"SELECT a FROM Orders", "1"},
		{"SELECT COUNT(*) FROM orders", "2"},
		{"SELECT b FROM Orders", "error 1054: Error 1054 (42S22): Unknown column 'b' in 'field list'"},
		{"SELECT COUNT(*) FROM ORDERS", "error 1146: Error 1146 (42S02): Table 'kafka.ORDERS' doesn't exist"},
		{"SELECT x.a, y.b FROM Orders x JOIN orders y ON x.a=y.b", "1,1"},
		// The engine takes these names for one: aliases tell them apart.
		{"SELECT Orders.a, orders.b FROM Orders JOIN orders ON Orders.a=orders.b", "error 1066: Error 1066 (42000): Not unique table/alias: orders"},
		{"SELECT c.column_name FROM information_schema.columns c JOIN information_schema.tables t ON c.table_name=t.table_name WHERE t.table_name='orders' AND c.column_name='b'", "b"},
		{"SHOW TABLES", "Orders / orders"},
		{"SELECT table_name, column_name FROM information_schema.columns WHERE table_schema='kafka' AND column_name IN ('a','b') ORDER BY 1, 2", "Orders,a / orders,b"},
		{"SELECT column_name FROM information_schema.columns WHERE table_name='Orders' AND column_name IN ('a','b')", "a"},
		{"SELECT table_name, table_rows FROM information_schema.tables WHERE table_schema='kafka' ORDER BY 1", "Orders,1 / orders,2"},
		{"SELECT COUNT(*) FROM information_schema.tables WHERE table_name='orders'", "1"},
		{"SELECT COUNT(*) FROM information_schema.columns c JOIN information_schema.tables t ON c.table_name<>t.table_name WHERE t.table_name='orders' AND t.table_schema='kafka' AND c.table_schema='kafka' AND c.column_name='a'", "1"},
		{"SHOW COLUMNS FROM Orders LIKE 'a'", "a,bigint,YES,,NULL,"},
		{"SHOW COLUMNS FROM orders LIKE 'a'", ""},
	} {
		if got := ask(t, db, c.query); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.query, got, c.want)
		}
	}
}

func TestNumbersAreCutTowardsZero(t *testing.T) {
	in := start(t, nil)
	db := in.open("app", "", "")
	for _, c := range []struct{ query, want string }{
		{"SELECT TRUNCATE(2.567,2), TRUNCATE(-2.567,1), TRUNCATE(1999,-2), TRUNCATE(2.567,0), TRUNCATE(1999.9,-2), TRUNCATE(2.5e0,0), TRUNCATE('7.89x',1), TRUNCATE(NULL,1), TRUNCATE(1.5,NULL)", "2.56,-2.5,1900,2,1900,2,7.8,NULL,NULL"},
		{"SELECT TRUNCATE(9007199254740993,0), TRUNCATE(9007199254740993,-1)", "9007199254740993,9007199254740990"},
		{"SELECT PERIOD_ADD(202411,3), PERIOD_DIFF(202502,202411), PERIOD_ADD(9912,1)", "202502,3,200001"},
		{"SELECT TIMEDIFF(NOW(),UTC_TIMESTAMP()), UTC_TIMESTAMP()=NOW(), LENGTH(UTC_TIMESTAMP(3)) BETWEEN 19 AND 23", "00:00:00,1,1"},
		{"SELECT '2024-01-01' + INTERVAL 90 MINUTE", "2024-01-01 01:30:00"},
		{"SHOW WARNINGS", ""},
	} {
		if got := ask(t, db, c.query); got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
}

func TestOldCollationsPadWithSpaces(t *testing.T) { // C25
	in := start(t, nil)
	values := []string{`{"s":"a"}`, `{"s":"A"}`, `{"s":"a "}`, "-", `{"s":"b"}`, `{"s":null}`}
	in.topic("t", nil, values...)
	in.topic("new", map[string]string{"millrace.collation": "utf8mb4_0900_ai_ci"}, values...)
	db := in.open("app", "", "")
	for _, c := range []struct{ query, want string }{
		{"SELECT COUNT(*) FROM t WHERE s COLLATE utf8mb4_0900_ai_ci='a'", "2"},
		{"SELECT COUNT(*) FROM t WHERE s COLLATE utf8mb4_bin='a'", "2"},
		{"SELECT COUNT(*) FROM t WHERE s COLLATE utf8mb4_bin='a  '", "2"},
		{"SELECT COUNT(*) FROM t WHERE s='a'", "1"},
		{"SELECT COUNT(*) FROM t WHERE s='a '", "1"},
		{"SELECT COUNT(DISTINCT s) FROM t", "4"},
		{"SHOW FULL COLUMNS FROM new LIKE 's'", "s,varchar(16383),utf8mb4_0900_ai_ci,YES,,NULL,,,"},
		{"SHOW COLUMNS FROM new LIKE 's'", "s,varchar(16383),YES,,NULL,"},
		{"SHOW FULL FIELDS FROM t LIKE 's'", "s,varchar(16383),utf8mb4_0900_bin,YES,,NULL,,,"},
		{"SELECT COUNT(*) FROM new WHERE s='a'", "2"},
		{"SELECT COUNT(DISTINCT s) FROM new", "3"},
		{"SELECT COUNT(*) FROM new x JOIN new y ON x.s=y.s", "6"},
		{"SELECT COUNT(*) FROM (SELECT s FROM new GROUP BY s) x", "4"},
		{"SELECT COUNT(DISTINCT s COLLATE utf8mb4_bin), COUNT(DISTINCT s COLLATE utf8mb4_general_ci), COUNT(DISTINCT s, 1) FROM t", "3,2,4"},
		{"SELECT COUNT(*) FROM t WHERE 'a'=s COLLATE utf8mb4_bin AND s LIKE 'a'", "1"},
	} {
		for _, on := range []string{"1", "0"} {
			if _, err := db.Exec("SET millrace_pushdown=" + on); err != nil {
				t.Fatal(err)
			}
			if got := ask(t, db, c.query); got != c.want {
				t.Errorf("%s (pushdown %s): %s, want %s", c.query, on, got, c.want)
			}
		}
	}
}

func TestTimesAreReadWithAnyPunctuation(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"d":"2001/01/05 11:22","n":1}`, `{"d":"2001-01-05 11:22:33.5","n":2}`, `{"d":null}`)
	db := in.open("app", "", "")
	for _, c := range []struct{ query, want string }{
		{"SELECT HOUR(d), MINUTE(d), DATE(d), YEAR(d), DAYNAME(d), DATE_FORMAT(d,'%H:%i') FROM t", "11,22,2001-01-05,2001,Friday,11:22 / 11,22,2001-01-05,2001,Friday,11:22 / NULL,NULL,NULL,NULL,NULL,NULL"},
		{"SELECT HOUR(d) h, COUNT(*) FROM t GROUP BY h ORDER BY h", "NULL,1 / 11,2"},
		{"SELECT HOUR(d), COUNT(*) FROM t GROUP BY HOUR(d) ORDER BY HOUR(d)", "NULL,1 / 11,2"},
		{"SELECT DATEDIFF('2001/01/05','2001.1.1'), HOUR('05:06:07'), UNIX_TIMESTAMP('2001/01/05 11:22'), TIME('2001/01/05 11:22:00')", "4,5,978693720,11:22:00"},
		{"SELECT DATE(_timestamp), HOUR(_timestamp) FROM t LIMIT 1", "2023-11-14,22"},
	} {
		if got := ask(t, db, c.query); got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
	for query, want := range map[string]int{
		"SELECT COUNT(*) FROM t WHERE COUNT(*)>1":                                           1111,
		"SELECT n FROM t WHERE SUM(n)>1 AND n=1":                                            1111,
		"SELECT COUNT(*) FROM t WHERE n IN (SELECT MAX(n) FROM t)":                          0,
		"SELECT COUNT(*) FROM (SELECT n, COUNT(*) c FROM t GROUP BY n HAVING COUNT(*)>0) x": 0,
	} {
		if _, err := table(t, db, query); errNumber(err) != want {
			t.Errorf("%s: %v, want %d", query, err, want)
		}
	}
}
