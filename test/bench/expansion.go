package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// expansionRate is what is offered: 150 MB/s of JSON objects of 1,000 bytes.
const (
	expansionRate = 150_000
	expansionSize = 1000
	// expansionKeeps is what a partition keeps, so that a run of any length fits the disk: three quarters of a minute of the load.
	expansionKeeps = 1200 << 20
)

// expansion is what one run of the same load told.
type expansion struct {
	acks             []time.Duration
	cpu              time.Duration
	offered          time.Duration
	names            []float64 // seconds that inference is behind, sampled
	behind           []float64 // rows of full blocks that are in no file
	caughtUp         time.Duration
	behindAtTheEnd   float64
	rss              int64
	counted, columns time.Duration // COUNT(*) and the first query of a column, right behind the last ack
	sealed           float64       // rows in files in the end
}

// runExpansion offers JSON with column expansion off and on, and says what that does to producers and how far the
// background work is behind.
func runExpansion(ctx context.Context, s settings) error {
	modes := []string{"off", "auto"}
	runs := make([]expansion, len(modes))
	for i, mode := range modes {
		var err error
		if runs[i], err = expand(ctx, s, mode); err != nil {
			return fmt.Errorf("millrace.expand=%s: %w", mode, err)
		}
		progress("millrace.expand=%s done", mode)
	}
	off, auto := &runs[0], &runs[1]
	fmt.Printf("| %v of %d MB/s of %d-byte JSON | off | auto | auto ÷ off |\n|---|---:|---:|---:|\n",
		s.seconds, expansionRate*expansionSize/1_000_000, expansionSize)
	row := func(what string, value func(e *expansion) float64) {
		fmt.Printf("| %s | %.2f | %.2f | %.2f |\n", what, value(off), value(auto), value(auto)/value(off))
	}
	row("ack p50, ms", func(e *expansion) float64 { return ms(percentile(e.acks, 50)) })
	row("ack p90, ms", func(e *expansion) float64 { return ms(percentile(e.acks, 90)) })
	row("ack p99, ms", func(e *expansion) float64 { return ms(percentile(e.acks, 99)) })
	row("server CPU while offered, cores", func(e *expansion) float64 { return e.cpu.Seconds() / e.offered.Seconds() })
	row("offered in, s", func(e *expansion) float64 { return e.offered.Seconds() })
	row("RSS at most, MiB", func(e *expansion) float64 { return mib(e.rss) })
	only := func(what string, format string, args ...any) {
		fmt.Printf("| %s | | "+format+" | |\n", append([]any{what}, args...)...)
	}
	only("names and types behind, p50 / most, s", "%.2f / %.2f", median(auto.names), slices.Max(auto.names))
	only("full blocks in no file, p50 / most, million rows", "%.2f / %.2f", median(auto.behind)/1e6, slices.Max(auto.behind)/1e6)
	only("rows in files at the end of the load, of all, million", "%.2f / %.2f", auto.sealed/1e6, float64(len(auto.acks)*frameRecords)/1e6)
	if auto.caughtUp > 0 {
		only("catch-up afterwards, s", "%.1f", auto.caughtUp.Seconds())
		only("catch-up, MB/s of JSON", "%.0f", auto.behindAtTheEnd*expansionSize/1e6/auto.caughtUp.Seconds())
	}
	only("COUNT(*) right after the last ack, ms", "%.1f", ms(auto.counted))
	only("SUM of a column then, all rows, s", "%.2f", auto.columns.Seconds())
	return nil
}

