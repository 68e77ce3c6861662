package sealer

import (
	"millrace/scan/columns"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	files    prometheus.Counter
	rows     prometheus.Counter
	bytes    prometheus.Counter
	seconds  prometheus.Counter
	failures prometheus.Counter
	dropped  prometheus.Counter
	cooled   prometheus.Counter
	saved    prometheus.Counter
}

func newMetrics(r prometheus.Registerer, set *columns.Set, lag func() int64) *metrics {
	name := func(n, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: "millrace", Subsystem: "sealer", Name: n, Help: help}
	}
	register := func(c prometheus.Collector) {
		if r != nil {
			r.MustRegister(c)
		}
	}
	counter := func(n, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts(name(n, help)))
		register(c)
		return c
	}
	register(prometheus.NewGaugeFunc(prometheus.GaugeOpts(name("lag_rows", "Rows of full blocks whose columns are in no file yet.")), func() float64 {
		return float64(lag())
	}))
	register(prometheus.NewGaugeFunc(prometheus.GaugeOpts(name("open_file_bytes", "Bytes of the files of columns that are open.")), func() float64 {
		_, n := set.Files()
		return float64(n)
	}))
	return &metrics{
		files:    counter("files_total", "Files of columns written."),
		rows:     counter("rows_total", "Rows whose columns were written into files."),
		bytes:    counter("bytes_total", "Bytes of the files of columns written."),
		seconds:  counter("seconds_total", "Time that writing them took, making way for producers included."),
		failures: counter("failures_total", "Failed attempts to write columns."),
		cooled:   counter("compressed_files_total", "Files of columns written anew, compressed, because they were cold."),
		saved:    counter("compressed_saved_bytes_total", "Bytes that files of columns shrank by then."),
		dropped:  counter("dropped_files_total", "Files of columns removed because nothing in them is wanted any more."),
	}
}
