package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// SQL is `millrace sql`.
type SQL struct {
	Query  string `arg:"" optional:"" help:"Statements to run, separated by ;. Without it: a shell on a terminal, otherwise the statements of standard input."`
	Format string `short:"f" help:"Output format: ${enum}." enum:"table,vertical,csv,tsv,json,markdown" default:"table" placeholder:"FORMAT"`
	Timing bool   `short:"T" help:"Say how long each statement took (always in the shell)."`
	Plot   string `help:"Draw the answers instead: ${enum}." enum:",line,bar" default:"" placeholder:"KIND"`
	MySQL
}

func (*SQL) Help() string {
	return `Statements end with ; or, for one line per column, with \G. \plot line and \plot bar at the end
of a statement draw its answer. The shell completes tables and columns with Tab; \? lists its commands.
The exit status is not zero when a statement fails.

Examples:
  millrace sql
  millrace sql "SELECT status, COUNT(*) FROM orders GROUP BY status"
  millrace sql --format csv "SELECT * FROM orders" > orders.csv
  millrace sql --mysql db.example.com:3306 --user app --database shop < report.sql`
}

// Interactive says whether Run will be a shell.
func (c *SQL) Interactive(s *IO) bool { return c.Query == "" && s.InTerminal && s.OutWidth > 0 }

func (c *SQL) Run(ctx context.Context, s *IO) error {
	se, err := openSession(ctx, s, &c.MySQL)
	if err != nil {
		return err
	}
	defer se.close()
	se.format, se.timing = c.Format, c.Timing
	if c.Interactive(s) {
		se.timing, se.footer = true, true
		return (&shell{session: se, database: c.Database}).run(ctx)
	}
	se.footer = c.Timing && (c.Format == FormatTable || c.Format == FormatVertical)
	return c.script(ctx, s, se)
}

// script runs the statements of the argument or of standard input up to the first that fails.
func (c *SQL) script(ctx context.Context, s *IO, se *session) error {
	in := s.In
	if c.Query != "" {
		in = strings.NewReader(c.Query)
	}
	var p splitter
	run := func(st statement) error {
		if st.plot == "" {
			st.plot = c.Plot
		}
		return se.run(ctx, st)
	}
	err := eachLine(ctx, in, func(n int64, line []byte) error {
		if n == 1 {
			line = trimBOM(line)
		}
		p.feed(string(line))
		if len(p.buf) > maxLineBytes {
			return fmt.Errorf("a statement is longer than %d bytes", maxLineBytes)
		}
		for {
			st, ok := p.next()
			if !ok {
				return nil
			}
			if err := run(st); err != nil {
				return err
			}
		}
	})
	if err != nil {
		return err
	}
	if st, ok := p.rest(); ok {
		err = run(st)
	}
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	return err
}
