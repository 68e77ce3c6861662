package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// eioRun lets the Nth sync or write fail, for N from 1 up: the client is told
// 56, reads go on, writes go on within 5 s and without a restart, and nothing
// acknowledged is missing then or after the next start.
func eioRun(ctx context.Context, binary string, limit int) error {
	var sum eioCounts
	for _, k := range []struct{ calls, fault string }{
		{syncCalls, "error=EIO"},
		{writeCalls, "error=ENOSPC"},
		{writeCalls, "error=EIO"},
	} {
		quiet := 0
		for n := 1; n <= limit && quiet < 2; n++ {
			c, err := failAtCall(ctx, binary, k.calls, k.fault, n)
			if err != nil {
				return fmt.Errorf("%s at call %d of %s: %w", k.fault, n, k.calls, err)
			}
			sum.injected += c.injected
			sum.log += c.log
			sum.refused += c.refused
			sum.starts += c.starts
			if c.injected == 0 {
				quiet++
			} else {
				quiet = 0
			}
		}
	}
	fmt.Printf("eio: %d faults injected, %d of them in the log: %d requests were told 56, %d starts failed\n",
		sum.injected, sum.log, sum.refused, sum.starts)
	if sum.refused == 0 {
		return errors.New("no fault ever reached a request")
	}
	return nil
}

type eioCounts struct{ injected, log, refused, starts int }

// goOnWithin bounds the time from a fault until writes work again.
const goOnWithin = 5 * time.Second

func failAtCall(ctx context.Context, binary, calls, fault string, n int) (c eioCounts, err error) {
	dir, err := os.MkdirTemp("", "millrace-eio")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(dir)
	p := newProcess(binary, dir, filepath.Join(dir, "data"))
	trace := filepath.Join(dir, "trace")
	topics := []string{"eio"}
	h := newHistory()
	next := int64(0)
	if n%2 == 0 {
		// Every other time the server that meets the fault begins with a recovery.
		if err := beforehand(ctx, p, h, topics, &next); err != nil {
			return c, err
		}
	}
	p.wrap = injecting(calls, fault, n, trace)
	defer func() {
		p.kill()
		if err != nil {
			err = fmt.Errorf("%w\nserver: %s", err, p.tail())
		}
	}()
	if err := p.start(); err != nil {
		if !errors.Is(err, errGone) {
			return c, err
		}
		if !saysWhy(p.tail()) {
			return c, fmt.Errorf("a failed start does not say why: %w", err)
		}
		c.starts++
		p.wrap = nil
		if err := p.start(); err != nil {
			return c, fmt.Errorf("start after a start that failed: %w", err)
		}
	}
	if err := eventually(&c, func() error {
		err := createTopics(ctx, p, topics)
		if err != nil && strings.HasSuffix(err.Error(), fmt.Sprint("error ", kerr.KafkaStorageError.Code)) {
			return kerr.KafkaStorageError
		}
		return err
	}); err != nil {
		return c, fmt.Errorf("create: %w", err)
	}
	for round := range 3 {
		for range 5 {
			if err := eventually(&c, func() error {
				err := produceOne(ctx, p, h, "eio", &next)
				if err != nil {
					// While writes do not work, what is there is read.
					if err := h.verify(ctx, p, topics, nil); err != nil {
						return fmt.Errorf("reading after a failed write: %w", err)
					}
				}
				return err
			}); err != nil {
				return c, fmt.Errorf("round %d: %w", round, err)
			}
		}
		sealed := time.Now()
		for {
			err := p.seal(ctx, "eio")
			if err == nil {
				break
			}
			if time.Since(sealed) > goOnWithin {
				return c, fmt.Errorf("round %d: seal: %w", round, err)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	if err := h.verify(ctx, p, topics, nil); err != nil {
		return c, err
	}
	// A fault may come just then: it ends with what failed, and says so.
	if err := p.stop(); err != nil {
		log := strings.TrimSpace(p.tail())
		if last := log[strings.LastIndexByte(log, '\n')+1:]; !saysWhy(last) {
			return c, err
		}
	}
	lines, err := injected(trace)
	if err != nil {
		return c, err
	}
	c.injected = len(lines)
	for _, l := range lines {
		if strings.Contains(l, ".wal>") {
			c.log++
		}
	}
	p.wrap = nil
	if err := p.start(); err != nil {
		return c, err
	}
	if err := h.verify(ctx, p, topics, nil); err != nil {
		return c, err
	}
	return c, p.stop()
}

func saysWhy(log string) bool {
	return strings.Contains(log, "input/output error") || strings.Contains(log, "no space left")
}

// eventually repeats what is told KAFKA_STORAGE_ERROR, for goOnWithin.
func eventually(c *eioCounts, do func() error) error {
	began := time.Now()
	for {
		err := do()
		if err == nil {
			return nil
		}
		if !errors.Is(err, kerr.KafkaStorageError) {
			return fmt.Errorf("a failed disk answered %w, want KAFKA_STORAGE_ERROR", err)
		}
		c.refused++
		if time.Since(began) > goOnWithin {
			return fmt.Errorf("did not go on within %v: %w", goOnWithin, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
