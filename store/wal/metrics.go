package wal

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics count even when nobody registered them.
type metrics struct {
	appended  prometheus.Counter
	bytes     prometheus.Counter
	groups    prometheus.Counter
	syncs     prometheus.Histogram
	failures  prometheus.Counter
	recycled  prometheus.Counter
	filled    prometheus.Counter
	fileCount prometheus.Gauge
}

func newMetrics(r prometheus.Registerer) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return register(r, prometheus.NewCounter(prometheus.CounterOpts{Namespace: "millrace", Subsystem: "wal", Name: name, Help: help}))
	}
	return &metrics{
		appended: counter("entries_total", "Entries that became durable."),
		bytes:    counter("written_bytes_total", "Bytes written to log files."),
		groups:   counter("writes_total", "Writes to log files; each carries all entries that were waiting."),
		syncs: register(r, prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "millrace", Subsystem: "wal", Name: "sync_seconds", Help: "Duration of log file syncs.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 16),
		})),
		failures: counter("failures_total", "Times the log stopped taking entries because a write or sync failed."),
		recycled: counter("recycled_files_total", "Log files taken from the pool of old ones."),
		filled:   counter("filled_files_total", "Log files made and filled with zeroes."),
		fileCount: register(r, prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "millrace", Subsystem: "wal", Name: "files", Help: "Log files in use.",
		})),
	}
}

// register returns the collector that r knows under the name: a log that is
// closed and opened again goes on with its counters.
func register[C prometheus.Collector](r prometheus.Registerer, c C) C {
	if r == nil {
		return c
	}
	if err := r.Register(c); err != nil {
		if are := (prometheus.AlreadyRegisteredError{}); errors.As(err, &are) {
			if old, ok := are.ExistingCollector.(C); ok {
				return old
			}
		}
	}
	return c
}
