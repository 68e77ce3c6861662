package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// syncsRun kills the server before its Nth sync, then before its Nth change of a
// file, for N from 1 up, while it starts, stores, seals, trims and stops; then
// kills it again and again while it recovers. What was acknowledged must be there.
func syncsRun(ctx context.Context, binary string, limit int) error {
	died, again := 0, 0
	for _, calls := range []string{syncCalls, changeCalls} {
		survived := 0
		for n := 1; n <= limit && survived < 2; n++ {
			killed, recoveries, err := killAtCall(ctx, binary, calls, n)
			if err != nil {
				return fmt.Errorf("killed before call %d of %s: %w", n, calls, err)
			}
			again += recoveries
			if killed {
				died++
				survived = 0
			} else {
				survived++
			}
		}
	}
	if died == 0 {
		return errors.New("nothing was ever killed")
	}
	fmt.Printf("syncs: died at %d exact points, and %d times while recovering\n", died, again)
	return nil
}

// recoveryKills bounds the kills of one recovery.
const recoveryKills = 12

func killAtCall(ctx context.Context, binary, calls string, n int) (killed bool, recoveries int, err error) {
	dir, err := os.MkdirTemp("", "millrace-syncs")
	if err != nil {
		return false, 0, err
	}
	defer os.RemoveAll(dir)
	p := newProcess(binary, dir, filepath.Join(dir, "data"))
	trace := filepath.Join(dir, "trace")
	defer func() {
		p.kill()
		if err != nil {
			err = fmt.Errorf("%w\nserver: %s", err, p.tail())
		}
	}()
	topics := []string{"first", "second"}
	h := newHistory()
	next := int64(0)
	if n%2 == 0 {
		// Every other time the server that dies begins with a recovery.
		if err := beforehand(ctx, p, h, topics, &next); err != nil {
			return false, 0, err
		}
	}
	p.wrap = injecting(calls, "signal=KILL", n, trace)
	err = storeSome(p, h, topics, &next)
	if err != nil && !p.goneSoon() {
		return false, 0, err
	}
	killed = err != nil
	verbosef("before call %d of %s: %v\n", n, calls, err)
	// Recovery that dies at its first, second, ... change.
	for m := 1; killed && n%3 == 0 && m <= recoveryKills; m++ {
		p.wrap = injecting(syncCalls+","+changeCalls, "signal=KILL", m, trace)
		err := p.start()
		if err == nil {
			p.kill()
			break
		}
		if !errors.Is(err, errGone) {
			return killed, recoveries, err
		}
		recoveries++
	}
	p.wrap = nil
	for range 2 {
		if err := p.start(); err != nil {
			return killed, recoveries, err
		}
		if !h.created {
			if err := createTopics(ctx, p, topics); err != nil {
				return killed, recoveries, err
			}
			h.created = true
		}
		if err := h.verify(ctx, p, topics, nil); err != nil {
			return killed, recoveries, err
		}
		if err := produceOne(ctx, p, h, topics[0], &next); err != nil {
			return killed, recoveries, err
		}
		if err := p.stop(); err != nil {
			return killed, recoveries, err
		}
	}
	return killed, recoveries, nil
}

// beforehand leaves a killed server's directory with segments and an unsealed log.
func beforehand(ctx context.Context, p *process, h *history, topics []string, next *int64) error {
	if err := p.start(); err != nil {
		return err
	}
	if err := createTopics(ctx, p, topics); err != nil {
		return err
	}
	h.created = true
	for range 2 {
		for _, t := range topics {
			if err := produceOne(ctx, p, h, t, next); err != nil {
				return err
			}
		}
		if err := p.seal(ctx, topics[0]); err != nil {
			return err
		}
	}
	if err := produceOne(ctx, p, h, topics[0], next); err != nil {
		return err
	}
	p.kill()
	return nil
}

// storeSome starts the server, has it do something of everything that changes
// files, and stops it. Its first error ends it.
func storeSome(p *process, h *history, topics []string, next *int64) error {
	if err := p.start(); err != nil {
		return err
	}
	if err := createTopics(p.life, p, topics); err != nil {
		return err
	}
	h.created = true
	for round := range 3 {
		for range 2 {
			for _, t := range topics {
				if err := produceOne(p.life, p, h, t, next); err != nil {
					return err
				}
			}
		}
		if err := p.seal(p.life, topics[0]); err != nil {
			return err
		}
		if err := trim(p.life, p, h, topics[1], int32(round), int64(5*round+3)); err != nil {
			return err
		}
	}
	return p.stop()
}

// trim deletes the records of a partition before an offset.
func trim(ctx context.Context, p *process, h *history, topic string, partition int32, before int64) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(p.kafka), kgo.RequestRetries(0))
	if err != nil {
		return err
	}
	defer cl.Close()
	at := place{topic, partition, 0}
	h.trimTried[at] = before
	req := kmsg.NewPtrDeleteRecordsRequest()
	t := kmsg.NewDeleteRecordsRequestTopic()
	t.Topic = topic
	part := kmsg.NewDeleteRecordsRequestTopicPartition()
	part.Partition, part.Offset = partition, before
	t.Partitions = append(t.Partitions, part)
	req.Topics = append(req.Topics, t)
	for _, s := range cl.RequestSharded(ctx, req) {
		if s.Err != nil {
			return s.Err
		}
		got := s.Resp.(*kmsg.DeleteRecordsResponse).Topics[0].Partitions[0]
		if got.ErrorCode != 0 || got.LowWatermark != before {
			return fmt.Errorf("DeleteRecords %s/%d before %d: error %d, low watermark %d", topic, partition, before, got.ErrorCode, got.LowWatermark)
		}
	}
	h.trimmed[at] = before
	return nil
}
