package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	_ "github.com/go-sql-driver/mysql"
)

// process is one server on fixed ports that is killed and started again.
type process struct {
	binary, dir, data  string
	kafka, mysql, http string
	flags              []string
	wrap               []string // a command that runs the server as its own process, like strace -D
	cmd                *exec.Cmd
	exited             chan struct{}   // closed when the process is gone
	life               context.Context // ends with the process
	slowestStart       time.Duration
}

// errGone: the server ended on its own (or by an injected signal).
var errGone = errors.New("server is gone")

func newProcess(binary, dir, data string, flags ...string) *process {
	return &process{
		binary: binary, dir: dir, data: data, flags: flags,
		kafka: freeAddress(), mysql: freeAddress(), http: freeAddress(),
	}
}

// launch starts the process and does not wait until it is up.
func (p *process) launch() error {
	log, err := os.OpenFile(p.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	args := append(append([]string{}, p.wrap...), p.binary, "serve", "--data", p.data, "--kafka", p.kafka, "--mysql", p.mysql, "--http", p.http)
	args = append(args, p.flags...)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	life, end := context.WithCancel(context.Background())
	exited := make(chan struct{})
	p.cmd, p.life, p.exited = cmd, life, exited
	go func() {
		_ = cmd.Wait() // stop looks at the exit status
		end()
		close(exited)
	}()
	return nil
}

// start returns when both wires accept; errGone when the process ended before.
func (p *process) start() error {
	began := time.Now()
	if err := p.launch(); err != nil {
		return err
	}
	for _, address := range []string{p.kafka, p.mysql} {
		for {
			c, err := net.DialTimeout("tcp", address, time.Second)
			if err == nil {
				c.Close()
				break
			}
			if p.gone() {
				return fmt.Errorf("%w before it was up: %s", errGone, p.tail())
			}
			if time.Since(began) > 30*time.Second {
				return fmt.Errorf("server did not start in 30 s: %s", p.tail())
			}
			time.Sleep(2 * time.Millisecond)
		}
	}
	p.slowestStart = max(p.slowestStart, time.Since(began))
	return nil
}

func (p *process) gone() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

func (p *process) log() string { return filepath.Join(p.dir, "server.log") }

func (p *process) tail() string {
	b, _ := os.ReadFile(p.log())
	if i := len(b) - 4000; i > 0 {
		b = b[i:]
	}
	return string(bytes.ToValidUTF8(b, nil))
}

func (p *process) kill() {
	if p.cmd != nil {
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
}

// pause lets the process stand still for a while, as a machine that is suspended.
func (p *process) pause(d time.Duration) error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	time.Sleep(d)
	return p.cmd.Process.Signal(syscall.SIGCONT)
}

// stop ends the server as an operator does and wants exit status 0.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	select {
	case <-p.exited:
	case <-time.After(30 * time.Second):
		p.kill()
		return errors.New("server did not stop within 30 s of SIGTERM")
	}
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("server ended with %v", p.cmd.ProcessState)
	}
	return nil
}

func (p *process) db() (*sql.DB, error) {
	return sql.Open("mysql", "app@tcp("+p.mysql+")/kafka")
}

// seal puts everything written so far into segments.
func (p *process) seal(ctx context.Context, topic string) error {
	db, err := p.db()
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "CALL millrace.seal('"+topic+"')")
	return err
}

func freeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// goneSoon waits a moment for an injected signal to take effect: its victim's
// peers see the connection end before the process is waited for.
func (p *process) goneSoon() bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(2 * time.Second):
		return false
	}
}
