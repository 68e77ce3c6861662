package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"millrace/internal/client"
	"millrace/internal/testkit"

	"github.com/creack/pty"
)

// asCommand makes the test's own binary the command, so that a process with a terminal of its
// own can be started.
const asCommand = "MILLRACE_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(run(os.Args[1:], client.StandardIO()))
	}
	os.Exit(m.Run())
}

// terminal is a process that a person sits before.
type terminal struct {
	t       *testing.T
	file    *os.File
	process *exec.Cmd
	state   string // its directory of state

	mu      sync.Mutex
	changed *sync.Cond
	text    bytes.Buffer // without the escape sequences
	screen  *screen
	seen    int // up to where was waited for
	ended   bool
}

// shellOn starts `millrace sql` on a terminal.
func shellOn(t *testing.T, mysql string, env ...string) *terminal {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tm := &terminal{t: t, state: t.TempDir(), process: exec.Command(exe, "sql", "--mysql", mysql), screen: newScreen()}
	tm.changed = sync.NewCond(&tm.mu)
	tm.process.Env = append(os.Environ(), append([]string{asCommand + "=1", "TERM=xterm-256color", "PAGER=", "LESS=", "INPUTRC=/dev/null", "XDG_STATE_HOME=" + tm.state}, env...)...)
	if tm.file, err = pty.StartWithSize(tm.process, &pty.Winsize{Rows: screenRows, Cols: screenColumns}); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		tm.read()
	}()
	t.Cleanup(func() {
		_ = tm.process.Process.Kill()
		_ = tm.process.Wait()
		_ = tm.file.Close()
		<-read
	})
	tm.expect(`Connected to MySQL .*\n`)
	return tm
}

var escapes = regexp.MustCompile("\x1b(\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07]*\x07|[=>])|[\r\v]")

