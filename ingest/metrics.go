package ingest

import "github.com/prometheus/client_golang/prometheus"

// metrics of the door through which records come in.
type metrics struct {
	batches    prometheus.Counter
	records    prometheus.Counter
	bytes      prometheus.Counter
	refused    prometheus.Counter
	duplicates prometheus.Counter
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		batches: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "millrace_ingest_batches_total", Help: "Record batches stored.",
		}),
		records: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "millrace_ingest_records_total", Help: "Records stored.",
		}),
		bytes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "millrace_ingest_bytes_total", Help: "Bytes of record batches stored, as sent.",
		}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "millrace_ingest_refused_batches_total", Help: "Record batches refused.",
		}),
		duplicates: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "millrace_ingest_duplicate_batches_total", Help: "Repeated batches of idempotent producers, answered without being stored again.",
		}),
	}
	if r != nil {
		r.MustRegister(m.batches, m.records, m.bytes, m.refused, m.duplicates)
	}
	return m
}