func expand(ctx context.Context, s settings, mode string) (e expansion, err error) {
	dir := filepath.Join(s.dir, "expand-"+mode)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return e, err
	}
	defer os.RemoveAll(dir)
	p, err := millraceBroker(s.millrace, "--retention-every", "5s").startIn(ctx, dir)
	if err != nil {
		return e, err
	}
	defer p.stop()
	cl, err := kgo.NewClient(kgo.SeedBrokers(p.address))
	if err != nil {
		return e, err
	}
	defer cl.Close()
	if err := createExpanded(ctx, cl, "clicks", mode); err != nil {
		return e, err
	}
	values := frames("clicks", clicks(6*64*40))
	if _, err := offerFrames(p.address, values, 3*time.Second); err != nil { // the log's files grow first
		return e, err
	}

	watch, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() {
		for watch.Err() == nil {
			m, err := p.metrics(watch)
			if err == nil {
				e.names = append(e.names, m["millrace_catalog_lag_seconds"])
				e.behind = append(e.behind, m["millrace_sealer_lag_rows"])
			}
			select {
			case <-watch.Done():
			case <-time.After(250 * time.Millisecond):
			}
		}
	})
	before, began := p.cpu(), time.Now()
	e.acks, err = offerFrames(p.address, values, s.seconds)
	e.offered, e.cpu = time.Since(began), p.cpu()-before
	stop()
	wg.Wait()
	if err != nil || mode == "off" {
		e.rss = p.rss("VmHWM")
		return e, err
	}
	began = time.Now()
	if _, err := readAll(ctx, p.mysql, "SELECT COUNT(*) FROM clicks"); err != nil {
		return e, err
	}
	e.counted = time.Since(began)
	m, err := p.metrics(ctx)
	if err != nil {
		return e, err
	}
	e.behindAtTheEnd, e.sealed = m["millrace_sealer_lag_rows"], m["millrace_sealer_rows_total"]
	began = time.Now()
	for lag := e.behindAtTheEnd; lag > 0 && time.Since(began) < 2*time.Minute; {
		time.Sleep(100 * time.Millisecond)
		if m, err = p.metrics(ctx); err != nil {
			return e, err
		}
		lag = m["millrace_sealer_lag_rows"]
		e.caughtUp = time.Since(began)
	}
	began = time.Now()
	if _, err := readAll(ctx, p.mysql, "SELECT SUM(price), COUNT(DISTINCT country) FROM clicks"); err != nil {
		return e, err
	}
	e.columns = time.Since(began)
	e.rss = p.rss("VmHWM")
	return e, nil
}

// frameRecords so many values go into a batch, and a request.
const frameRecords = 64

// frames are produce requests of a batch each, ready to be sent, by partition. A client library would take more of the processors than
// the server does, and what is measured is the server.
func frames(topic string, values [][]byte) [partitions][][]byte {
	var out [partitions][][]byte
	for i := 0; i+frameRecords <= len(values); i += frameRecords {
		var records []byte
		for n, v := range values[i : i+frameRecords] {
			r := append([]byte{0, 0}, binary.AppendVarint(nil, int64(n))...) // attributes, time
			r = append(r, 1)                                                 // no key
			r = append(binary.AppendVarint(r, int64(len(v))), v...)
			r = append(r, 0) // headers
			records = append(binary.AppendVarint(records, int64(len(r))), r...)
		}
		now := time.Now().UnixMilli()
		b := kmsg.RecordBatch{
			PartitionLeaderEpoch: -1, Magic: 2, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
			NumRecords: frameRecords, LastOffsetDelta: frameRecords - 1, FirstTimestamp: now, MaxTimestamp: now,
			Records: records, Length: int32(49 + len(records)),
		}
		raw := b.AppendTo(nil)
		binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))

		p := i / frameRecords % partitions
		req := kmsg.NewPtrProduceRequest()
		req.Version, req.Acks, req.TimeoutMillis = 9, -1, 30_000
		t := kmsg.NewProduceRequestTopic()
		part := kmsg.NewProduceRequestTopicPartition()
		t.Topic, part.Partition, part.Records = topic, int32(p), raw
		t.Partitions = append(t.Partitions, part)
		req.Topics = append(req.Topics, t)
		out[p] = append(out[p], kmsg.NewRequestFormatter().AppendRequest(nil, req, 1))
	}
	return out
}