func (tm *terminal) read() {
	b := make([]byte, 64<<10)
	var raw []byte
	for {
		n, err := tm.file.Read(b)
		tm.mu.Lock()
		raw = append(raw, b[:n]...)
		tm.screen.write(b[:n])
		if i := bytes.LastIndexByte(raw, 0x1b); i < 0 || escapes.Match(raw[i:]) || err != nil {
			tm.text.Write(escapes.ReplaceAll(raw, nil))
			raw = nil
		}
		tm.ended = err != nil
		tm.changed.Broadcast()
		tm.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (tm *terminal) typed(keys string) {
	tm.t.Helper()
	if _, err := tm.file.WriteString(keys); err != nil {
		tm.t.Fatal(err)
	}
}

// types waits for the prompt first: before it is there, the terminal itself takes Ctrl-C and the like.
func (tm *terminal) types(keys string) {
	tm.t.Helper()
	tm.expect(`> $`)
	tm.typed(keys)
}

// expect waits until what is new on the terminal matches.
func (tm *terminal) expect(pattern string) string {
	tm.t.Helper()
	re := regexp.MustCompile(pattern)
	var found string
	tm.wait(func() bool {
		fresh := tm.text.Bytes()[tm.seen:]
		m := re.FindIndex(fresh)
		if m != nil {
			tm.seen += m[1]
			found = string(fresh[:m[1]])
		}
		return m != nil
	}, func() string { return fmt.Sprintf("no %s on the terminal:\n%s", pattern, tm.text.Bytes()[tm.seen:]) })
	return found
}

// shows waits until the screen ends with those rows.
func (tm *terminal) shows(rows ...string) {
	tm.t.Helper()
	want := strings.Join(rows, "\n")
	tm.wait(func() bool { return strings.HasSuffix(tm.screen.String(), want) },
		func() string { return fmt.Sprintf("the screen shows\n%s\nand not at its end\n%s", tm.screen, want) })
}

// wait waits until what is on the terminal is as asked for. A test that hangs says nothing; this says what is there instead.
func (tm *terminal) wait(there func() bool, instead func() string) {
	tm.t.Helper()
	expired := false
	timer := time.AfterFunc(time.Minute, func() {
		tm.mu.Lock()
		expired = true
		tm.changed.Broadcast()
		tm.mu.Unlock()
	})
	defer timer.Stop()
	tm.mu.Lock()
	defer tm.mu.Unlock()
	for !there() {
		if tm.ended || expired {
			tm.t.Fatal(instead())
		}
		tm.changed.Wait()
	}
}

// leaves waits for the process and returns its exit status.
func (tm *terminal) leaves() int {
	tm.t.Helper()
	_ = tm.process.Wait()
	return tm.process.ProcessState.ExitCode()
}

func TestTheShellOnATerminal(t *testing.T) {
	r := running{t, testkit.Server(t)}
	r.must(`{"order_id":1,"status":"paid","ship":{"city":"Köln"}}`+"\n", "produce", "orders")
	r.must("", "topic", "create", "order-items")
	tm := shellOn(t, r.s.MySQLAddr())

	// A statement over several lines, the first of which is mended before the last is typed.
	tm.types("SELECT 6 *\r6 + \x1b[A\x05 7 *\x1b[B\x05 1 AS answer;\r")
	tm.expect(`│ answer │\n(.*\n)*.*│ +253 │`)

	// Tab: keywords in the letters that are typed, tables, columns of the table named behind.
	tm.types("sel\t")
	tm.expect(`select `)
	tm.typed("status from orde\t")
	tm.expect("`order")
	tm.typed("s\t")
	tm.typed(";\r")
	tm.expect(`│ paid   │\n(.*\n)*\(1 row`)
	tm.types("select  from orders;" + strings.Repeat("\x1b[D", len(" from orders;")))
	tm.typed("shi\t\x05\r")
	tm.expect(`│ Köln +│\n(.*\n)*\(1 row`)

	tm.types("SELECT 'Zürich, 東京, 🎉' AS places;\r")
	tm.expect(`│ Zürich, 東京, 🎉 │`)

	// Errors, warnings and commands; the shell goes on.
	tm.types("SELECT nope FROM orders;\r")
	tm.expect(`Error 1054 \(42S22\): Unknown column 'nope'`)
	tm.types("SELECT CAST('5x' AS SIGNED) AS five;\r")
	tm.expect(`│ +5 │\n(.*\n)*Warning 1292: .*'5x'\n`)
	tm.types("\\d orders\r")
	tm.expect(`│ ship.city +│ varchar`)
	tm.types("\\format json\rSELECT 1 AS a, 0xFF00 AS b;\r")
	tm.expect(`\[\n\{"a":1,"b":"/wA="\}\n\]\n`)
	tm.types("\\format table\r\\nope\r")
	tm.expect(`no command \\nope; \\\? lists them`)
	tm.types("use millrace\r")
	tm.expect(`\(OK, .*\)\n(.*\n)*.*millrace`)
	tm.types("\\u kafka\r")
	tm.expect(`\(OK, .*\)\n(.*\n)*.*kafka`)
	tm.types("EXPLAIN SELECT status FROM orders WHERE order_id = 1;\r")
	tm.expect(`In columns:\n└─ Project status\n   └─ Scan orders where \(order_id = 1\)\n`)
	tm.types("SELECT status, order_id FROM orders \\plot bar\r")
	tm.expect(`paid 1 █+\n`)

	// What is typed is remembered, whole, and by a new shell as well; passwords are not.
	tm.types("CREATE USER x IDENTIFIED;\r")
	tm.expect(`Error 1064`)
	tm.types("\\q\r")
	if status := tm.leaves(); status != 0 {
		t.Fatal(status)
	}
	file := filepath.Join(tm.state, "millrace", "sql_history")
	text, err := os.ReadFile(file)
	if err != nil || bytes.Contains(text, []byte("IDENTIFIED")) || !bytes.Contains(text, []byte(`"SELECT 6 *`)) {
		t.Fatalf("%v\n%s", err, text)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info.Mode(), err)
	}
	again := shellOn(t, r.s.MySQLAddr(), "XDG_STATE_HOME="+tm.state)
	again.types("\x12paid\x7f\x7f\x7f\x7fplot\r")
	again.expect(`paid 1 █+\n`)
	again.types("\x04")
	if status := again.leaves(); status != 0 {
		t.Fatal(status)
	}
}

// What stands above the prompt stays there when the window is full, whatever is typed.
func TestNothingIsWipedWhenTheWindowIsFull(t *testing.T) {
	r := running{t, testkit.Server(t)}
	tm := shellOn(t, r.s.MySQLAddr())
	for range 6 {
		tm.types("SELECT 1;\r")
		tm.expect(`\(1 row.*\n`)
	}
	const refused = "Error 1146 (42S02): Table 'kafka.nope' doesn't exist"
	tm.types("SELECT * FROM nope;\r")
	tm.shows(refused, "kafka>")
	tm.typed("S")
	tm.shows(refused, "kafka> S")
	tm.typed("ELECT\r1 +\r2")
	tm.shows(refused, "kafka> SELECT", "       1 +", "       2")
	tm.typed(strings.Repeat("0", screenColumns))
	tm.shows(refused, "kafka> SELECT", "       1 +", "       2"+strings.Repeat("0", screenColumns-8), strings.Repeat("0", 8))
	tm.typed("\x15\x7f\x7f")
	tm.shows(refused, "kafka> SELECT", "       1")
}

func TestCtrlCStopsTheStatementAndNotTheShell(t *testing.T) {
	r := running{t, testkit.Server(t)}
	tm := shellOn(t, r.s.MySQLAddr())
	tm.types("SET @x = 7;\rSELECT SLEEP(600);\r")
	for strings.TrimSpace(r.must("", "sql", "-f", "tsv", "SELECT COUNT(*) AS n FROM information_schema.processlist WHERE info = 'SELECT SLEEP(600)'")) != "n\n1" {
	}
	tm.typed("\x03")
	tm.expect(`stopped\n`)
	tm.types("SELECT @x AS kept;\r") // the session is the same
	tm.expect(`│ +7 │`)
	tm.types("SELECT 'half a statement")
	tm.expect(`half a statement`)
	tm.typed("\x03")
	tm.expect(`\^C`)
	tm.types("SELECT NOW() AS t \\watch 0.1\r")
	tm.expect(`every 100ms: SELECT NOW\(\) AS t`)
	tm.expect(`every 100ms: SELECT NOW\(\) AS t`)
	tm.typed("\x03")
	tm.expect(`stopped\n`)
	tm.types("SELECT 1+1 AS two \\watch 0.1 2\r")
	tm.expect(`every 100ms: SELECT 1\+1 AS two(.*\n)*.*every 100ms: SELECT 1\+1 AS two(.*\n)*\(1 row, .*`)
	if err := tm.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if status := tm.leaves(); status != 0 {
		t.Fatal(status)
	}
}

func TestLongAnswersGoThroughThePager(t *testing.T) {
	r := running{t, testkit.Server(t)}
	r.must("", "gen", "orders", "-n", "100", "-r", "0")
	tm := shellOn(t, r.s.MySQLAddr(), "PAGER=sed 's/^/paged /'")
	tm.types("SELECT 1 AS short;\r")
	tm.expect(`\n┌─+┐\n│ short │`)
	tm.types("SELECT order_id FROM orders;\r")
	tm.expect(`\npaged ┌(.*\n)*paged \(100 rows, .*\)`)
	// Who leaves the pager does not wait for the rest: here of 10¹² rows.
	tm.types("\\pager head -n 3\r")
	tm.expect(`pager: head -n 3\n`)
	tm.types("WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n < 1000) SELECT a.n FROM r a, r b, r c, r d;\r")
	tm.expect(`│ +n │\n├─+┤`)
	tm.types("\\pager /no/such/pager\rSELECT * FROM orders;\r")
	tm.expect(`there is no pager /no/such/pager`)
	// A pager that scrolls sideways gets what is wide, whole.
	if _, err := exec.LookPath("less"); err == nil {
		tm.types("\\pager less -S -F -X\rSELECT 1 AS narrow;\r")
		tm.expect(`pager: less -S -F -X\n(.*\n)*│ +1 │\n└─+┘\n\(1 row`)
		tm.types("SELECT REPEAT('x', 300) AS wide, 2 AS b;\r")
		tm.expect(`│ x{90,99}\S?\n(.*\n)*.*END`)
		tm.typed("q")
	}
	tm.types("\\pager off\rSELECT order_id FROM orders;\r")
	tm.expect(`│\n└.*┘\n\(100 rows, .*\)\n`)
	tm.types("\\q\r")
	if status := tm.leaves(); status != 0 {
		t.Fatal(status)
	}
}

func TestTheShellConnectsAgain(t *testing.T) {
	r := running{t, testkit.Server(t)}
	tm := shellOn(t, r.s.MySQLAddr())
	tm.types("USE millrace;\r")
	tm.expect(`\(OK, .*\)\n`)
	for _, line := range strings.Split(strings.TrimSpace(r.must("", "sql", "-f", "tsv", "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID()")), "\n")[1:] {
		_, _ = r.do("", "sql", "KILL "+line)
	}
	tm.types("SELECT 1;\r") // finds out, now or a second later before anything is sent
	tm.expect(`connection|\(1 row|connected again`)
	tm.types("SELECT CONCAT('in ', DATABASE()) AS d;\r")
	tm.expect(`│ in millrace │`)
}
