package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// idleTimeout ends a consume without --follow when nothing came for so long although
// the end was not reached: what is missing are offsets without records.
const idleTimeout = 5 * time.Second

// Consume is `millrace consume`.
type Consume struct {
	Topic      string   `arg:"" help:"Topic to read."`
	From       Position `help:"Where to begin: earliest, latest, an offset, -N before the end, a time (2026-01-31T12:00:00Z) or an age (2h). With --group, where the group has no offset yet." default:"earliest" placeholder:"POSITION"`
	Partitions []int32  `name:"partition" short:"p" help:"Read only this partition; may be given several times." placeholder:"N"`
	Group      string   `short:"g" help:"Read as a member of this group, go on where it stopped, and commit." placeholder:"NAME"`
	Follow     bool     `short:"F" help:"Wait for new records at the end, and for the topic if it does not exist (the server may create it then)."`
	Count      int64    `short:"n" help:"Stop after N records." placeholder:"N"`
	Format     string   `short:"f" help:"value, key-value, json, or a layout such as '%p %o %k %v\\n' (verbs of franz-go: %t topic, %p partition, %o offset, %k key, %v value, %d timestamp, %h{%k=%v } headers)." default:"value" placeholder:"FORMAT"`
	Separator  string   `short:"s" help:"Between key and value of key-value." default:":" placeholder:"TEXT"`
	Dirty      bool     `name:"read-uncommitted" help:"Show records of open and aborted transactions, too."`
	Kafka
}

func (*Consume) Help() string {
	return `Without --follow it ends at the records that existed when it began.

Examples:
  millrace consume orders --from -10
  millrace consume orders --from 2h --format json | jq .value.amount
  millrace consume orders --group billing --follow`
}

// formatter prints one record.
func (c *Consume) formatter() (func(b []byte, r *kgo.Record) []byte, error) {
	switch c.Format {
	case "value":
		return func(b []byte, r *kgo.Record) []byte { return append(append(b, r.Value...), '\n') }, nil
	case "key-value":
		return func(b []byte, r *kgo.Record) []byte {
			b = append(b, r.Key...)
			b = append(b, c.Separator...)
			return append(append(b, r.Value...), '\n')
		}, nil
	case "json":
		return func(b []byte, r *kgo.Record) []byte { return append(appendRecordJSON(b, r), '\n') }, nil
	}
	if !strings.Contains(c.Format, "%") {
		return nil, fmt.Errorf("--format %q is none of value, key-value, json and has no %%", c.Format)
	}
	f, err := kgo.NewRecordFormatter(c.Format)
	if err != nil {
		return nil, fmt.Errorf("--format: %w", err)
	}
	return f.AppendRecord, nil
}

