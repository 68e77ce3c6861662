package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// System calls by which the server changes its files. Sockets use none of them.
const (
	syncCalls   = "fdatasync,fsync"
	writeCalls  = "pwrite64,pwritev,pwritev2"
	changeCalls = writeCalls + ",rename,renameat,renameat2,unlink,unlinkat,ftruncate,fallocate,mkdirat"
)

// injecting is a wrapper (see process) in which strace does what to the nth of
// calls. strace counts per thread, so that several threads may meet theirs: an
// injected error may come more than once. The server is our child, not strace's
// (-D), and is killed and waited for as ever. Its --seccomp-bpf would be faster,
// but counts wrong (6.1).
func injecting(calls, what string, n int, trace string) []string {
	return []string{
		"strace", "-D", "-f", "-y", "-o", trace,
		"-e", "trace=" + calls, "-e", fmt.Sprintf("inject=%s:%s:when=%d", calls, what, n),
	}
}

// attachMax bounds how long strace takes to trace a running process.
const attachMax = 10 * time.Second

// attach does what injecting does to a process that runs, from now on. The tracer ends with the process.
func attach(p *process, calls, what string, n int, trace string) (tracer *exec.Cmd, err error) {
	said, err := os.Create(trace + ".err")
	if err != nil {
		return nil, err
	}
	defer said.Close()
	tracer = exec.Command("strace", "-f", "-y", "-o", trace, "-p", fmt.Sprint(p.cmd.Process.Pid),
		"-e", "trace="+calls, "-e", fmt.Sprintf("inject=%s:%s:when=%d", calls, what, n))
	tracer.Stderr = said
	if err := tracer.Start(); err != nil {
		return nil, err
	}
	for began := time.Now(); time.Since(began) < attachMax; time.Sleep(2 * time.Millisecond) {
		if b, err := os.ReadFile(said.Name()); err == nil && strings.Contains(string(b), " attached") {
			return tracer, nil
		}
	}
	_ = tracer.Process.Kill()
	_ = tracer.Wait()
	b, _ := os.ReadFile(said.Name())
	return nil, fmt.Errorf("strace did not attach: %s", b)
}

// injected returns the calls that strace made fail, a line each.
func injected(trace string) (lines []string, err error) {
	f, err := os.Open(trace)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		if strings.Contains(sc.Text(), "(INJECTED)") {
			lines = append(lines, sc.Text())
		}
	}
	return lines, sc.Err()
}
