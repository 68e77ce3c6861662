// Command bench compares Millrace with Apache Kafka on the same machine, with the
// same client program (franz-go) and in one run, and prints a Markdown table with
// ratios. Kafka runs from its Maven jars, once with its defaults (no sync before
// the acknowledgement) and once with flush.messages=1 (a sync for each).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

type settings struct {
	millrace, jars string
	dir            string
	seconds        time.Duration
	rate           int
	only           string
	steps          string
	limits         string
	gigabytes      int64
	memory         bool
	expansion      bool
	results        bool
	stock          string
}

// result is one broker's figures.
type result struct {
	start                  time.Duration // exec to first Metadata answer, empty directory
	produce1K, produce100  throughput
	consume1K              throughput
	latency                latency                  // at the offered rate
	rssPeak, rssAfterStart int64                    // bytes
	cpu                    map[string]time.Duration // the broker's, per step
	written                int64                    // payload bytes produced in all
}

func main() {
	var s settings
	flag.StringVar(&s.millrace, "millrace", "bin/millrace", "our binary")
	flag.StringVar(&s.jars, "jars", ".cache/interop/jars", "directory of Kafka's jars")
	flag.StringVar(&s.dir, "dir", "", "scratch directory (default: a temporary one)")
	flag.DurationVar(&s.seconds, "time", 20*time.Second, "length of each throughput phase")
	flag.IntVar(&s.rate, "rate", 5000, "records a second offered for the latency phase")
	flag.StringVar(&s.only, "only", "", "run just this broker: millrace, kafka or kafka-flush")
	flag.StringVar(&s.steps, "steps", "", "run just the steps whose names contain this, such as \"100 B\"")
	flag.StringVar(&s.limits, "limits", "", "measure Millrace's limits instead: partitions, connections, groups, tables or all")
	flag.Int64Var(&s.gigabytes, "gb", 10, "what the limits write before kill −9")
	flag.BoolVar(&s.memory, "memory", false, "have statements run beyond their memory instead, beside a producer")
	flag.BoolVar(&s.expansion, "expansion", false, "offer JSON with the expansion of columns off and on instead, each for -time")
	flag.BoolVar(&s.results, "results", false, "have MySQL clients read a whole topic instead")
	flag.StringVar(&s.stock, "stock", "", "the stock engine's server, built of test/bench/stock, for -results to compare with")
	flag.Parse()
	if err := run(context.Background(), s); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings) error {
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "millrace-bench")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		s.dir = dir
	}
	if s.results {
		return runResults(ctx, s)
	}
	if s.expansion {
		return runExpansion(ctx, s)
	}
	if s.memory {
		return runMemory(ctx, s)
	}
	if s.limits != "" {
		return runLimits(ctx, s)
	}
	brokers := []broker{
		millraceBroker(s.millrace),
		kafkaBroker("Kafka, its defaults", "kafka", s.jars, nil),
		kafkaBroker("Kafka, flush.messages=1", "kafka-flush", s.jars, []string{"log.flush.interval.messages=1"}),
	}
	var names []string
	var results []result
	for _, b := range brokers {
		if s.only != "" && s.only != b.id {
			continue
		}
		r, err := measure(ctx, s, b)
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		names, results = append(names, b.name), append(results, r)
	}
	printTable(names, results, s)
	return nil
}

