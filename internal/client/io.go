// Package client is what the commands of millrace do as clients of a running
// server: of Millrace, and as far as the protocols go of any Kafka or MySQL server.
// Each command is a struct whose fields are its flags and whose Run does the work
// on an IO, so that tests need no process.
package client

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// IO is what a command reads from and writes to.
type IO struct {
	In         io.Reader
	Out, Err   io.Writer
	InTerminal bool // In is a terminal: a person types
	OutWidth   int  // columns of Out's terminal; 0: not a terminal
	ErrWidth   int  // of Err's; progress is shown there
}

// StandardIO is the process's own.
func StandardIO() *IO {
	return &IO{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTerminal: term.IsTerminal(int(os.Stdin.Fd())),
		OutWidth:   terminalWidth(os.Stdout),
		ErrWidth:   terminalWidth(os.Stderr),
	}
}

func terminalWidth(f *os.File) int {
	if !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		return w
	}
	return 80
}

// ErrNoPassword: none was given and there is no terminal to ask at.
var ErrNoPassword = errors.New("no password: give it on standard input with --password-stdin")

// askPassword reads a password without echo, twice when it is a new one.
func (s *IO) askPassword(prompt string, isNew bool) (string, error) {
	f, ok := s.In.(*os.File)
	if !ok || !s.InTerminal {
		return "", ErrNoPassword
	}
	ask := func(p string) (string, error) {
		fmt.Fprint(s.Err, p)
		b, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(s.Err)
		return string(b), err
	}
	p, err := ask(prompt + ": ")
	if err != nil || !isNew {
		return p, err
	}
	again, err := ask("The same again: ")
	if err != nil {
		return "", err
	}
	if p != again {
		return "", errors.New("the two passwords differ")
	}
	return p, nil
}

// maxPasswordBytes bounds what --password-stdin reads.
const maxPasswordBytes = 4 << 10

// readPassword reads a password from standard input up to the end of the line.
func (s *IO) readPassword() (string, error) {
	b, err := io.ReadAll(io.LimitReader(s.In, maxPasswordBytes+1))
	if err != nil {
		return "", err
	}
	if len(b) > maxPasswordBytes {
		return "", errors.New("the password on standard input is too long")
	}
	p, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSuffix(p, "\r"), nil
}
