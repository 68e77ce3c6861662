package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// memoryBound is what the server may take under any of these loads, over its soft
// limit: what Go's collector cannot be held to, and pages not given back yet.
const (
	memoryLimit = 512 << 20
	memoryBound = memoryLimit + 256<<20
)

// memoryRun loads the server as badly behaved clients do and looks at how much
// memory it ever took.
func memoryRun(ctx context.Context, binary string) (err error) {
	dir, err := os.MkdirTemp("", "millrace-memory")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := newProcess(binary, dir, filepath.Join(dir, "data"), "--memory-limit", strconv.Itoa(memoryLimit), "--default-partitions", "1")
	if err := p.start(); err != nil {
		return err
	}
	defer func() {
		p.kill()
		if err != nil {
			err = fmt.Errorf("%w\nserver: %s", err, p.tail())
		}
	}()
	for _, l := range []struct {
		what string
		load func(context.Context, *process) error
	}{
		{"200 connections that produce 1 MB each", produceFromMany},
		{"4 requests of 99 MiB at once", produceHuge},
		{"64 consumers that ask for 2 GiB and read nothing", fetchAndStall},
		{"8 consumers that fetch 50 MiB of 1,000 partitions", fetchManyPartitions},
		{"500 connections that announce 100 MiB and send 1 KiB", announceMuch},
	} {
		if err := resetPeak(p); err != nil {
			return err
		}
		before, _, err := memoryOf(p)
		if err != nil {
			return err
		}
		if err := l.load(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", l.what, err)
		}
		now, peak, err := memoryOf(p)
		if err != nil {
			return err
		}
		fmt.Printf("memory: %-55s %4d MiB before, %4d MiB at most, %4d MiB after\n", l.what, before>>20, peak>>20, now>>20)
		if peak > memoryBound {
			return fmt.Errorf("%s: the server took %d MiB, with a limit of %d", l.what, peak>>20, memoryLimit>>20)
		}
	}
	return p.stop()
}

// memoryOf the server: resident now, and at most since resetPeak.
func memoryOf(p *process) (now, peak int64, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, 0, fmt.Errorf("%w: %w", errGone, err)
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		kib, _ := strconv.ParseInt(f[1], 10, 64)
		switch f[0] {
		case "VmRSS:":
			now = kib << 10
		case "VmHWM:":
			peak = kib << 10
		}
	}
	if peak == 0 {
		return 0, 0, errors.New("no figures in /proc/PID/status")
	}
	return now, peak, nil
}

func resetPeak(p *process) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0)
}

const wideTopic, wideParts = "wide", 1000

// megabyte is one uncompressed batch of a little less.
func megabyte() []byte {
	return rawBatch(strings.Repeat("x", 1_000_000))
}

// rawBatch is a v2 batch of one record, as a client without any producer state sends it.
func rawBatch(value string) []byte {
	var rec []byte
	rec = append(rec, 0)               // attributes
	rec = binary.AppendVarint(rec, 0)  // timestamp delta
	rec = binary.AppendVarint(rec, 0)  // offset delta
	rec = binary.AppendVarint(rec, -1) // no key
	rec = binary.AppendVarint(rec, int64(len(value)))
	rec = append(rec, value...)
	rec = binary.AppendVarint(rec, 0) // headers
	rec = append(binary.AppendVarint(nil, int64(len(rec))), rec...)
	b := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
		NumRecords: 1, FirstTimestamp: 1, MaxTimestamp: 1, Records: rec,
	}
	b.Length = int32(49 + len(rec))
	raw := b.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

func produceFrame(topic string, partitions []int32, batch []byte) []byte {
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks, req.TimeoutMillis = 9, -1, 30_000
	t := kmsg.NewProduceRequestTopic()
	t.Topic = topic
	for _, n := range partitions {
		part := kmsg.NewProduceRequestTopicPartition()
		part.Partition, part.Records = n, batch
		t.Partitions = append(t.Partitions, part)
	}
	req.Topics = append(req.Topics, t)
	return kmsg.NewRequestFormatter().AppendRequest(nil, req, 1)
}

