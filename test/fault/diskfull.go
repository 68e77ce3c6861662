package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// diskFullRun fills the data directory's file system under an acks=all producer,
// makes room, and expects everything acknowledged, no restart, and to go on.
func diskFullRun(ctx context.Context, binary string, random *rand.Rand, rounds int) error {
	for round := range rounds {
		size := 48 + random.IntN(64)
		full, roomy := fmt.Sprintf("size=%dm", size), fmt.Sprintf("size=%dm", 2*size+64)
		if round%3 == 2 {
			// No file can be made any more, although there is space.
			full, roomy = fmt.Sprintf("size=1g,nr_inodes=%d", 9+random.IntN(5)), "size=1g,nr_inodes=1000"
		}
		if err := diskFullOnce(ctx, binary, full, roomy); err != nil {
			return fmt.Errorf("round %d, %s: %w", round, full, err)
		}
	}
	return nil
}

// diskFullOnce takes the options of a tmpfs that will be full, and of one with room.
func diskFullOnce(ctx context.Context, binary, full, roomy string) (err error) {
	dir, err := os.MkdirTemp("", "millrace-full")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	disk := filepath.Join(dir, "disk")
	if err := os.Mkdir(disk, 0o755); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, full); err != nil {
		return fmt.Errorf("mount tmpfs (needs root): %w", err)
	}
	defer syscall.Unmount(disk, syscall.MNT_DETACH)

	p := newProcess(binary, dir, filepath.Join(disk, "data"))
	if err := p.start(); err != nil {
		return err
	}
	defer func() {
		p.kill()
		if err != nil {
			err = fmt.Errorf("%w\nserver: %s", err, p.tail())
		}
	}()
	topics := []string{"full"}
	if err := createTopics(ctx, p, topics); err != nil {
		return err
	}
	h := newHistory()
	next := int64(0)
	cause, err := fill(ctx, p, h, &next)
	if err != nil {
		return err
	}
	if !errors.Is(cause, kerr.KafkaStorageError) {
		return fmt.Errorf("a full disk answered %w, want KAFKA_STORAGE_ERROR", cause)
	}
	if err := h.verify(ctx, p, topics, nil); err != nil {
		return fmt.Errorf("while full: %w", err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, roomy); err != nil {
		return err
	}
	roomAt := time.Now()
	for {
		err := produceOne(ctx, p, h, "full", &next)
		if err == nil {
			break
		}
		if time.Since(roomAt) > 5*time.Second {
			return fmt.Errorf("did not go on within 5 s of getting room: %w", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err := h.verify(ctx, p, topics, nil); err != nil {
		return fmt.Errorf("after room came: %w", err)
	}
	if err := p.stop(); err != nil {
		return err
	}
	if err := p.start(); err != nil {
		return err
	}
	return h.verify(ctx, p, topics, nil)
}

// fill produces until the server refuses and returns why.
func fill(ctx context.Context, p *process, h *history, next *int64) (cause, err error) {
	for *next < 1_000_000 {
		if err := produceOne(ctx, p, h, "full", next); err != nil {
			return err, nil
		}
	}
	return nil, errors.New("the disk never filled")
}

// produceOne sends one batch of 64 records of 1 KiB without retries.
func produceOne(ctx context.Context, p *process, h *history, topic string, next *int64) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(p.kafka), kgo.DefaultProduceTopic(topic), kgo.DisableIdempotentWrite(),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.RequestRetries(0), kgo.RecordRetries(0), kgo.RetryTimeout(5*time.Second))
	if err != nil {
		return err
	}
	defer cl.Close()
	var rs []*kgo.Record
	ids := map[*kgo.Record]identity{}
	for range 64 {
		id := identity{topic, *next}
		*next++
		value, _ := json.Marshal(struct {
			identity
			Padding string `json:"padding"`
		}{id, padding})
		r := &kgo.Record{Value: value, Partition: int32(*next % partitions)}
		rs, ids[r] = append(rs, r), id
	}
	var failed error
	for _, res := range cl.ProduceSync(ctx, rs...) {
		if res.Err != nil {
			failed = res.Err
			continue
		}
		h.ack(res.Record, ids[res.Record])
	}
	return failed
}

var padding = func() string {
	b := make([]byte, 1000)
	for i := range b {
		b[i] = 'a' + byte(i%26)
	}
	return string(b)
}()
