package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// maxLineBytes bounds one record read from a file or standard input.
const maxLineBytes = 100 << 20

// ProducerFlags are how records are sent.
type ProducerFlags struct {
	Acks  string `help:"Whose word to wait for: ${enum}." enum:"all,1,0" default:"all" placeholder:"ACKS"`
	Codec string `short:"z" help:"Compression: ${enum}." enum:"none,gzip,snappy,lz4,zstd" default:"none" placeholder:"CODEC"`
}

func (p *ProducerFlags) options() []kgo.Opt {
	opts := []kgo.Opt{
		kgo.ProducerBatchCompression(map[string]kgo.CompressionCodec{
			"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
			"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
		}[p.Codec]),
		kgo.MaxBufferedBytes(64 << 20),
		kgo.UnknownTopicRetries(2),
	}
	switch p.Acks {
	case "1":
		opts = append(opts, kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite())
	case "0":
		opts = append(opts, kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite())
	}
	return opts
}

// Produce is `millrace produce`.
type Produce struct {
	Topic     string   `arg:"" help:"Topic to produce to."`
	Format    string   `short:"f" help:"What a line of standard input is: ${enum}. value: the value; key-value: key, separator, value; json: what 'consume --format json' prints." enum:"value,key-value,json" default:"value" placeholder:"FORMAT"`
	Separator string   `short:"s" help:"Between key and value." default:":" placeholder:"TEXT"`
	Key       *string  `short:"k" help:"Key of every record." placeholder:"KEY"`
	Headers   []string `name:"header" short:"H" help:"Header of every record; may be given several times." sep:"none" placeholder:"NAME=VALUE"`
	Partition int32    `short:"p" help:"Partition for every record; -1: by key, as the Java client does." default:"-1" placeholder:"N"`
	EmptyNull bool     `help:"An empty value is null: a tombstone."`
	ProducerFlags
	Kafka
}

func (*Produce) Help() string {
	return `Reads records from standard input, one a line, until its end.

Examples:
  echo '{"order":1,"amount":12.50}' | millrace produce orders --key customer-1 --header source=web
  millrace produce orders --format key-value < lines.txt
  millrace consume orders --format json | millrace produce copy --format json`
}

func (c *Produce) Run(ctx context.Context, s *IO) error {
	parse, err := c.parser()
	if err != nil {
		return err
	}
	opts := append(c.options(), kgo.AllowAutoTopicCreation(), kgo.DefaultProduceTopic(c.Topic), kgo.RecordPartitioner(pinnedPartitioner()))
	out, err := c.newSink(ctx, s, opts...)
	if err != nil {
		return err
	}
	if s.InTerminal {
		fmt.Fprintln(s.Err, "One record a line; Ctrl-D ends.")
	}
	err = eachLine(ctx, s.In, func(n int64, line []byte) error {
		r, err := parse(line)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		return out.send(r)
	})
	if cerr := out.close(); cerr != nil {
		err = cerr // it may know by now which record it is
	}
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		err = fmt.Errorf("topic %s does not exist, and the server creates none by itself (auto-create is off): `millrace topic create %s` does (%w)", c.Topic, c.Topic, err)
	}
	if err == nil && s.ErrWidth > 0 {
		fmt.Fprintf(s.Err, "%s produced\n", plural(out.sent(), "record"))
	}
	return err
}

// parser makes a record of a line; the record owns its memory.
func (c *Produce) parser() (func(line []byte) (*kgo.Record, error), error) {
	var headers []kgo.RecordHeader
	for _, h := range c.Headers {
		k, v, ok := strings.Cut(h, "=")
		if !ok {
			return nil, fmt.Errorf("--header %q: NAME=VALUE is needed", h)
		}
		headers = append(headers, kgo.RecordHeader{Key: k, Value: []byte(v)})
	}
	if c.Format == "key-value" && (c.Separator == "" || c.Key != nil) {
		return nil, errors.New("--format key-value needs a --separator and no --key")
	}
	return func(line []byte) (*kgo.Record, error) {
		r := &kgo.Record{Partition: -1}
		switch c.Format {
		case "json":
			var err error
			if r, err = parseRecordJSON(line); err != nil {
				return nil, err
			}
		case "key-value":
			k, v, ok := bytes.Cut(line, []byte(c.Separator))
			if !ok {
				return nil, fmt.Errorf("no separator %q", c.Separator)
			}
			r.Key, r.Value = bytes.Clone(k), append([]byte{}, v...)
		default:
			r.Value = append([]byte{}, line...)
		}
		if c.EmptyNull && len(r.Value) == 0 {
			r.Value = nil
		}
		if c.Key != nil {
			r.Key = []byte(*c.Key)
		}
		if c.Partition >= 0 {
			r.Partition = c.Partition
		}
		r.Headers = append(r.Headers, headers...)
		return r, nil
	}, nil
}

