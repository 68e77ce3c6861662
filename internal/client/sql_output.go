package client

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// outputError is a failure to print, not of the statement: the pager was left, the disk is full.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

// errEnough ends the printing of an answer of which nobody would see more.
var errEnough = errors.New("enough is shown")

// size is the terminal's now (it may have been resized); height is 0 when there is none.
func (s *IO) size() (width, height int) {
	if f, ok := s.Out.(*os.File); ok && s.OutWidth > 0 {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w, h
		}
	}
	return s.OutWidth, 0
}

// maxUnpagedBytes bounds what waits for the decision whether an answer needs the pager.
const maxUnpagedBytes = 1 << 20

// pagedWriter shows what fits the screen directly and hands anything longer to a pager,
// as it comes.
type pagedWriter struct {
	io      *IO
	command string
	height  int
	width   int // 0: lines of any length are wrapped, and no reason for the pager
	held    bytes.Buffer
	lines   int
	process *exec.Cmd
	pipe    io.WriteCloser
}

func (p *pagedWriter) Write(b []byte) (int, error) {
	if p.process == nil {
		p.held.Write(b)
		p.lines += bytes.Count(b, []byte("\n"))
		if p.lines < p.height-1 && p.held.Len() < maxUnpagedBytes && !p.wide(b) {
			return len(b), nil
		}
		if err := p.start(); err != nil {
			return 0, outputError{err}
		}
		b = p.held.Bytes()
		p.held = bytes.Buffer{}
	}
	if _, err := p.pipe.Write(b); err != nil {
		return 0, outputError{errEnough} // the pager was left
	}
	return len(b), nil
}

// wide says whether b has a line that does not fit the screen.
func (p *pagedWriter) wide(b []byte) bool {
	if p.width == 0 {
		return false
	}
	for line := range bytes.SplitSeq(b, []byte("\n")) {
		if len(line) > p.width && text.StringWidth(string(line)) > p.width {
			return true
		}
	}
	return false
}

func (p *pagedWriter) start() error {
	p.process = exec.Command("/bin/sh", "-c", p.command)
	p.process.Stdout, p.process.Stderr = p.io.Out, p.io.Err
	p.process.Env = append(os.Environ(), "LESSCHARSET=utf-8")
	var err error
	if p.pipe, err = p.process.StdinPipe(); err != nil {
		return err
	}
	return p.process.Start()
}

// Close shows what was held, or waits until the reader leaves the pager.
func (p *pagedWriter) Close() error {
	if p.process == nil {
		_, err := p.io.Out.Write(p.held.Bytes())
		return err
	}
	p.pipe.Close()
	if err := p.process.Wait(); err != nil {
		var status *exec.ExitError
		if errors.As(err, &status) && status.ExitCode() == 127 {
			return errors.New("there is no pager " + p.command + `; \pager off goes without`)
		}
	}
	return nil
}

// chops says whether a pager shows long lines by scrolling sideways, so that tables may be
// wider than the screen.
func chops(command string) bool {
	fields := strings.Fields(command)
	if len(fields) == 0 || !strings.HasSuffix(fields[0], "less") {
		return false
	}
	for _, f := range append(fields[1:], strings.Fields(os.Getenv("LESS"))...) {
		if f == "--chop-long-lines" || !strings.HasPrefix(f, "--") && strings.Contains(f, "S") {
			return true
		}
	}
	return false
}

// screenWriter keeps the first lines that fit the screen and then refuses more.
type screenWriter struct {
	buf    bytes.Buffer
	height int // 0: all, up to maxUnpagedBytes
	full   bool
}

func (s *screenWriter) Write(b []byte) (int, error) {
	s.buf.Write(b)
	if s.buf.Len() > maxUnpagedBytes || s.height > 0 && bytes.Count(s.buf.Bytes(), []byte("\n")) > s.height {
		s.full = true
		return 0, outputError{errEnough}
	}
	return len(b), nil
}

// screen is what was kept, cut to the height.
func (s *screenWriter) screen() []byte {
	lines := bytes.SplitAfter(s.buf.Bytes(), []byte("\n"))
	if s.height > 0 && len(lines) > s.height {
		lines = append(lines[:s.height-1], []byte("…\n"))
	}
	return bytes.Join(lines, nil)
}
