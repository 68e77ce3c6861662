package server_test

import (
	"bytes"
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"millrace/internal/testkit"
	"millrace/server"
	"millrace/server/auth"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

// logBuffer keeps log lines.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// startLogged is a server whose log is kept, down to the least severe lines.
func startLogged(t *testing.T, change ...func(*server.Options)) (*server.Server, *logBuffer, string) {
	t.Helper()
	log, dir := &logBuffer{}, t.TempDir()
	s := testkit.Server(t, append(change, func(o *server.Options) {
		o.Data = dir
		o.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})...)
	return s, log, dir
}

// S16: passwords are in no file, log line, list or answer; and the files are nobody else's to read.
func TestPasswordsAreInNoFileLogOrList(t *testing.T) {
	s, log, dir := startLogged(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	const secret = "hunter2hunter2"
	open := openSQL(t, s, "root", "")
	if _, err := open.ExecContext(ctx, "CREATE USER admin IDENTIFIED BY '"+secret+"a'"); err != nil {
		t.Fatal(err)
	}
	db := openSQL(t, s, "admin", secret+"a")
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, statement := range []string{
		"CREATE USER bob IDENTIFIED BY '" + secret + "b'", "ALTER USER bob IDENTIFIED BY '" + secret + "c'", "SET PASSWORD FOR bob = '" + secret + "d'",
		"CREATE USER bob IDENTIFIED BY '" + secret + "e'", "CREATE USER IDENTIFIED '" + secret + "f'", "SET PASSWORD '" + secret + "g'", "CREATE USER x IDENTIFIED BY '" + secret + "h", // faulty ones
		"ALTER USER bob IDENTIFIED BY \"" + secret + "i\" REPLACE '" + secret + "j'", "/* a */ CREATE /* b */ USER carl IDENTIFIED BY '" + secret + "k'",
		"CREATE USER long IDENTIFIED BY '" + strings.Repeat("x", 200) + secret + "' REQUIRE NONSENSE", strings.Repeat(" ", 5000) + "CREATE USER far IDENTIFIED BY '" + secret + "l'",
		"PREPARE p FROM 'CREATE USER prep IDENTIFIED BY \\'" + secret + "m\\''", "SET @a = '" + secret + "n'",
	} {
		if _, err := conn.ExecContext(ctx, statement); err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", statement, err)
		}
	}
	for _, password := range []string{secret + "d", secret + "wrong"} { // over Kafka, too
		cl, err := kgo.NewClient(kgo.SeedBrokers(s.KafkaAddr()), kgo.SASL(plain.Auth{User: "bob", Pass: password}.AsMechanism()), kgo.RequestRetries(0), kgo.RetryTimeout(time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		_ = cl.Ping(ctx)
		cl.Close()
	}
	if got := loginError(t, s, "bob", secret+"wrong", nil); got == 0 {
		t.Error("logged in with a wrong password")
	}
	for _, list := range []string{
		"SHOW FULL PROCESSLIST", "SELECT * FROM information_schema.processlist", "SELECT * FROM millrace.statements", "SELECT * FROM millrace.queries", "SELECT * FROM millrace.users", "SELECT * FROM millrace.acls",
		"SELECT * FROM mysql.user", "SHOW CREATE USER bob", "SHOW GRANTS FOR bob", "SELECT * FROM millrace.client_errors", "SELECT * FROM performance_schema.threads", "SELECT * FROM millrace.connections",
	} {
		rows, err := db.QueryContext(ctx, list)
		if err != nil {
			continue // there is no such list
		}
		columns, _ := rows.Columns()
		for rows.Next() {
			cells := make([]any, len(columns))
			for i := range cells {
				cells[i] = new([]byte)
			}
			if err := rows.Scan(cells...); err != nil {
				t.Fatal(err)
			}
			for _, c := range cells {
				if bytes.Contains(*c.(*[]byte), []byte(secret)) {
					t.Errorf("%s shows %.300s", list, *c.(*[]byte))
				}
			}
		}
		_ = rows.Close()
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(log.String(), secret) {
		t.Errorf("the log has it:\n%s", log)
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s can be read by others: %s", path, info.Mode())
		}
		if d.IsDir() {
			return nil
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(secret)) {
			t.Errorf("%s has a password", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// S19: what clients say can neither begin a line of the log nor drive the terminal that shows it, and is cut.
func TestClientsCannotForgeLinesOfTheLog(t *testing.T) {
	s, log, _ := startLogged(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	users := auth.New(s.Store)
	if err := users.AddUser("admin", matrixPassword); err != nil {
		t.Fatal(err)
	}
	const evil = "eve\ntime=forged level=ERROR\r\x1b[31m\x00\u2028"
	long := strings.Repeat("long\n", 10_000)
	loginError(t, s, evil, matrixPassword, nil)
	loginError(t, s, long[:4000], matrixPassword, nil)
	db := openSQL(t, s, "admin", matrixPassword)
	for _, statement := range []string{"SELECT '" + evil + "' FROM `" + evil + "`", evil, "SELECT 1 -- " + evil, long} {
		_, _ = db.ExecContext(ctx, statement)
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.KafkaAddr()), kgo.ClientID(evil+long[:200]), kgo.SoftwareNameAndVersion("a", "b"), kgo.RequestRetries(0), kgo.RecordRetries(0),
		kgo.SASL(plain.Auth{User: evil, Pass: "x"}.AsMechanism()), kgo.RetryTimeout(time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	_ = cl.ProduceSync(ctx, &kgo.Record{Topic: evil, Value: []byte("x")}).FirstErr()
	cl.Close()
	cl, err = kgo.NewClient(kgo.SeedBrokers(s.KafkaAddr()), kgo.ClientID(evil), kgo.ConsumerGroup(evil), kgo.ConsumeTopics(evil), kgo.RequestRetries(0), kgo.RetryTimeout(time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	short, stop := context.WithTimeout(ctx, 300*time.Millisecond)
	cl.PollFetches(short)
	stop()
	cl.Close()
	for line := range strings.Lines(log.String()) {
		if !strings.HasPrefix(line, "time=2") || strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\x00\x1b\r\n\u2028") {
			t.Errorf("forged: %q", line)
		}
		if len(line) > 4<<10 {
			t.Errorf("a line of %d bytes: %.200q", len(line), line)
		}
	}
	if !strings.Contains(log.String(), "login refused") {
		t.Error("nothing was logged")
	}
}

var topicDirectory = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,200}\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// S20: names of clients are no names of files, but for topics' in front of their ids: those have letters, digits, dots, dashes
// and underscores, and are cut.
func TestNoFileIsCalledWhatAClientSaid(t *testing.T) {
	s, _, dir := startLogged(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.KafkaAddr()), kgo.AllowAutoTopicCreation(), kgo.TransactionalID("evil-transaction"), kgo.ConsumerGroup("evil-group"), kgo.ClientID("evil-client"), kgo.ConsumeTopics("evil.topic"))
	if err != nil {
		t.Fatal(err)
	}
	if err := cl.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "evil.topic", Value: []byte(`{"evil-column":1}`)}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if err := cl.EndTransaction(ctx, kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	cl.Close()
	db := openSQL(t, s, "root", "")
	for _, statement := range []string{"CALL millrace.seal('evil.topic')", "SELECT `evil-column` FROM `evil.topic` ORDER BY 1", "CREATE VIEW `evil-view` AS SELECT 1", "CREATE USER `evil-user` IDENTIFIED BY 'x'"} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			t.Fatal(statement, err)
		}
	}
	seen := 0
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if base := filepath.Base(path); strings.Contains(base, "evil") && (filepath.Dir(path) != filepath.Join(dir, "columns") || !topicDirectory.MatchString(base)) {
			t.Errorf("%s", path)
		}
		seen++
		return err
	})
	if err != nil || seen < 5 {
		t.Fatal(seen, err)
	}
}
