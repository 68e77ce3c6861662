package mysql

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"millrace/server/auth"

	"github.com/go-sql-driver/mysql"
)

func TestLoginMatrix(t *testing.T) { // C40
	in := start(t, nil)
	const (
		open    = "open"
		closed  = "closed"
		granted = "ANONYMOUS was granted something"
	)
	rows := []struct {
		phase, user, password, params string
		want                          int
	}{
		{open, "anyone", "", "", 0},
		{open, "anyone", "whatever", "", 0},
		{open, "anyone", "whatever", "tls=skip-verify", 0},
		{open, "", "", "", 0},
		{closed, "ada", "lovelace", "tls=skip-verify", 0},
		{closed, "ada", "wrong", "tls=skip-verify", 1045},
		{closed, "ada", "", "tls=skip-verify", 1045},
		{closed, "nobody", "lovelace", "tls=skip-verify", 1045},
		{closed, "", "", "tls=skip-verify", 1045},
		{closed, "ANONYMOUS", "", "tls=skip-verify", 1045},
		{granted, "ANONYMOUS", "", "tls=skip-verify", 0},
		{granted, "", "", "", 0},
		{granted, "nobody", "", "", 1045},
		{closed, "nobody", "lovelace", "", 3159},
		{closed, "bob", "builder", "", 3159},
		{closed, "ada", "lovelace", "", 0}, // after the full login above the scramble suffices
		{closed, "ada", "wrong", "", 3159},
	}
	phase := open
	for _, r := range rows {
		if r.phase == granted {
			if err := in.auth.Grant(auth.Anonymous.Name, auth.Read, auth.Pattern{Type: auth.Topic, Name: "public"}); err != nil {
				t.Fatal(err)
			}
		} else if r.phase != phase {
			phase = r.phase
			if err := in.auth.AddUser("ada", "lovelace"); err != nil {
				t.Fatal(err)
			}
			if err := in.auth.AddUser("bob", "builder"); err != nil {
				t.Fatal(err)
			}
		}
		db := in.open(r.user, r.password, r.params)
		if err := db.Ping(); errNumber(err) != r.want {
			t.Errorf("%s: %s/%s %s: %v, want %d", r.phase, r.user, r.password, r.params, err, r.want)
		}
		_ = db.Close()
	}
}

func TestUnknownUserLooksLikeAWrongPassword(t *testing.T) { // S13
	in := start(t, nil)
	if err := in.auth.AddUser("alice", "pw"); err != nil {
		t.Fatal(err)
	}
	message := func(user string) string {
		var e *mysql.MySQLError
		db := in.open(user, "wrong", "tls=skip-verify")
		if err := db.Ping(); !errors.As(err, &e) {
			t.Fatalf("%s: %v", user, err)
		}
		return e.Message
	}
	if a, b := message("alice"), message("mallo"); len(a) != len(b) {
		t.Fatalf("%q and %q", a, b)
	}
}

func TestGuessingWithoutTLSIsAsSlowAsWithIt(t *testing.T) {
	in := start(t, nil)
	if err := in.auth.AddUser("alice", "pw"); err != nil {
		t.Fatal(err)
	}
	if err := in.open("alice", "pw", "tls=skip-verify").Ping(); err != nil {
		t.Fatal(err) // from now on her scramble can be checked
	}
	for _, user := range []string{"alice", "mallo"} {
		began := time.Now()
		if err := in.open(user, "wrong", "").Ping(); errNumber(err) != 3159 {
			t.Fatalf("%s: %v", user, err)
		}
		if took := time.Since(began); took < auth.FailureDelay {
			t.Errorf("%s: the answer to a wrong guess came after %s", user, took)
		}
	}
}