// offerFrames sends each partition's frames in turn over a connection of its own, at the rate of the benchmark and whether or not
// others were answered yet, and returns how long after it was due each was acknowledged.
func offerFrames(address string, all [partitions][][]byte, d time.Duration) ([]time.Duration, error) {
	began := time.Now()
	var acks [partitions][]time.Duration
	var errs [2 * partitions]error
	var wg sync.WaitGroup
	const every = time.Second * partitions * frameRecords / expansionRate
	for p, frames := range all {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		due := func(i int) time.Time {
			return began.Add(time.Duration(i)*every + time.Duration(p)*every/partitions)
		}
		total := int(d / every)
		wg.Go(func() {
			for i := range total {
				if wait := time.Until(due(i)); wait > 0 {
					time.Sleep(wait)
				}
				if _, err := c.Write(frames[i%len(frames)]); err != nil {
					errs[p] = err
					return
				}
			}
		})
		wg.Go(func() {
			in := bufio.NewReaderSize(c, 64<<10)
			for i := range total {
				if err := acknowledged(in); err != nil {
					errs[partitions+p] = err
					return
				}
				acks[p] = append(acks[p], time.Since(due(i)))
			}
		})
	}
	wg.Wait()
	return slices.Concat(acks[:]...), errors.Join(errs[:]...)
}

// acknowledged reads one answer to a produce request of version 9.
func acknowledged(in *bufio.Reader) error {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return err
	}
	body := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(in, body); err != nil {
		return err
	}
	if len(body) < 5 {
		return io.ErrUnexpectedEOF
	}
	r := kmsg.NewPtrProduceResponse()
	r.Version = 9
	if err := r.ReadFrom(body[5:]); err != nil { // behind the correlation id and no tags
		return err
	}
	if code := r.Topics[0].Partitions[0].ErrorCode; code != 0 {
		return fmt.Errorf("produce: error %d", code)
	}
	return nil
}

// clicks makes n JSON objects like those of a web shop's click stream, each of expansionSize bytes.
func clicks(n int) [][]byte {
	r := rand.New(rand.NewPCG(3, 4))
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	words := strings.Fields("the quick brown fox jumps over a lazy dog while seven wizards box with judges and quartz vexes nymphs")
	values := make([][]byte, n)
	for i := range values {
		b := fmt.Appendf(nil, `{"event_id":"%016x%016x","ts":%d,"user_id":%d,"session":"%016x","kind":%q,"country":%q,"device":%q,"browser":%q,`+
			`"url":"https://shop.example/%s/%s/%d","price":%d.%02d,"quantity":%d,"discount":%v,"score":%.6f,"referrer":%q,"ip":"10.%d.%d.%d",`+
			`"width":%d,"height":%d,"ab":{"test":%q,"arm":%d},"tags":["%s","%s"],"text":"`,
			r.Uint64(), r.Uint64(), 1_764_500_000_000+int64(i)*7, r.IntN(300_000), r.Uint64(), pick("view", "click", "cart", "buy", "search"),
			pick("DE", "US", "FR", "GB", "JP", "BR", "IN", "NG"), pick("phone", "desktop", "tablet"), pick("firefox", "chrome", "safari", "edge"),
			pick(words...), pick(words...), r.IntN(100_000), r.IntN(500), r.IntN(100), 1+r.IntN(5), r.IntN(2) == 0, r.Float64(), pick("", "mail", "ads", "search"),
			r.IntN(256), r.IntN(256), r.IntN(256), 320+r.IntN(2000), 480+r.IntN(1500), pick("a", "b", "c"), r.IntN(2), pick(words...), pick(words...))
		for len(b) < expansionSize-2 {
			b = append(append(b, pick(words...)...), ' ')
		}
		values[i] = append(b[:expansionSize-2], `"}`...)
	}
	return values
}

func createExpanded(ctx context.Context, cl *kgo.Client, topic, mode string) error {
	req := kmsg.NewPtrCreateTopicsRequest()
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = topic, partitions, 1
	for name, value := range map[string]string{"millrace.expand": mode, "retention.bytes": strconv.Itoa(expansionKeeps)} {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = name, kmsg.StringPtr(value)
		t.Configs = append(t.Configs, c)
	}
	req.Topics = append(req.Topics, t)
	r, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	if code := r.Topics[0].ErrorCode; code != 0 {
		return fmt.Errorf("create %s: error %d", topic, code)
	}
	return nil
}

// metrics are Millrace's, without those that have labels.
func (p *process) metrics(ctx context.Context) (map[string]float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.http+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	out := map[string]float64{}
	for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), " "); ok && !strings.ContainsAny(name, "#{") {
			if f, err := strconv.ParseFloat(value, 64); err == nil {
				out[name] = f
			}
		}
	}
	return out, nil
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	if len(s) == 0 {
		return 0
	}
	return s[len(s)/2]
}
