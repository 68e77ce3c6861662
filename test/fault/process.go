package main

import (
	"bytes"
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
	cmd                *exec.Cmd
	slowestStart       time.Duration
}

func newProcess(binary, dir, data string, flags ...string) *process {
	return &process{binary: binary, dir: dir, data: data, flags: flags,
		kafka: freeAddress(), mysql: freeAddress(), http: freeAddress()}
}

func (p *process) start() error {
	log, err := os.OpenFile(filepath.Join(p.dir, "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	p.cmd = exec.Command(p.binary, append([]string{"serve", "--data", p.data, "--kafka", p.kafka, "--mysql", p.mysql, "--http", p.http}, p.flags...)...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		return err
	}
	for _, address := range []string{p.kafka, p.mysql} {
		for {
			c, err := net.DialTimeout("tcp", address, time.Second)
			if err == nil {
				c.Close()
				break
			}
			if p.cmd.ProcessState != nil || time.Since(began) > 30*time.Second || p.gone() {
				return fmt.Errorf("server did not start: %s", p.tail())
			}
			time.Sleep(2 * time.Millisecond)
		}
	}
	p.slowestStart = max(p.slowestStart, time.Since(began))
	return nil
}

func (p *process) gone() bool {
	var ws syscall.WaitStatus
	pid, err := syscall.Wait4(p.cmd.Process.Pid, &ws, syscall.WNOHANG, nil)
	return err == nil && pid == p.cmd.Process.Pid
}

func (p *process) tail() string {
	b, _ := os.ReadFile(filepath.Join(p.dir, "server.log"))
	if i := len(b) - 4000; i > 0 {
		b = b[i:]
	}
	return string(bytes.ToValidUTF8(b, nil))
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- p.cmd.Wait() }()
	select {
	case err := <-done:
		return err
	case <-time.After(30 * time.Second):
		p.kill()
		return errors.New("server did not stop within 30 s of SIGTERM")
	}
}

func (p *process) db() (*sql.DB, error) {
	return sql.Open("mysql", "app@tcp("+p.mysql+")/kafka")
}

func freeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer l.Close()
	return l.Addr().String()
}