func TestCommandsAreAuthorised(t *testing.T) {
	in := start(t, nil)
	in.topic("orders", nil, `{"x":1}`)
	in.topic("secret", nil, `{"x":2}`)
	if err := in.auth.AddUser("root", "pw"); err != nil {
		t.Fatal(err)
	}
	if err := in.auth.AddUser("bob", "pw"); err != nil {
		t.Fatal(err)
	}
	if err := in.auth.Grant("bob", auth.Read, auth.Pattern{Type: auth.Topic, Name: "orders"}); err != nil {
		t.Fatal(err)
	}
	bob := in.open("bob", "pw", "tls=skip-verify")
	for _, c := range []struct{ query, want string }{
		{"SHOW TABLES", "orders"},
		{"SELECT x FROM orders", "1"},
		{"SELECT x FROM `orders$raw`", "error 1054"},
		{"SELECT COUNT(*) FROM `orders$raw`", "1"},
		{"SELECT COUNT(*) FROM `orders$latest`", "0"}, // no keys
		{"SELECT x FROM secret", "error 1142"},
		{"SELECT * FROM secret", "error 1142"},
		{"SELECT x FROM nosuch", "error 1142"},
		{"SELECT COUNT(*) FROM `secret$raw`", "error 1142"},
		{"SELECT COUNT(*) FROM `secret$latest`", "error 1142"},
		{"WITH secret AS (SELECT 1 x) SELECT secret.x FROM secret", "1"},
		{"WITH secret AS (SELECT 1 x) SELECT COUNT(*) FROM kafka.secret", "error 1235"},
		{"SELECT (SELECT MAX(x) FROM secret)", "error 1142"},
		{"SELECT 1 FROM orders WHERE x IN (SELECT x FROM secret)", "error 1142"},
		{"SELECT 1 UNION SELECT x FROM secret", "error 1142"},
		{"EXPLAIN SELECT * FROM secret", "error 1142"},
		{"EXPLAIN FORMAT=JSON SELECT * FROM secret", "error 1142"},
		{"EXPLAIN ANALYZE SELECT * FROM secret", "error 1142"},
		{"TABLE secret", "error 1142"},
		{"SET @a = (SELECT MAX(x) FROM secret)", "error 1142"},
		{"DO (SELECT MAX(x) FROM secret)", "error 1142"},
		{"PREPARE s FROM 'SELECT * FROM secret'", "error 1142"},
		{"SELECT o.x FROM orders o, LATERAL (SELECT s.x FROM secret s WHERE s.x > o.x) l", "error 1142"},
		{"SELECT x FROM orders ORDER BY (SELECT MAX(x) FROM secret)", "error 1142"},
		{"SELECT x FROM orders GROUP BY x HAVING x < (SELECT MAX(x) FROM secret)", "error 1142"},
		{"SELECT CASE WHEN EXISTS (SELECT 1 FROM secret) THEN 1 END", "error 1142"},
		{"SELECT x INTO @b FROM secret", "error 1142"},
		{"SELECT x INTO @b FROM orders", ""},
		{"SHOW COLUMNS FROM secret", "error 1146"},
		{"SHOW INDEX FROM secret", "error 1146"},
		{"SHOW TABLE STATUS LIKE 'secret'", ""},
		{"SHOW COLUMNS FROM orders LIKE 'x'", "x,bigint,YES,,NULL,"},
		{"DESCRIBE secret", "error 1146"},
		{"SHOW CREATE TABLE secret", "error 1146"},
		{"SELECT COUNT(*) FROM information_schema.columns WHERE table_name='secret'", "0"},
		{"SELECT table_name FROM information_schema.tables WHERE table_schema='kafka'", "orders"},
		{"SELECT COUNT(*) FROM millrace.topics", "error 1142"},
		{"DROP TABLE orders", "error 1142"},
		{"TRUNCATE orders", "error 1142"},
		{"DELETE FROM orders WHERE _partition=0 AND _offset<1", "error 1142"},
		{"CALL millrace.seal('orders')", "error 1142"},
		{"CALL millrace.compact('orders')", "error 1142"},
		{"CREATE USER eve IDENTIFIED BY 'pw'", "error 1227"},
		{"DROP USER root", "error 1227"},
		{"ALTER USER root IDENTIFIED BY 'x'", "error 1227"},
		{"SET GLOBAL max_connections=1", "error 1227"},
		{"SET GLOBAL local_infile=1", "error 1227"},
		{"SET PERSIST max_connections=1", "error 1227"},
		{"FLUSH PRIVILEGES", "error 1227"},
		{"SHOW GRANTS", "GRANT USAGE ON *.* TO `bob`@`%` / GRANT SELECT ON `kafka`.`orders` TO `bob`@`%`"},
		{"SHOW GRANTS FOR root", "error 1044"},
		{"SELECT LOAD_FILE('/etc/hostname')", "NULL"},
		{"SELECT 1 INTO OUTFILE 'x.out'", "error 1290"},
		{"SELECT 1 INTO DUMPFILE 'x.out'", "error 1290"},
		{"LOAD DATA INFILE '/etc/hostname' INTO TABLE orders", "error 1290"},
		{"LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE orders", "error 1290"},
		{"CREATE PROCEDURE p() SELECT 1", "error 1235"},
		{"CREATE DATABASE x", "error 1235"},
		{"CREATE VIEW v AS SELECT * FROM secret", "error 1142"},
		{"ALTER USER bob IDENTIFIED BY 'pw2'", ""},
	} {
		got := ask(t, bob, c.query)
		if i := len(c.want); len(got) > i && i > 5 && c.want[:5] == "error" {
			got = got[:i]
		}
		if got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.query, got, c.want)
		}
	}
	// The administrator may.
	root := in.open("root", "pw", "tls=skip-verify")
	for _, c := range []struct{ query, want string }{
		{"SELECT x FROM secret", "2"},
		{"CREATE USER eve IDENTIFIED BY 'evepw'", ""},
		{"CREATE USER eve IDENTIFIED BY 'evepw'", "error 1396"},
		{"CREATE USER IF NOT EXISTS eve IDENTIFIED BY 'evepw'", ""},
		{"DROP USER eve", ""},
		{"DROP USER root", "error 1396"},
		{"CALL millrace.seal('orders')", ""},
		{"CALL millrace.seal('nosuch')", "error 1146"},
		{"CALL millrace.compact('orders')", "error 1210"},
		{"CALL millrace.compact('nosuch')", "error 1146"},
	} {
		got := ask(t, root, c.query)
		if i := len(c.want); len(got) > i && i > 5 {
			got = got[:i]
		}
		if got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.query, got, c.want)
		}
	}
	fresh := in.open("bob", "pw2", "tls=skip-verify")
	if err := fresh.Ping(); err != nil {
		t.Error("after ALTER USER:", err)
	}
}

