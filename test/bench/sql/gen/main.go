// Command gen makes the events that the SQL benchmark asks about, the same for every
// engine: as NDJSON files and, over Kafka, as topics. The same seed gives the same events.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func main() {
	events := flag.Int("events", 10_000_000, "clicks")
	posts := flag.Int("posts", 2_000_000, "events of the social network")
	dir := flag.String("dir", "", "write NDJSON files here; none: do not")
	kafka := flag.String("kafka", "", "produce to this broker; none: do not")
	seed := flag.Uint64("seed", 1, "")
	flag.Parse()
	if err := run(*events, *posts, *dir, *kafka, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(events, posts int, dir, kafka string, seed uint64) error {
	sets := []struct {
		topic      string
		count      int
		partitions int32
		next       func(dst []byte) []byte
	}{
		{"clicks", events, 4, newClicks(seed)},
		{"campaigns", campaigns, 1, newCampaigns()},
		{"bluesky", posts, 4, newPosts(seed + 1)},
	}
	for _, s := range sets {
		began := time.Now()
		var sinks []sink
		if dir != "" {
			f, err := newFile(filepath.Join(dir, s.topic+".ndjson"))
			if err != nil {
				return err
			}
			sinks = append(sinks, f)
		}
		if kafka != "" {
			k, err := newTopic(kafka, s.topic, s.partitions)
			if err != nil {
				return err
			}
			sinks = append(sinks, k)
		}
		var bytes int64
		buf := make([]byte, 0, 1024)
		for range s.count {
			buf = s.next(buf[:0])
			bytes += int64(len(buf))
			for _, k := range sinks {
				if err := k.put(buf); err != nil {
					return err
				}
			}
		}
		for _, k := range sinks {
			if err := k.close(); err != nil {
				return err
			}
		}
		took := time.Since(began).Seconds()
		fmt.Printf("%s: %d events, %.0f MB, %.0f MB/s\n", s.topic, s.count, float64(bytes)/1e6, float64(bytes)/1e6/took)
	}
	return nil
}

// sink takes events.
type sink interface {
	put(event []byte) error
	close() error
}

type file struct {
	f *os.File
	w *bufio.Writer
}

func newFile(path string) (*file, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &file{f, bufio.NewWriterSize(f, 1<<20)}, nil
}

func (f *file) put(event []byte) error {
	f.w.Write(event)
	return f.w.WriteByte('\n')
}

func (f *file) close() error {
	if err := f.w.Flush(); err != nil {
		return err
	}
	return f.f.Close()
}

// topic produces with a client's defaults but for larger batches; records have no key.
type topic struct {
	cl     *kgo.Client
	failed chan error
	slab   []byte
}

func newTopic(broker, name string, partitions int32) (*topic, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.DefaultProduceTopic(name), kgo.MaxBufferedRecords(200_000),
		kgo.ProducerBatchMaxBytes(1_000_000), kgo.ProducerLinger(5*time.Millisecond))
	if err != nil {
		return nil, err
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, partitions, 1
	req.Topics = append(req.Topics, t)
	r, err := req.RequestWith(context.Background(), cl)
	if err != nil {
		return nil, err
	}
	if code := r.Topics[0].ErrorCode; code != 0 {
		return nil, fmt.Errorf("create %s: error %d", name, code)
	}
	return &topic{cl: cl, failed: make(chan error, 1)}, nil
}

func (t *topic) put(event []byte) error {
	select {
	case err := <-t.failed:
		return err
	default:
	}
	if cap(t.slab)-len(t.slab) < len(event) {
		t.slab = make([]byte, 0, 1<<20) // records are cut from slabs
	}
	at := len(t.slab)
	t.slab = append(t.slab, event...)
	t.cl.Produce(context.Background(), &kgo.Record{Value: t.slab[at:len(t.slab):len(t.slab)]}, func(_ *kgo.Record, err error) {
		if err != nil {
			select {
			case t.failed <- err:
			default:
			}
		}
	})
	return nil
}

func (t *topic) close() error {
	err := t.cl.Flush(context.Background())
	t.cl.Close()
	select {
	case err = <-t.failed:
	default:
	}
	return err
}