func (c *Consume) Run(ctx context.Context, s *IO) error {
	format, err := c.formatter()
	if err != nil {
		return err
	}
	if c.Group != "" && len(c.Partitions) > 0 {
		return errors.New("--group and --partition exclude each other: the group assigns partitions")
	}
	// One client asks for the offsets, another consumes from them.
	admin, err := c.Client(ctx, s)
	if err != nil {
		return err
	}
	defer admin.Close()
	topics, err := c.topic(ctx, s, admin)
	if err != nil {
		if c.Follow && errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	}
	if len(c.Partitions) > 0 {
		for _, p := range c.Partitions {
			if int(p) >= len(topics[c.Topic]) || p < 0 {
				return fmt.Errorf("topic %s has no partition %d", c.Topic, p)
			}
		}
		topics[c.Topic] = c.Partitions
	}
	place, err := c.From.in(ctx, admin, topics, time.Now())
	if err != nil {
		return err
	}
	from := place.offsets
	ends, err := listOffsets(ctx, admin, topics, latestOffset)
	if err != nil {
		return err
	}
	if c.Group != "" {
		committed, err := committedOffsets(ctx, admin, c.Group)
		if err != nil {
			return err
		}
		for p, o := range committed[c.Topic] {
			from.set(c.Topic, p, o)
		}
	}
	// left is what is still to be read.
	left := map[int32]int64{}
	start := map[int32]kgo.Offset{}
	for p, o := range from[c.Topic] {
		start[p] = kgo.NewOffset().At(o)
		if o < ends[c.Topic][p] {
			left[p] = ends[c.Topic][p]
		}
	}
	if len(left) == 0 && !c.Follow {
		return nil
	}
	opts := []kgo.Opt{kgo.KeepControlRecords(), kgo.FetchMaxWait(500 * time.Millisecond)}
	if !c.Dirty {
		opts = append(opts, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	if c.Group == "" {
		opts = append(opts, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{c.Topic: start}))
	} else {
		opts = append(opts, kgo.ConsumerGroup(c.Group), kgo.ConsumeTopics(c.Topic), kgo.DisableAutoCommit(),
			kgo.AdjustFetchOffsetsFn(func(_ context.Context, m map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
				for p, o := range m[c.Topic] {
					if at, ok := start[p]; ok && o.EpochOffset().Offset < 0 {
						m[c.Topic][p] = at
					}
				}
				return m, nil
			}))
	}
	cl, err := c.Client(ctx, s, opts...)
	if err != nil {
		return err
	}
	defer cl.Close()
	err = c.consume(ctx, s, cl, format, ends[c.Topic], left)
	if errors.Is(err, context.Canceled) {
		return nil // Ctrl-C is how a follower ends
	}
	return err
}

// topic is the topic's partitions. A follower waits for a topic that does not exist.
func (c *Consume) topic(ctx context.Context, s *IO, cl *kgo.Client) (map[string][]int32, error) {
	if !c.Follow {
		return topicPartitions(ctx, cl, []string{c.Topic})
	}
	return awaitTopic(ctx, cl, c.Topic, func() {
		fmt.Fprintf(s.Err, "topic %s does not exist; waiting for it\n", c.Topic)
		if c.From.kind == atLatest {
			c.From.kind = atEarliest // all that it will have is new
		}
	})
}

func (c *Consume) consume(ctx context.Context, s *IO, cl *kgo.Client, format func([]byte, *kgo.Record) []byte, ends, left map[int32]int64) error {
	out := bufio.NewWriterSize(s.Out, 1<<16)
	var buf []byte
	shown := int64(0)
	lastProgress := time.Now()
	for {
		poll, cancel := context.WithTimeout(ctx, time.Second)
		fetches := cl.PollRecords(poll, 10_000)
		cancel()
		for _, e := range fetches.Errors() {
			if ctx.Err() == nil && !errors.Is(e.Err, context.DeadlineExceeded) {
				return fmt.Errorf("topic %s partition %d: %w", e.Topic, e.Partition, e.Err)
			}
		}
		var read []*kgo.Record
		for it := fetches.RecordIter(); !it.Done(); {
			r := it.Next()
			if !c.Follow && r.Offset >= ends[r.Partition] {
				continue // came after we began
			}
			if r.Offset+1 >= ends[r.Partition] {
				delete(left, r.Partition)
			}
			read = append(read, r)
			if r.Attrs.IsControl() {
				continue
			}
			buf = format(buf[:0], r)
			if _, err := out.Write(buf); err != nil {
				return err
			}
			if shown++; shown == c.Count {
				break
			}
		}
		if err := out.Flush(); err != nil {
			return err
		}
		// Commit what was shown, even when interrupted by now: it has been handed on.
		if c.Group != "" && len(read) > 0 {
			commit, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectTimeout)
			err := cl.CommitRecords(commit, read...)
			cancel()
			if err != nil {
				return fmt.Errorf("commit: %w", err)
			}
		}
		if len(read) > 0 {
			lastProgress = time.Now()
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case c.Count > 0 && shown >= c.Count:
			return nil
		case c.Follow:
		case len(left) == 0 || time.Since(lastProgress) > idleTimeout:
			return nil
		}
	}
}

// trimBOM drops the byte order mark that some programs put before UTF-8.
func trimBOM(b []byte) []byte { return bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")) }
