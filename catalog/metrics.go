package catalog

import "github.com/prometheus/client_golang/prometheus"

// metrics of column inference.
type metrics struct {
	inferredBytes  prometheus.Counter
	skippedBatches prometheus.Counter
	newColumns     prometheus.Counter
	widened        prometheus.Counter
	overflows      prometheus.Counter
	saves          prometheus.Counter
}

func newMetrics(r prometheus.Registerer, lag func() float64) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "millrace", Subsystem: "catalog", Name: name, Help: help})
	}
	m := &metrics{
		inferredBytes:  counter("inferred_bytes_total", "Bytes of record values read to infer columns."),
		skippedBatches: counter("skipped_batches_total", "Record batches left out of inference because they could not be read."),
		newColumns:     counter("new_columns_total", "Columns that inference added."),
		widened:        counter("widened_columns_total", "Types that inference widened."),
		overflows:      counter("overflowing_topics_total", "Topics that came to have members without a column, because of the limits of columns."),
		saves:          counter("saves_total", "Times that a topic's inferred columns were saved."),
	}
	if r != nil {
		r.MustRegister(m.inferredBytes, m.skippedBatches, m.newColumns, m.widened, m.overflows, m.saves)
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: "millrace", Subsystem: "catalog", Name: "lag_seconds",
			Help: "How long ago inference had seen all records there were, 0 if none came since. A statement sees to the rest itself.",
		}, lag))
	}
	return m
}
