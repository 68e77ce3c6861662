package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/reeflective/readline"
	"github.com/reeflective/readline/inputrc"
)

// shell is the interactive form of `millrace sql`.
type shell struct {
	*runner
	rl *readline.Shell
}

func (sh *shell) run(ctx context.Context) error {
	sh.shell = true
	switch sh.pager {
	case "":
		sh.pager = os.Getenv("PAGER")
	case "off":
		sh.pager = ""
	}
	rl := readline.NewShell(inputrc.WithApp("millrace"), inputrc.WithTerm(os.Getenv("TERM")))
	sh.rl = rl
	for option, value := range map[string]any{
		"cursor-position-probe":  false, // the prompt always begins a line
		"completion-ignore-case": true,
		"enable-bracketed-paste": true,
		"input-meta":             true, // letters of all languages are letters
		"output-meta":            true,
		"convert-meta":           false,
		// Tab writes what all candidates have in common and lists them.
		"menu-complete-display-prefix": true,
	} {
		if err := rl.Config.Set(option, value); err != nil {
			return err
		}
	}
	if err := bindKeys(rl.Config); err != nil {
		return err
	}
	rl.Prompt.Primary(func() string {
		prompt := printable([]byte(sh.database)) + "> "
		return sh.roomBelow(prompt) + prompt
	})
	rl.AcceptMultiline = func(text []rune) bool { return sh.complete(string(text)) }
	complete := newCompleter(sh.session)
	rl.Completer = func(line []rune, cursor int) readline.Completions { return complete.completions(rl, line, cursor) }
	rl.History.Delete()
	rl.History.Add("history", openHistory(historyFile()))
	// SIGTERM ends the wait for the next line, too.
	stop := context.AfterFunc(ctx, func() {
		rl.Keys.Feed(true, '\x03')
		rl.Keys.RequestRefresh()
	})
	defer stop()
	fmt.Fprintf(sh.io.Out, "Connected to MySQL %s. \\? for help, \\q to leave.\n", printable([]byte(sh.version)))
	for ctx.Err() == nil {
		text, err := rl.Readline()
		switch {
		case errors.Is(err, readline.ErrInterrupt):
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := sh.lines(ctx, text); err != nil {
			if errors.Is(err, errQuit) {
				return nil
			}
			return err
		}
	}
	return nil
}

// roomBelow makes room for the statement that is typed behind prompt and for one row more, then goes back. Readline steps
// down to the row behind the statement to clear what is there, and up again; on the last row of a window it would step up alone
// and write over what stands above. (It scrolls by itself if it may ask the terminal where it is; but who drives the shell by a
// pseudo-terminal does not answer.)
func (sh *shell) roomBelow(prompt string) string {
	width, height := sh.io.size()
	if width < 1 {
		return ""
	}
	rows := 0
	for line := range strings.SplitSeq(string(*sh.rl.Line()), "\n") {
		rows += 1 + (text.StringWidth(prompt)+text.StringWidth(strings.ReplaceAll(line, "\t", "     ")))/width
	}
	rows = min(rows, height-1)
	if rows < 1 {
		return ""
	}
	// Vertical tabs move down and scroll as line feeds do, but a prompt with those would be one of several lines.
	return fmt.Sprintf("%s\x1b[%dA", strings.Repeat("\v", rows), rows)
}

// bindKeys has the arrows move within a statement of several lines before they leave it for the history,
// and Tab list what there is.
func bindKeys(c *inputrc.Config) error {
	binds := map[string][]string{
		"menu-complete":        {`\C-i`},
		"up-line-or-history":   {`\e[A`, `\M-[A`, `\eOA`, `\M-OA`},
		"down-line-or-history": {`\e[B`, `\M-[B`, `\eOB`, `\M-OB`},
	}
	for _, keymap := range []string{"emacs", "emacs-standard", "vi-insert"} {
		for command, keys := range binds {
			for _, key := range keys {
				if err := c.Bind(keymap, inputrc.Unescape(key), command, false); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// lines carries out what was typed; Ctrl-C ends the statement, not the shell, and what
// was to come behind it.
func (sh *shell) lines(ctx context.Context, text string) error {
	sh.p.reset()
	sctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	for line := range strings.SplitSeq(text, "\n") {
		if err := sh.line(sctx, "", line); err != nil {
			return err
		}
		if sctx.Err() != nil {
			return nil
		}
	}
	if st, ok := sh.p.rest(); ok { // USE without a ;
		return sh.statement(sctx, "", st)
	}
	return nil
}

// complete says whether text can be carried out as it is, or goes on in another line.
func (sh *shell) complete(text string) bool {
	p := splitter{delimiter: sh.p.delimiter}
	for line := range strings.SplitSeq(text, "\n") {
		if !p.pending() {
			p.reset()
			if _, _, ok := command(line); ok {
				continue
			}
		}
		p.feed(line)
		for {
			_, ok, err := p.next()
			if !ok && err == nil {
				break
			}
		}
	}
	rest, pending := p.rest()
	return !pending || useStatement.MatchString(rest.text)
}