func measure(ctx context.Context, s settings, b broker) (result, error) {
	dir := filepath.Join(s.dir, b.id)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return result{}, err
	}
	defer os.RemoveAll(dir)
	var r result
	p, err := b.startIn(ctx, dir)
	if err != nil {
		return r, err
	}
	defer p.stop()
	r.start, r.rssAfterStart = p.ready, p.rss("VmRSS")
	progress("%s: started in %v", b.name, r.start.Round(time.Millisecond))

	steps := []struct {
		what string
		do   func() error
	}{
		{"warm-up", func() error { _, err := produce(ctx, p.address, "warm", 1024, 3*time.Second); return err }},
		{"produce 1 KB", func() (err error) { r.produce1K, err = produce(ctx, p.address, "bench1k", 1024, s.seconds); return }},
		{"consume 1 KB", func() (err error) { r.consume1K, err = consume(ctx, p.address, "bench1k", r.produce1K.records); return }},
		{"produce 100 B", func() (err error) { r.produce100, err = produce(ctx, p.address, "bench100", 100, s.seconds); return }},
		{"latency", func() (err error) { r.latency, err = endToEnd(ctx, p.address, "lat", 1024, s.rate, s.seconds); return }},
	}
	r.cpu = map[string]time.Duration{}
	for _, st := range steps {
		if !strings.Contains(st.what, s.steps) {
			continue
		}
		before := p.cpu()
		if err := st.do(); err != nil {
			return r, fmt.Errorf("%s: %w", st.what, err)
		}
		r.cpu[st.what] = p.cpu() - before
		progress("%s: %s done", b.name, st.what)
	}
	r.rssPeak = p.rss("VmHWM")
	r.written = r.produce1K.bytes + r.produce100.bytes
	return r, nil
}

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func printTable(names []string, rs []result, s settings) {
	rows := []struct {
		what   string
		value  func(r result) float64
		format string
	}{
		{"produce 1 KB, MB/s", func(r result) float64 { return r.produce1K.megabytes() }, "%.0f"},
		{"produce 100 B, MB/s", func(r result) float64 { return r.produce100.megabytes() }, "%.1f"},
		{"produce 100 B, thousand records/s", func(r result) float64 { return r.produce100.perSecond() / 1000 }, "%.0f"},
		{"catch-up consume 1 KB, MB/s", func(r result) float64 { return r.consume1K.megabytes() }, "%.0f"},
		{fmt.Sprintf("produce ack p50 at %d records/s, ms", s.rate), func(r result) float64 { return ms(r.latency.ack50) }, "%.2f"},
		{fmt.Sprintf("produce ack p99 at %d records/s, ms", s.rate), func(r result) float64 { return ms(r.latency.ack99) }, "%.2f"},
		{fmt.Sprintf("end-to-end p50 at %d records/s, ms", s.rate), func(r result) float64 { return ms(r.latency.p50) }, "%.2f"},
		{fmt.Sprintf("end-to-end p99 at %d records/s, ms", s.rate), func(r result) float64 { return ms(r.latency.p99) }, "%.2f"},
		{"broker CPU, s per GB produced in 1 KB records", func(r result) float64 { return perGigabyte(r.cpu["produce 1 KB"], r.produce1K) }, "%.2f"},
		{"broker CPU, s per GB produced in 100 B records", func(r result) float64 { return perGigabyte(r.cpu["produce 100 B"], r.produce100) }, "%.2f"},
		{"broker CPU, s per GB consumed", func(r result) float64 { return perGigabyte(r.cpu["consume 1 KB"], r.consume1K) }, "%.2f"},
		{"RSS after start, MiB", func(r result) float64 { return float64(r.rssAfterStart) / (1 << 20) }, "%.0f"},
		{"RSS peak, MiB", func(r result) float64 { return float64(r.rssPeak) / (1 << 20) }, "%.0f"},
		{"cold start, s", func(r result) float64 { return r.start.Seconds() }, "%.3f"},
		{"produced in all, GB", func(r result) float64 { return float64(r.written) / 1e9 }, "%.1f"},
	}
	fmt.Printf("| | %s |", strings.Join(names, " | "))
	for _, n := range names[1:] {
		fmt.Printf(" %s ÷ %s |", names[0], n)
	}
	fmt.Printf("\n|---|%s\n", strings.Repeat("---:|", 2*len(names)-1))
	for _, row := range rows {
		fmt.Printf("| %s |", row.what)
		for _, r := range rs {
			fmt.Printf(" "+row.format+" |", row.value(r))
		}
		for _, r := range rs[1:] {
			fmt.Printf(" %.2f |", row.value(rs[0])/row.value(r))
		}
		fmt.Println()
	}
}

func perGigabyte(cpu time.Duration, t throughput) float64 {
	return cpu.Seconds() / (float64(t.bytes) / 1e9)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
