package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// errQuit ends a script or the shell: \q was read.
var errQuit = errors.New("quit")

// maxSourceDepth bounds files that have other files run.
const maxSourceDepth = 16

// runner carries out lines of statements and of commands that begin with a backslash, of
// scripts, of files and of the shell.
type runner struct {
	*session
	force bool
	plot  string // of every answer
	pager string // "", or what shows long answers

	p      splitter
	last   statement // for \g, \plot and \watch on their own
	depth  int       // of files within files
	shell  bool      // errors are shown and it goes on
	failed int       // statements, with force
}

// script runs the statements of in up to the first that fails. Errors are said to be at a line
// of in, after the words of where, unless where is empty.
func (r *runner) script(ctx context.Context, where string, in io.Reader) error {
	defer func(p splitter) { r.p = p }(r.p)
	r.p = splitter{}
	err := eachLine(ctx, in, func(n int64, line []byte) error {
		if n == 1 {
			line = trimBOM(line)
		}
		return r.line(ctx, where, string(line))
	})
	if err != nil {
		return err
	}
	if st, ok := r.p.rest(); ok {
		return r.statement(ctx, where, st)
	}
	return nil
}

// line takes the next line.
func (r *runner) line(ctx context.Context, where, line string) error {
	if !r.p.pending() {
		r.p.reset()
		if name, arg, ok := command(line); ok {
			r.p.lines++
			return r.failure(where, r.p.lines, r.command(ctx, name, arg))
		}
	}
	r.p.feed(line)
	if len(r.p.buf) > maxLineBytes {
		return fmt.Errorf("a statement is longer than %d bytes", maxLineBytes)
	}
	for {
		st, ok, err := r.p.next()
		if err != nil {
			if err = r.failure(where, r.p.lines, err); err != nil {
				return err
			}
			continue
		}
		if !ok {
			return nil
		}
		if err := r.statement(ctx, where, st); err != nil {
			return err
		}
	}
}

// failure is what becomes of an error: in the shell and with force it is shown and nil is
// returned.
func (r *runner) failure(where string, line int, err error) error {
	switch {
	case err == nil, errors.Is(err, errQuit):
		return err
	case errors.Is(err, context.Canceled):
		if !r.shell {
			return err
		}
		fmt.Fprintln(r.io.Err, "stopped")
		return nil
	case where != "":
		err = fmt.Errorf("%s%d: %w", where, line, err)
	}
	if r.force || r.shell {
		r.failed++
		fmt.Fprintln(r.io.Err, err)
		return nil
	}
	return err
}

func (r *runner) statement(ctx context.Context, where string, st statement) error {
	return r.failure(where, st.line, r.execute(ctx, st))
}

// execute runs a statement, or the last one when it has no text.
func (r *runner) execute(ctx context.Context, st statement) error {
	if st.text == "" {
		if r.last.text == "" {
			return errors.New("there is no statement to run again")
		}
		again := r.last
		if st.plot != "" || st.vertical || st.watch == nil {
			again.plot, again.vertical = st.plot, st.vertical
		}
		again.watch = st.watch
		st = again
	}
	r.last = statement{text: st.text, line: st.line, plot: st.plot, vertical: st.vertical}
	if st.plot == "" && !st.vertical {
		st.plot = r.plot
	}
	if st.watch != nil {
		return r.watch(ctx, st)
	}
	width, height := r.io.size()
	if r.pager == "" || height == 0 {
		return shown(r.run(ctx, st))
	}
	p := &pagedWriter{io: r.io, command: r.pager, height: height}
	out, chopped := r.out, r.chopped
	r.out = p
	if r.chopped = chops(r.pager); r.chopped {
		p.width = width
	}
	err := r.run(ctx, st)
	r.out, r.chopped = out, chopped
	return errors.Join(shown(err), p.Close())
}

// shown is err, unless it only says that nobody wanted to see more.
func shown(err error) error {
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// watch runs a statement again and again until Ctrl-C, an error or as often as was asked. A
// terminal's screen is drawn anew each time.
func (r *runner) watch(ctx context.Context, st statement) error {
	tick := time.NewTicker(st.watch.every)
	defer tick.Stop()
	for n := 1; ; n++ {
		if err := r.watchOnce(ctx, st, n); err != nil {
			return err
		}
		if n == st.watch.times {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Canceled
		case <-tick.C:
		}
	}
}

func (r *runner) watchOnce(ctx context.Context, st statement, n int) error {
	_, height := r.io.size()
	if r.io.OutWidth == 0 {
		return r.run(ctx, st)
	}
	title := fmt.Sprintf("%s, every %s: %s", time.Now().Format(time.TimeOnly), st.watch.every, printable([]byte(strings.Join(strings.Fields(st.text), " "))))
	width, _ := r.io.size()
	screen := &screenWriter{height: max(0, height-2)}
	out := r.out
	r.out = screen
	err := r.run(ctx, st)
	r.out = out
	var b bytes.Buffer
	if n == 1 {
		b.WriteString("\x1b[2J") // clear all
	}
	b.WriteString("\x1b[H") // to the first line, and clear what is behind each new one
	for _, line := range append([][]byte{[]byte(snip(title, width) + "\n")}, bytes.SplitAfter(screen.screen(), []byte("\n"))...) {
		if text, ok := bytes.CutSuffix(line, []byte("\n")); ok {
			b.Write(text)
			b.WriteString("\x1b[K\n")
		} else {
			b.Write(line)
		}
	}
	b.WriteString("\x1b[J") // and all that is below
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	_, err = r.out.Write(b.Bytes())
	return err
}

// source runs a file.
func (r *runner) source(ctx context.Context, name string) error {
	if r.depth == maxSourceDepth {
		return fmt.Errorf("files that run files: more than %d deep", maxSourceDepth)
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			name = home + "/" + rest
		}
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	r.depth++
	defer func() { r.depth-- }()
	// The shell shows a file's error once, and what is behind it in the file is not run.
	shell := r.shell
	r.shell = false
	defer func() { r.shell = shell }()
	if err := r.script(ctx, name+":", f); !errors.Is(err, errQuit) {
		return err
	}
	return nil
}
