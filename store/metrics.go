package store

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics of the store; with a nil registry they are counted and not exported.
type metrics struct {
	appends       prometheus.Counter
	appendedBytes prometheus.Counter
	appendSeconds prometheus.Histogram
	fetchedBytes  prometheus.Counter
	logFailures   prometheus.Counter
	readErrors    prometheus.Counter
	sealSeconds   prometheus.Histogram
	sealedBytes   prometheus.Counter
	sealFailures  prometheus.Counter
	merges        prometheus.Counter
	checkpoints   prometheus.Counter
	retired       prometheus.Counter

	compactions     prometheus.Counter
	compactFailures prometheus.Counter
	compactSkipped  prometheus.Counter
	compactedIn     prometheus.Counter
	compactedOut    prometheus.Counter
	compactedAway   prometheus.Counter
	dirty           atomic.Int64 // bytes, at compaction's last look

	reg        prometheus.Registerer // nil: not exported
	collectors []prometheus.Collector
}

// unregister takes the metrics out of the registry, so that a store can be
// opened again in the same process.
func (m *metrics) unregister() {
	for _, c := range m.collectors {
		m.reg.Unregister(c)
	}
	m.collectors = nil
}

func (m *metrics) register(c prometheus.Collector) {
	if m.reg != nil {
		m.reg.MustRegister(c)
		m.collectors = append(m.collectors, c)
	}
}

func newMetrics(reg prometheus.Registerer, s *Store) *metrics {
	m := &metrics{reg: reg}
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Namespace: "millrace", Subsystem: "store", Name: name, Help: help})
		m.register(c)
		return c
	}
	histogram := func(name, help string, start float64, n int) prometheus.Histogram {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "millrace", Subsystem: "store", Name: name, Help: help,
			Buckets: prometheus.ExponentialBuckets(start, 2, n),
		})
		m.register(h)
		return h
	}
	gauge := func(name, help string, fn func() float64) {
		m.register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "millrace", Subsystem: "store", Name: name, Help: help}, fn))
	}
	gauge("published_lsn", "Log sequence number of the last published entry.", func() float64 { return float64(s.pubLSN()) })
	gauge("unsealed_bytes", "Bytes of the log that are not sealed into segments yet.", func() float64 { return float64(s.log.Size()) })
	gauge("inflight_bytes", "Payload bytes that are queued and not published.", func() float64 { return float64(s.budget.InUse()) })
	gauge("tail_bytes", "Recent payload kept in memory.", func() float64 { return float64(s.tail.size()) })
	gauge("segments", "Sealed segment files.", func() float64 { return float64(s.Stats().Segments) })
	gauge("segment_bytes", "Bytes of sealed segment files.", func() float64 { return float64(s.Stats().SegmentBytes) })
	gauge("healthy", "1 while the log takes appends.", func() float64 {
		if s.failed.Load() || s.noSpace.Load() {
			return 0
		}
		return 1
	})
	gauge("seal_lag_seconds", "Age of the oldest batch that is not in a segment.", func() float64 { return s.sealLag().Seconds() })
	m.appends = counter("appends_total", "Entries made durable and published.")
	m.appendedBytes = counter("appended_bytes_total", "Record batch bytes made durable and published.")
	m.appendSeconds = histogram("append_seconds", "From decision to publication.", 100e-6, 16)
	m.fetchedBytes = counter("fetched_bytes_total", "Record batch bytes handed out by Fetch.")
	m.logFailures = counter("log_failures_total", "Times the log stopped taking appends.")
	m.readErrors = counter("read_errors_total", "Stored batches that could not be read.")
	m.sealSeconds = histogram("seal_seconds", "Time to seal one log range.", 1e-3, 18)
	m.sealedBytes = counter("sealed_bytes_total", "Bytes written to segments by sealing.")
	m.sealFailures = counter("seal_failures_total", "Sealings and merges that failed and are tried again.")
	m.merges = counter("merges_total", "Segment merges.")
	m.checkpoints = counter("checkpoints_total", "Checkpoints saved.")
	gauge("compaction_dirty_bytes", "Sealed bytes of compacted topics that were not compacted yet, at the last look.", func() float64 { return float64(m.dirty.Load()) })
	m.compactions = counter("compactions_total", "Files of compacted partitions written.")
	m.compactFailures = counter("compaction_failures_total", "Compactions that failed and are tried again.")
	m.compactSkipped = counter("compaction_skipped_total", "Partitions that were not compacted because a copy of them had no room on the disk.")
	m.compactedIn = counter("compaction_read_bytes_total", "Record batch bytes that went into compaction.")
	m.compactedOut = counter("compaction_written_bytes_total", "Record batch bytes that were left of them.")
	m.compactedAway = counter("compaction_removed_records_total", "Records that compaction dropped.")
	m.retired = counter("retired_segments_total", "Segment files unlinked.")
	return m
}

// published counts a published run of slots. Latency is observed for the first
// one of a run: they were synced together, and the clock is read once.
func (m *metrics) published(batch []*slot, now func() time.Time) {
	n, bytes := 0, int64(0)
	var first *slot
	for _, sl := range batch {
		if sl.err == nil && sl.entry != nil {
			if first == nil {
				first = sl
			}
			n++
			for _, b := range sl.payload {
				bytes += int64(len(b))
			}
		}
	}
	if n == 0 {
		return
	}
	m.appends.Add(float64(n))
	m.appendedBytes.Add(float64(bytes))
	m.appendSeconds.Observe(now().Sub(first.start).Seconds())
}
