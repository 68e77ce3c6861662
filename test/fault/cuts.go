package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// cutsRun cuts the connections of idempotent producers all the time, most often
// between a request and its answer, so that they send again what is already
// stored; and pauses and kills the server now and then. Each record must stand
// exactly once, in order.
func cutsRun(ctx context.Context, binary string, random *rand.Rand, kills int) (err error) {
	dir, err := os.MkdirTemp("", "millrace-cuts")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := newProcess(binary, dir, filepath.Join(dir, "data"), "--seal-bytes", "4MiB")
	if err := p.start(); err != nil {
		return err
	}
	defer func() {
		p.kill()
		if err != nil {
			err = fmt.Errorf("%w\nserver: %s", err, p.tail())
		}
	}()
	cutters := map[string]*cutter{}
	options := map[string][]kgo.Opt{
		"cut-plain": {kgo.ProducerBatchCompression(kgo.NoCompression())},
		"cut-zstd":  {kgo.ProducerBatchCompression(kgo.ZstdCompression())},
		"cut-one":   {kgo.MaxProduceRequestsInflightPerBroker(1)},
	}
	var topics []string
	once := map[string]bool{}
	for t := range options {
		topics = append(topics, t)
		once[t] = true
		cutters[t] = &cutter{random: rand.New(rand.NewPCG(random.Uint64(), 0))}
	}
	if err := createTopics(ctx, p, topics); err != nil {
		return err
	}
	h := newHistory()
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	failures := make(chan error, len(topics))
	for t, o := range options {
		wg.Go(func() {
			if err := produceUntil(running, p, t, append(o, kgo.Dialer(cutters[t].dial)), h); err != nil {
				failures <- fmt.Errorf("producer of %s: %w", t, err)
			}
		})
	}
	for i := range kills {
		time.Sleep(time.Duration(300+random.IntN(1000)) * time.Millisecond)
		if i%2 == 0 {
			if err := p.pause(time.Duration(random.IntN(1500)) * time.Millisecond); err != nil {
				return err
			}
		}
		if i%4 != 3 {
			continue
		}
		p.kill()
		if err := p.start(); err != nil {
			cancel()
			wg.Wait()
			return err
		}
	}
	cancel()
	cuts := int64(0)
	for _, c := range cutters {
		c.off.Store(true)
		cuts += c.cuts.Load()
	}
	wg.Wait()
	close(failures)
	if err, failed := <-failures; failed {
		return err
	}
	if err := h.verify(ctx, p, topics, once); err != nil {
		return err
	}
	fmt.Printf("cuts: %d connections cut, %d records stand once each\n", cuts, len(h.acked))
	return p.stop()
}

// cutter dials connections that end at random.
type cutter struct {
	mu     sync.Mutex
	random *rand.Rand
	off    atomic.Bool
	cuts   atomic.Int64
}

// cutOneIn reads or writes ends the connection. A connection takes some reads
// before it can be used.
const cutOneIn = 12

func (c *cutter) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &cutConn{conn, c}, nil
}

func (c *cutter) cut() bool {
	if c.off.Load() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.random.IntN(cutOneIn) != 0 {
		return false
	}
	c.cuts.Add(1)
	return true
}

type cutConn struct {
	net.Conn
	c *cutter
}

// Write cuts in the middle of what is written.
func (c *cutConn) Write(b []byte) (int, error) {
	if c.c.cut() {
		n, _ := c.Conn.Write(b[:len(b)/2])
		_ = c.Conn.Close()
		return n, net.ErrClosed
	}
	return c.Conn.Write(b)
}

// Read cuts when an answer is there: the server has done what was asked.
func (c *cutConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == nil && c.c.cut() {
		_ = c.Conn.Close()
		return 0, net.ErrClosed
	}
	return n, err
}
