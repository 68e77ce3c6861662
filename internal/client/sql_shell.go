package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/chzyer/readline"
)

// shell is the interactive form of `millrace sql`.
type shell struct {
	*session
	database string

	rl   *readline.Instance
	p    splitter
	last statement // for \plot, \watch and \g on their own
}

const shellHelp = `Statements end with ; or \G (one line a column).
  \plot line|bar     at the end of a statement: draw its answer; alone: the last one again
  \watch [SECONDS]   run the last statement again and again, until Ctrl-C
  \d [TABLE]         list the tables, or describe one
  \u DATABASE        change to another database
  \format FORMAT     table, vertical, csv, tsv, json or markdown
  \timing [on|off]   say how long statements take
  \q                 leave (also Ctrl-D)
Tab completes names, Ctrl-R searches the history, Ctrl-C stops a statement.
`

func (sh *shell) run(ctx context.Context) error {
	config := &readline.Config{
		HistoryFile:            historyFile(),
		HistoryLimit:           5000,
		DisableAutoSaveHistory: true,
		HistorySearchFold:      true,
		AutoComplete:           newCompleter(sh.db, func() string { return string(sh.p.buf) }),
		InterruptPrompt:        "^C",
		EOFPrompt:              "\n",
	}
	rl, err := readline.NewEx(config)
	if err != nil {
		return err
	}
	defer rl.Close()
	sh.rl = rl
	// SIGTERM ends the wait for the next line, too.
	stop := context.AfterFunc(ctx, func() { rl.Close() })
	defer stop()
	fmt.Fprintf(sh.io.Out, "Connected. \\? for help, \\q to leave.\n")
	for {
		rl.SetPrompt(sh.prompt())
		line, err := rl.Readline()
		switch {
		case errors.Is(err, readline.ErrInterrupt):
			sh.p.reset()
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if !sh.p.pending() {
			sh.p.reset()
			if t := strings.TrimSpace(line); t == "" {
				continue
			} else if quit, handled := sh.command(ctx, t); quit {
				return nil
			} else if handled {
				sh.remember(t)
				continue
			}
		}
		sh.p.feed(line)
		for {
			st, ok := sh.p.next()
			if !ok {
				break
			}
			sh.remember(oneLine(st))
			sh.execute(ctx, st)
		}
	}
}

func (sh *shell) prompt() string {
	if sh.p.pending() {
		return strings.Repeat(" ", max(0, len(sh.database)-1)) + "-> "
	}
	return sh.database + "> "
}

// execute runs a statement; Ctrl-C ends the statement, not the shell.
func (sh *shell) execute(ctx context.Context, st statement) {
	if st.text == "" {
		if st.text = sh.last.text; st.text == "" {
			return
		}
	}
	sh.last = statement{text: st.text}
	qctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	switch err := sh.session.run(qctx, st); {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(sh.io.Err, "stopped")
	case err != nil:
		fmt.Fprintln(sh.io.Err, err)
	default:
		if m := useStatement.FindStringSubmatch(st.text); m != nil {
			sh.database = strings.ReplaceAll(strings.Trim(m[1], "`"), "``", "`")
		}
	}
}

var useStatement = regexp.MustCompile(`(?is)^use\s+(\S+)$`)

// command handles a line that is a command of the shell's own.
func (sh *shell) command(ctx context.Context, line string) (quit, handled bool) {
	bare := strings.ToLower(strings.TrimRight(line, "; "))
	switch bare {
	case "exit", "quit":
		return true, true
	case "help", "?":
		line = `\?`
	}
	if line[0] != '\\' {
		return false, false
	}
	name, arg, _ := strings.Cut(strings.TrimRight(line[1:], "; "), " ")
	arg = strings.TrimSpace(arg)
	switch name {
	case "q":
		return true, true
	case "?", "h", "help":
		fmt.Fprint(sh.io.Out, shellHelp)
	case "d":
		if arg == "" {
			sh.execute(ctx, statement{text: "SHOW TABLES"})
		} else {
			sh.execute(ctx, statement{text: "SHOW COLUMNS FROM " + quoteName(strings.Trim(arg, "`"))})
		}
	case "u":
		sh.execute(ctx, statement{text: "USE " + quoteName(strings.Trim(arg, "`"))})
	case "format":
		if _, err := NewRowWriter(io.Discard, arg, 0, nil); err != nil {
			fmt.Fprintln(sh.io.Err, err)
			break
		}
		sh.format = arg
		sh.footer = arg == FormatTable || arg == FormatVertical
	case "timing":
		sh.timing = arg == "on" || arg == "" && !sh.timing
		fmt.Fprintln(sh.io.Out, "timing is "+map[bool]string{true: "on", false: "off"}[sh.timing])
	case "plot":
		if arg == "" {
			arg = "line"
		}
		sh.execute(ctx, statement{plot: arg})
	case "g":
		sh.execute(ctx, statement{})
	case "G":
		sh.execute(ctx, statement{vertical: true})
	case "watch":
		sh.watch(ctx, arg)
	default:
		fmt.Fprintf(sh.io.Err, "no command \\%s; \\? lists them\n", name)
	}
	return false, true
}

// watch runs the last statement every so many seconds until Ctrl-C or an error.
func (sh *shell) watch(ctx context.Context, arg string) {
	every := 2.0
	if arg != "" {
		f, err := strconv.ParseFloat(arg, 64)
		if err != nil || f < 0.1 || f > 86400 {
			fmt.Fprintf(sh.io.Err, "\\watch %s: seconds from 0.1 to 86400 are needed\n", arg)
			return
		}
		every = f
	}
	if sh.last.text == "" {
		fmt.Fprintln(sh.io.Err, "nothing to run again")
		return
	}
	wctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	for {
		fmt.Fprintf(sh.io.Out, "\n%s\n", time.Now().Format(time.TimeOnly))
		if err := sh.session.run(wctx, sh.last); err != nil {
			if !errors.Is(err, context.Canceled) {
				fmt.Fprintln(sh.io.Err, err)
			}
			return
		}
		select {
		case <-wctx.Done():
			return
		case <-time.After(time.Duration(every * float64(time.Second))):
		}
	}
}

// remember adds to the history, but nothing that holds a password.
func (sh *shell) remember(line string) {
	if strings.Contains(strings.ToUpper(line), "IDENTIFIED") {
		return
	}
	_ = sh.rl.SaveHistory(line) // a history that cannot be written is no reason to stop
}

// oneLine is a statement as the history keeps it. Newlines become blanks, unless a
// comment would swallow the rest.
func oneLine(st statement) string {
	end := ";"
	switch {
	case st.vertical:
		end = `\G`
	case st.plot != "":
		end = ` \plot ` + st.plot
	}
	t := st.text
	if !strings.Contains(t, "--") && !strings.Contains(t, "#") {
		t = strings.ReplaceAll(t, "\n", " ")
	}
	return t + end
}

// historyFile is in the user's state directory; "" (no history) if there is none.
func historyFile() string {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	dir = filepath.Join(dir, "millrace")
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	return filepath.Join(dir, "sql_history")
}
