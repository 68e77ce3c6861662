package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// broker knows how to start one kind of broker in a directory.
type broker struct {
	name, id string
	command  func(dir string, p *process) (*exec.Cmd, error)
}

type process struct {
	cmd     *exec.Cmd
	address string
	mysql   string // Millrace's
	http    string // Millrace's
	ready   time.Duration
}

func millraceBroker(binary string, flags ...string) broker {
	return broker{"Millrace", "millrace", func(dir string, p *process) (*exec.Cmd, error) {
		p.mysql, p.http = freeAddress(), freeAddress()
		return exec.Command(binary, append([]string{
			"serve", "--data", filepath.Join(dir, "data"), "--kafka", p.address,
			"--mysql", p.mysql, "--http", p.http,
		}, flags...)...), nil
	}}
}

func kafkaBroker(name, id, jars string, extra []string) broker {
	return broker{name, id, func(dir string, p *process) (*exec.Cmd, error) {
		controller := freeAddress()
		conf := append([]string{
			"process.roles=broker,controller", "node.id=1",
			"controller.quorum.voters=1@" + controller,
			"listeners=PLAINTEXT://" + p.address + ",CONTROLLER://" + controller,
			"advertised.listeners=PLAINTEXT://" + p.address,
			"controller.listener.names=CONTROLLER",
			"log.dirs=" + filepath.Join(dir, "data"),
			"offsets.topic.replication.factor=1",
			"transaction.state.log.replication.factor=1",
			"transaction.state.log.min.isr=1",
		}, extra...)
		file := filepath.Join(dir, "server.properties")
		if err := os.WriteFile(file, []byte(strings.Join(conf, "\n")), 0o644); err != nil {
			return nil, err
		}
		cp := filepath.Join(jars, "*")
		format := exec.Command("java", "-cp", cp, "kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", file)
		if out, err := format.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("format: %w: %s", err, out)
		}
		// The heap and collector of kafka-server-start.sh.
		return exec.Command("java", "-Xmx1G", "-Xms1G", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20",
			"-XX:InitiatingHeapOccupancyPercent=35", "-cp", cp, "kafka.Kafka", file), nil
	}}
}

// startIn starts the broker and waits until it answers a Metadata request.
func (b broker) startIn(ctx context.Context, dir string) (*process, error) {
	p := &process{address: freeAddress()}
	cmd, err := b.command(dir, p)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.cmd = cmd
	cl, err := kgo.NewClient(kgo.SeedBrokers(p.address))
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	for time.Since(began) < time.Minute {
		if c, err := net.DialTimeout("tcp", p.address, time.Second); err == nil {
			c.Close()
			if r, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, cl); err == nil && len(r.Brokers) > 0 {
				p.ready = time.Since(began)
				return p, nil
			}
		}
		time.Sleep(2 * time.Millisecond)
	}
	p.stop()
	return nil, errors.New("did not answer within a minute")
}

func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	done := make(chan struct{})
	go func() { _ = p.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		_ = p.cmd.Process.Kill()
		<-done
	}
}

// rss reads a memory figure such as VmRSS or VmHWM of the process, in bytes.
func (p *process) rss(field string) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return -1
	}
	for _, line := range strings.Split(string(b), "\n") {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kb << 10
		}
	}
	return -1
}

// clockTicks is the unit of /proc/PID/stat on every Linux that Go runs on, a second's part.
const clockTicks = 100

// cpu is the time the process has spent on processors, its background work included.
func (p *process) cpu() time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	// The name may contain spaces; the fields behind it do not.
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * time.Second / clockTicks
}

func freeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer l.Close()
	return l.Addr().String()
}
