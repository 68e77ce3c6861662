package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/twmb/franz-go/pkg/kgo"
)

// generator makes the i-th record (from 0) of a stream, as of time at. It draws
// everything from r, so equal seeds give equal streams.
type generator func(r *rand.Rand, i int64, at time.Time) (key, value []byte)

// generators are the streams of `millrace gen`, by name, which is also the default topic.
var generators = map[string]func(r *rand.Rand) generator{
	"orders":    newOrders,
	"pageviews": newPageviews,
	"clicks":    newClicks,
	"quakes":    newQuakes,
}

// Gen is `millrace gen`.
type Gen struct {
	What       string     `arg:"" help:"What to generate: ${enum}." enum:"orders,pageviews,clicks,quakes"`
	Topic      string     `short:"t" help:"Topic; the stream's name when not given. It is created if need be." placeholder:"TOPIC"`
	Partitions int32      `short:"p" help:"Partitions of the topic if it is created; -1 for the server's default." default:"-1" placeholder:"N"`
	Rate       float64    `short:"r" help:"Records a second; 0: as fast as they are taken." default:"10" placeholder:"N"`
	Count      int64      `short:"n" help:"Stop after N records; 0: go on until Ctrl-C." placeholder:"N"`
	Seed       uint64     `help:"Equal seeds give equal records (with an equal --start)." default:"1" placeholder:"N"`
	Start      *time.Time `help:"Time of the first record (2026-01-31T12:00:00Z); when not given, now, or with --rate 0 and a --count so long ago that the last one is of now. The following ones are 1/rate apart, or 10 ms at full speed." placeholder:"TIME"`
	Stdout     bool       `help:"Print the values instead of producing them."`
	ProducerFlags
	Kafka
}

func (*Gen) Help() string {
	return `Examples:
  millrace gen orders --rate 1000
  millrace gen clicks --count 1000000 --rate 0 --partitions 6 --codec lz4
  millrace gen quakes --count 5 --stdout`
}

// defaultStep is the time between records at full speed.
const defaultStep = 10 * time.Millisecond

// maxAge bounds how old the first record of a counted run at full speed is: the run must
// not begin where retention has begun to delete.
const maxAge = 24 * time.Hour

// clock is the time of each record. Without an explicit start no record is of the future,
// which topics refuse, and a counted run at full speed ends at about now.
func (c *Gen) clock(began time.Time) func(i int64) time.Time {
	start, step := began, defaultStep
	if c.Rate > 0 {
		step = time.Duration(float64(time.Second) / c.Rate)
	}
	switch {
	case c.Start != nil:
		start = *c.Start
	case c.Rate == 0 && c.Count > 0:
		step = min(step, maxAge/time.Duration(c.Count))
		start = began.Add(-time.Duration(c.Count) * step)
	}
	endless := c.Rate == 0 && c.Count == 0 && !start.After(began)
	return func(i int64) time.Time {
		at := start.Add(time.Duration(i) * step)
		if now := time.Now(); endless && at.After(now) {
			at = now
		}
		return at.Truncate(time.Millisecond)
	}
}

func (c *Gen) Run(ctx context.Context, s *IO) error {
	if c.Rate < 0 || c.Count < 0 {
		return errors.New("--rate and --count cannot be negative")
	}
	if c.Topic == "" {
		c.Topic = c.What
	}
	if c.Stdout {
		out := bufio.NewWriter(s.Out)
		err := c.generate(ctx, func(r *kgo.Record) error {
			_, _ = out.Write(r.Value) // bufio keeps the error
			if err := out.WriteByte('\n'); err != nil || c.Rate == 0 {
				return err
			}
			return out.Flush()
		})
		return errors.Join(err, out.Flush())
	}
	out, err := c.newSink(ctx, s, append(c.options(), kgo.DefaultProduceTopic(c.Topic))...)
	if err != nil {
		return err
	}
	if err := ensureTopic(ctx, out.cl, c.Topic, c.Partitions); err != nil {
		return errors.Join(err, out.close())
	}
	limit := c.Count
	if limit == 0 {
		limit = -1
	}
	bar := newProgress(s, limit, c.What+" → "+c.Topic, false)
	err = c.generate(ctx, func(r *kgo.Record) error {
		_ = bar.Add(1) // only drawing can fail
		return out.send(r)
	})
	if cerr := out.close(); cerr != nil {
		err = cerr
	}
	finishProgress(s, bar)
	if errors.Is(err, context.Canceled) {
		err = nil // Ctrl-C is how an endless stream ends
	}
	if err == nil {
		fmt.Fprintf(s.Err, "%s produced to %s\n", plural(out.sent(), "record"), c.Topic)
	}
	return err
}

// generate paces and emits the stream until Count, an error, or ctx is done (nil).
func (c *Gen) generate(ctx context.Context, emit func(*kgo.Record) error) error {
	rng := rand.New(rand.NewPCG(c.Seed, 0x6d696c6c72616365))
	gen := generators[c.What](rng)
	began := time.Now()
	clock := c.clock(began)
	// Sleeping for every record would cap the rate at the timer's resolution;
	// shorter waits are put together.
	const shortest = 5 * time.Millisecond
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i := int64(0); c.Count == 0 || i < c.Count; i++ {
		if c.Rate > 0 {
			if wait := time.Until(began.Add(time.Duration(float64(i) / c.Rate * float64(time.Second)))); wait >= shortest {
				timer.Reset(wait)
				select {
				case <-timer.C:
				case <-ctx.Done():
					return nil
				}
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		now := clock(i)
		key, value := gen(rng, i, now)
		if err := emit(&kgo.Record{Key: key, Value: value, Timestamp: now}); err != nil {
			return err
		}
	}
	return nil
}

// newProgress draws on a terminal and is mute elsewhere. limit -1: unknown.
func newProgress(s *IO, limit int64, what string, bytes bool) *progressbar.ProgressBar {
	opts := []progressbar.Option{
		progressbar.OptionSetWriter(s.Err),
		progressbar.OptionSetVisibility(s.ErrWidth > 0),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(bytes),
		progressbar.OptionUseIECUnits(true),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionSetWidth(max(10, min(40, s.ErrWidth-60))),
		progressbar.OptionSpinnerType(14),
	}
	if !bytes {
		opts = append(opts, progressbar.OptionShowIts(), progressbar.OptionSetItsString("records"))
	}
	return progressbar.NewOptions64(limit, opts...)
}

func finishProgress(s *IO, bar *progressbar.ProgressBar) {
	_ = bar.Exit()
	if s.ErrWidth > 0 {
		fmt.Fprintln(s.Err)
	}
}