func TestAnonymousHasNoAdministration(t *testing.T) { // C67
	in := start(t, nil)
	in.topic("orders", nil, `{"x":1}`)
	db := in.open("whoever", "", "")
	for _, c := range []struct {
		query string
		want  int
	}{
		{"SET GLOBAL max_connections=1", 1227},
		{"SET GLOBAL local_infile=1", 1227},
		{"SELECT 1 INTO OUTFILE 'x.out'", 1290},
		{"LOAD DATA INFILE '/etc/hostname' INTO TABLE orders", 1290},
		{"SELECT * FROM orders", 0},
		{"TRUNCATE orders", 0},
		{"DROP TABLE orders", 0},
		{"SELECT * FROM orders", 1146},
		{"CREATE USER ada IDENTIFIED BY 'pw'", 0},
		{"SHOW TABLES", 0},
		{"CREATE USER eve IDENTIFIED BY 'pw'", 1227},
	} {
		if _, err := table(t, db, c.query); errNumber(err) != c.want {
			t.Errorf("%s: %v, want %d", c.query, err, c.want)
		}
	}
}

func TestBigPacketsBeforeLoginAreRefusedUnread(t *testing.T) { // C62
	in := start(t, nil)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var wg sync.WaitGroup
	for range 60 {
		wg.Go(func() {
			c, err := net.Dial("tcp", in.addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(5 * time.Second))
			if _, err := c.Write([]byte{0xfe, 0xff, 0xff, 0x01}); err != nil {
				t.Error(err)
				return
			}
			chunk := bytes.Repeat([]byte{'x'}, 64<<10)
			for range 240 {
				if _, err := c.Write(chunk); err != nil {
					break // closed by the server, as it must be
				}
			}
			if _, err := io.Copy(io.Discard, c); err != nil {
				var ne net.Error
				if errors.As(err, &ne) && ne.Timeout() {
					t.Error("the connection was not closed")
				}
			}
		})
	}
	wg.Wait()
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 60<<20 {
		t.Errorf("%d bytes allocated for 60 sockets", grown)
	}
}

func TestIdleSocketsBeforeLoginAreClosed(t *testing.T) {
	in := start(t, func(o *Options) { o.LoginTimeout = 50 * time.Millisecond })
	for _, overTLS := range []bool{false, true} {
		c, err := net.Dial("tcp", in.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		buf := make([]byte, 4096)
		if _, err := c.Read(buf); err != nil { // the greeting
			t.Fatal(err)
		}
		if overTLS {
			// An SSL request, and then nothing more inside.
			request := make([]byte, 36)
			request[0], request[3] = 32, 1
			copy(request[4:], []byte{0x00, 0x0a, 0x08, 0x00})
			request[5] |= 0x02 // protocol 4.1
			if _, err := c.Write(request); err != nil {
				t.Fatal(err)
			}
			tc := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
			if err := tc.Handshake(); err != nil {
				continue // too late already
			}
			_, err = io.Copy(io.Discard, tc)
		} else {
			_, err = io.Copy(io.Discard, c)
		}
		var ne net.Error
		if errors.As(err, &ne) && ne.Timeout() {
			t.Error("an idle socket stays open")
		}
	}
}

func TestTooManyConnectionsGetError1040(t *testing.T) {
	in := start(t, func(o *Options) { o.MaxConnections = 2 })
	for range 2 {
		db := in.open("a", "", "")
		c, err := db.Conn(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if err := in.open("a", "", "").Ping(); errNumber(err) != 1040 {
		t.Fatal(err)
	}
}
