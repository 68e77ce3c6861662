package columns

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	opened   prometheus.Counter
	hits     prometheus.Counter
	expanded prometheus.Counter
	rows     prometheus.Counter
	bytes    prometheus.Counter
	merged   prometheus.Counter
	evicted  prometheus.Counter
	private  prometheus.Counter
	rowsRead prometheus.Counter
	read     prometheus.Counter
	readB    prometheus.Counter
	ahead    prometheus.Counter
	damaged  prometheus.Counter
}

func newMetrics(r prometheus.Registerer, c *cache) *metrics {
	counter := func(name, help string) prometheus.Counter {
		x := prometheus.NewCounter(prometheus.CounterOpts{Namespace: "millrace", Subsystem: "columns", Name: name, Help: help})
		if r != nil {
			r.MustRegister(x)
		}
		return x
	}
	gauge := func(name, help string, f func() float64) {
		if r != nil {
			r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "millrace", Subsystem: "columns", Name: name, Help: help}, f))
		}
	}
	gauge("cache_bytes", "Bytes of column vectors in memory.", func() float64 { return float64(c.size()) })
	gauge("cache_limit_bytes", "Bytes of column vectors that may be kept in memory.", func() float64 { return float64(c.limit) })
	return &metrics{
		opened:   counter("opened_total", "Columns of blocks that queries asked for."),
		hits:     counter("cache_hits_total", "Columns of blocks that were in memory when a query asked for them."),
		expanded: counter("expanded_total", "Columns of blocks made from raw batches for a query."),
		rows:     counter("expanded_rows_total", "Rows of blocks expanded from raw batches for queries."),
		bytes:    counter("built_bytes_total", "Bytes of the column vectors made."),
		merged:   counter("merged_total", "Columns of blocks made by joining those of smaller blocks."),
		evicted:  counter("evicted_total", "Columns of blocks dropped from memory to make room."),
		read:     counter("file_reads_total", "Columns of blocks read from files."),
		readB:    counter("file_read_bytes_total", "Bytes of columns read from files."),
		ahead:    counter("file_ahead_bytes_total", "Bytes of columns that were read from files ahead, past the page cache."),
		damaged:  counter("damaged_files_total", "Files of columns that could not be read, and are made anew."),
		rowsRead: counter("single_rows_total", "Rows of blocks read on their own, without the columns of the others."),
		private:  counter("private_blocks_total", "Blocks cut for one query only."),
	}
}