// pinnedPartitioner obeys a record's Partition when it is not negative, and
// otherwise hashes keys as the Java client does and spreads keyless records.
func pinnedPartitioner() kgo.Partitioner {
	return kgo.BasicConsistentPartitioner(func(topic string) func(*kgo.Record, int) int {
		byKey := kgo.StickyKeyPartitioner(nil).ForTopic(topic)
		next := 0
		return func(r *kgo.Record, n int) int {
			switch {
			case r.Partition >= 0:
				return int(r.Partition)
			case r.Key != nil:
				return byKey.Partition(r, n)
			}
			// Blocks of records keep batches full.
			const block = 500
			next++
			return next / block % n
		}
	})
}

// eachLine calls fn with every line of r, without its end, numbered from 1. It ends at
// the end of r, at an error of fn, or when ctx is done. The line is valid during the call.
func eachLine(ctx context.Context, r io.Reader, fn func(n int64, line []byte) error) error {
	br := bufio.NewReaderSize(r, 1<<16)
	var long []byte
	for n := int64(1); ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		long = long[:0]
		line, err := br.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) {
			if long = append(long, line...); len(long) > maxLineBytes {
				return fmt.Errorf("line %d is longer than %d bytes", n, maxLineBytes)
			}
			line, err = br.ReadSlice('\n')
		}
		if len(long) > 0 {
			long = append(long, line...)
			line = long
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		atEnd := err != nil
		if atEnd && len(line) == 0 {
			return nil
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if err := fn(n, line); err != nil || atEnd {
			return err
		}
	}
}

// A batch of small records stays below what topics take unless told otherwise
// (max.message.bytes). A record that is larger by itself is sent alone, so that it is the
// broker who says whether the topic takes it.
const (
	batchBytes    = 1_000_012 // the clients' usual bound; the smallest batch that every default takes
	maxBatchBytes = 100 << 20 // no broker reads larger requests by default
)

// sink sends records in order and remembers the first failure.
type sink struct {
	ctx   context.Context
	cl    *kgo.Client
	open  func() (*kgo.Client, error)
	big   *kgo.Client // for records larger than batchBytes; nil until the first
	heard *refusals

	mu     sync.Mutex
	queued int64 // records
	done   int64
	err    error
	named  bool            // err is about the record that is at fault
	failed map[int32]int32 // records by partition
}

// newSink connects to produce with opts. Close it.
func (k *Kafka) newSink(ctx context.Context, s *IO, opts ...kgo.Opt) (*sink, error) {
	heard := &refusals{}
	cl, err := k.heardClient(ctx, s, heard, append(opts, kgo.ProducerBatchMaxBytes(batchBytes))...)
	if err != nil {
		return nil, err
	}
	return &sink{ctx: ctx, cl: cl, heard: heard, failed: map[int32]int32{}, open: func() (*kgo.Client, error) {
		return k.heardClient(ctx, s, heard, append(opts, kgo.ProducerBatchMaxBytes(maxBatchBytes), kgo.MaxBufferedBytes(2*maxBatchBytes))...)
	}}, nil
}

// next numbers a record.
func (k *sink) next() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.queued++
	return k.queued
}

// settle is told what became of a record, in the order of each partition's.
func (k *sink) settle(number int64, r *kgo.Record, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		k.done++
		return
	}
	n := k.failed[r.Partition]
	k.failed[r.Partition]++
	if k.named {
		return
	}
	// All records of a refused batch fail, and the first of them may be sound.
	err, named := k.heard.of(err, r.Partition, n)
	if named {
		k.named, k.err = true, recordError{number, err}
	} else if k.err == nil {
		k.err = err
	}
}

// fitsBatch says whether r can be part of a batch of batchBytes.
func fitsBatch(r *kgo.Record) bool {
	const batchHeader, recordHeader, headerHeader = 128, 64, 16 // upper bounds
	n := batchHeader + recordHeader + len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		n += headerHeader + len(h.Key) + len(h.Value)
	}
	return n <= batchBytes
}

// send queues r, waiting while too much is queued, and returns the first failure
// of any record so far.
func (k *sink) send(r *kgo.Record) error {
	if !fitsBatch(r) {
		return k.sendAlone(r)
	}
	number := k.next()
	k.cl.Produce(k.ctx, r, func(r *kgo.Record, err error) { k.settle(number, r, err) })
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

// sendAlone sends r behind all that was sent before and waits for it.
func (k *sink) sendAlone(r *kgo.Record) error {
	if err := k.flush(); err != nil {
		return err
	}
	if k.big == nil {
		var err error
		if k.big, err = k.open(); err != nil {
			return err
		}
	}
	k.settle(k.next(), r, k.big.ProduceSync(k.ctx, r).FirstErr())
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

// sent is the number of acknowledged records.
func (k *sink) sent() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.done
}

// flush waits for all records. What is queued is still sent after an interruption.
func (k *sink) flush() error {
	ferr := k.cl.Flush(context.WithoutCancel(k.ctx))
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err != nil {
		return k.err
	}
	return ferr
}

// close is flush and disconnects.
func (k *sink) close() error {
	err := k.flush()
	k.cl.Close()
	if k.big != nil {
		k.big.Close()
	}
	return err
}
