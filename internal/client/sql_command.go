package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

const commandHelp = `Statements end with ; or \G (one line a column) and may span lines.
  \plot line|bar     at the end of a statement: draw its answer; alone: the last one again
  \watch [S [N]]     run it again every S seconds (2), N times or until Ctrl-C
  \g  \G             run the last statement again
  \d [TABLE]         describe a table; alone: list tables and views
  \dt [PATTERN]      list tables, also those LIKE a pattern
  \l                 list the databases
  \u DATABASE        change to another database (also USE)
  \format [FORMAT]   table, vertical, csv, tsv, json, ndjson or markdown
  \pager [COMMAND]   show long answers with a program, such as less -S; alone: with $PAGER
  \pager off         show them as they come
  \timing [on|off]   say how long statements take
  \warnings [on|off] show warnings after each statement
  \i FILE            run the statements of a file (also source FILE)
  \q                 leave (also exit, quit and Ctrl-D)
A connection that was lost is made again. DELIMITER // lets statements end with // instead of ;.
`

const shellHelp = `Tab completes keywords, tables and columns; Ctrl-R searches the history; Ctrl-C stops a statement.
Bytes that are no text are shown as 0x and their digits.
`

// bareCommands are the commands that may do without a backslash, as in other shells.
var bareCommands = map[string]string{"exit": "q", "quit": "q", "help": "?", "source": "i", "delimiter": "delimiter"}

// command takes a line apart that is a command of ours. What ends statements (\g, \plot, …) is none.
func command(line string) (name, arg string, ok bool) {
	line = strings.TrimSpace(line)
	name, arg, _ = strings.Cut(line, " ")
	arg = strings.TrimSpace(arg)
	if bare, ok := bareCommands[strings.ToLower(strings.TrimRight(name, ";"))]; ok && (bare == "i" || bare == "delimiter") == (arg != "") {
		if bare == "i" {
			arg = strings.TrimSuffix(arg, ";")
		}
		return bare, arg, true
	}
	if line == "?" {
		return "?", "", true
	}
	name, ok = strings.CutPrefix(name, `\`)
	name = strings.TrimRight(name, ";")
	if !ok || slices.Contains([]string{"g", "G", "plot", "watch"}, name) {
		return "", "", false
	}
	return name, strings.TrimSpace(strings.TrimRight(arg, "; ")), true
}

// command carries out a command.
func (r *runner) command(ctx context.Context, name, arg string) error {
	switch name {
	case "q", "quit", "exit":
		return errQuit
	case "?", "h", "help":
		_, err := io.WriteString(r.out, commandHelp)
		if r.shell {
			_, err = io.WriteString(r.out, shellHelp)
		}
		return err
	case "d":
		if arg == "" {
			return r.ask(ctx, "SHOW FULL TABLES")
		}
		return r.ask(ctx, "SHOW COLUMNS FROM "+r.tableName(ctx, arg))
	case "dt":
		if arg == "" {
			return r.ask(ctx, "SHOW TABLES")
		}
		pattern, err := quoteText(strings.Trim(arg, `'"`))
		if err != nil {
			return err
		}
		return r.ask(ctx, "SHOW TABLES LIKE "+pattern)
	case "l":
		return r.ask(ctx, "SHOW DATABASES")
	case "u", "use":
		if arg == "" {
			return errors.New(`\u DATABASE: which one?`)
		}
		return r.ask(ctx, "USE "+quoteName(strings.Trim(arg, "`")))
	case "i", "source", ".":
		if arg == "" {
			return errors.New(`\i FILE: which one?`)
		}
		return r.source(ctx, strings.Trim(arg, `'"`))
	case "delimiter":
		r.p.delimiter = arg
		return nil
	case "format":
		return r.setFormat(arg)
	case "timing":
		return r.toggle("timing", arg, &r.timing)
	case "warnings", "W", "w":
		if name != "warnings" { // as the mysql client has it
			arg = map[string]string{"W": "on", "w": "off"}[name]
		}
		return r.toggle("warnings", arg, &r.session.warnings)
	case "pager", "P":
		return r.setPager(arg)
	}
	return fmt.Errorf(`no command \%s; \? lists them`, name)
}

// ask runs a statement of ours; the one before stays the last.
func (r *runner) ask(ctx context.Context, text string) error {
	last, plot := r.last, r.plot
	r.plot = ""
	defer func() { r.last, r.plot = last, plot }()
	return r.execute(ctx, statement{text: text})
}

// tableName is a name as a person types it: t, db.t, a.topic.with.dots, or with backticks.
func (r *runner) tableName(ctx context.Context, name string) string {
	if strings.Contains(name, "`") {
		return name
	}
	if db, table, ok := strings.Cut(name, "."); ok {
		names, err := listNames(ctx, r.db, "SHOW DATABASES")
		if err == nil && slices.ContainsFunc(names, func(n listedName) bool { return n.name == db }) {
			return quoteName(db) + "." + quoteName(table)
		}
	}
	return quoteName(name)
}

func (r *runner) setFormat(format string) error {
	if format == "" {
		_, err := fmt.Fprintln(r.out, "format is "+r.format)
		return err
	}
	if _, err := NewRowWriter(io.Discard, format, 0, nil); err != nil {
		return err
	}
	if r.footer || r.shell {
		r.footer = format == FormatTable || format == FormatVertical
	}
	r.format = format
	return nil
}

func (r *runner) toggle(what, arg string, on *bool) error {
	switch arg {
	case "":
		*on = !*on
	case "on", "off":
		*on = arg == "on"
	default:
		return fmt.Errorf(`\%s %s: there are on and off`, what, arg)
	}
	if !r.shell {
		return nil
	}
	_, err := fmt.Fprintf(r.out, "%s: %s\n", what, map[bool]string{true: "on", false: "off"}[*on])
	return err
}

func (r *runner) setPager(arg string) error {
	switch arg {
	case "":
		if r.pager = os.Getenv("PAGER"); r.pager == "" {
			r.pager = "less -S"
		}
	case "off":
		r.pager = ""
	default:
		r.pager = arg
	}
	if !r.shell {
		return nil
	}
	_, err := fmt.Fprintln(r.out, "pager: "+map[bool]string{true: "off", false: r.pager}[r.pager == ""])
	return err
}
