package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// SQL is `millrace sql`.
type SQL struct {
	Query    string   `arg:"" optional:"" help:"Statements to run, separated by ;. Without it: a shell on a terminal, otherwise the statements of standard input."`
	Execute  []string `short:"e" sep:"none" help:"Statements to run; may be given several times." placeholder:"SQL"`
	Format   string   `short:"f" help:"Output format: ${enum}." enum:"table,vertical,csv,tsv,json,ndjson,markdown" default:"table" placeholder:"FORMAT"`
	Timing   bool     `short:"T" help:"Say how long each statement took (always in the shell)."`
	Plot     string   `help:"Draw the answers instead: ${enum}." enum:",line,bar" default:"" placeholder:"KIND"`
	Warnings bool     `short:"W" help:"Show warnings on standard error after each statement (always in the shell)."`
	Force    bool     `help:"Go on after a statement that fails. The exit status still says that one did."`
	Pager    string   `help:"Program to show answers with that are longer than the screen, in the shell; off for none. When not given, that of the variable PAGER, if there is one." placeholder:"COMMAND"`
	MySQL
}

func (*SQL) Help() string {
	return `Statements end with ; or, for one line a column, with \G. \plot and \watch at the end
of a statement draw its answer and run it again and again. The shell completes tables and columns with
Tab; \? lists its commands, which scripts may use, too. A script stops at the first statement
that fails, and the exit status is not zero then.

Examples:
  millrace sql
  millrace sql "SELECT status, COUNT(*) FROM orders GROUP BY status"
  millrace sql --format csv "SELECT * FROM orders" > orders.csv
  millrace sql -e "SELECT COUNT(*) FROM orders \watch 2"
  millrace sql --mysql db.example.com:3306 --user app --database shop < report.sql`
}

// Interactive says whether Run will be a shell.
func (c *SQL) Interactive(s *IO) bool {
	return c.Query == "" && len(c.Execute) == 0 && s.InTerminal && s.OutWidth > 0
}

func (c *SQL) Run(ctx context.Context, s *IO) error {
	if c.Query != "" && len(c.Execute) > 0 {
		return errors.New("statements are given twice: as an argument and with --execute")
	}
	se, err := openSession(ctx, s, &c.MySQL)
	if err != nil {
		return err
	}
	defer se.close()
	se.format, se.timing, se.warnings = c.Format, c.Timing, c.Warnings
	r := &runner{session: se, force: c.Force, plot: c.Plot, pager: c.Pager}
	if c.Interactive(s) {
		se.timing, se.footer, se.warnings = true, true, true
		return (&shell{runner: r}).run(ctx)
	}
	se.footer = c.Timing && (c.Format == FormatTable || c.Format == FormatVertical)
	switch {
	case c.Query != "":
		err = r.script(ctx, "", strings.NewReader(c.Query))
	case len(c.Execute) > 0:
		for _, q := range c.Execute {
			if err = r.script(ctx, "", strings.NewReader(q)); err != nil {
				break
			}
		}
	default:
		err = r.script(ctx, "line ", s.In)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted")
	case errors.Is(err, errQuit):
		err = nil
	}
	if err == nil && r.failed > 0 {
		return fmt.Errorf("%s failed", plural(int64(r.failed), "statement"))
	}
	return err
}