// answer reads one answer and returns its length.
func answer(c net.Conn) (int64, error) {
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return 0, err
	}
	return io.CopyN(io.Discard, c, int64(binary.BigEndian.Uint32(head[:])))
}

// each runs do on n connections at once.
func each(p *process, n int, do func(i int, c net.Conn) error) error {
	var wg sync.WaitGroup
	failed := make(chan error, n)
	for i := range n {
		wg.Go(func() {
			c, err := net.Dial("tcp", p.kafka)
			if err == nil {
				_ = c.SetDeadline(time.Now().Add(90 * time.Second))
				err = errors.Join(do(i, c), c.Close())
			}
			if err != nil {
				failed <- err
			}
		})
	}
	wg.Wait()
	close(failed)
	return <-failed
}

func produceFromMany(ctx context.Context, p *process) error {
	if err := createWide(ctx, p); err != nil {
		return err
	}
	batch := megabyte()
	return each(p, 200, func(i int, c net.Conn) error {
		frame := produceFrame(wideTopic, []int32{int32(i % wideParts)}, batch)
		for range 3 {
			if _, err := c.Write(frame); err != nil {
				return err
			}
			if _, err := answer(c); err != nil {
				return err
			}
		}
		return nil
	})
}

func produceHuge(_ context.Context, p *process) error {
	batch := megabyte()
	var all []int32
	for n := int32(0); len(all) < 99<<20/len(batch); n++ {
		all = append(all, n)
	}
	frame := produceFrame(wideTopic, all, batch)
	return each(p, 4, func(_ int, c net.Conn) error {
		if _, err := c.Write(frame); err != nil {
			return err
		}
		_, err := answer(c)
		return err
	})
}

func fetchFrame(parts, perPart, total int32) []byte {
	req := kmsg.NewPtrFetchRequest()
	req.Version, req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.SessionEpoch = 11, 100, 1, total, -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic = wideTopic
	for n := range parts {
		part := kmsg.NewFetchRequestTopicPartition()
		part.Partition, part.FetchOffset, part.PartitionMaxBytes, part.CurrentLeaderEpoch = n, 0, perPart, -1
		t.Partitions = append(t.Partitions, part)
	}
	req.Topics = append(req.Topics, t)
	return kmsg.NewRequestFormatter().AppendRequest(nil, req, 1)
}

func fetchAndStall(_ context.Context, p *process) error {
	frame := fetchFrame(wideParts, 1<<31-1, 1<<31-1)
	return each(p, 64, func(_ int, c net.Conn) error {
		if _, err := c.Write(frame); err != nil {
			return err
		}
		time.Sleep(5 * time.Second)
		return nil
	})
}

func fetchManyPartitions(_ context.Context, p *process) error {
	frame := fetchFrame(wideParts, 1<<20, 50<<20)
	return each(p, 8, func(_ int, c net.Conn) error {
		for range 4 {
			if _, err := c.Write(frame); err != nil {
				return err
			}
			n, err := answer(c)
			if err != nil {
				return err
			}
			if n < 1<<20 || n > 52<<20 {
				return fmt.Errorf("a fetch of 50 MiB was answered with %d bytes", n)
			}
		}
		return nil
	})
}

func announceMuch(_ context.Context, p *process) error {
	head := binary.BigEndian.AppendUint32(nil, 99<<20)
	body := append(head, produceFrame(wideTopic, []int32{0}, make([]byte, 1024))[4:]...)
	return each(p, 500, func(_ int, c net.Conn) error {
		if _, err := c.Write(body); err != nil {
			return err
		}
		time.Sleep(3 * time.Second)
		return nil
	})
}

func createWide(ctx context.Context, p *process) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(p.kafka))
	if err != nil {
		return err
	}
	defer cl.Close()
	req := kmsg.NewPtrCreateTopicsRequest()
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = wideTopic, wideParts, 1
	req.Topics = append(req.Topics, t)
	r, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	if code := r.Topics[0].ErrorCode; code != 0 {
		return fmt.Errorf("create %s: error %d", wideTopic, code)
	}
	return nil
}
