package mysql

import (
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics of the MySQL wire.
type metrics struct {
	statements *prometheus.CounterVec // by outcome
	seconds    prometheus.Histogram
	rows       prometheus.Counter
	logins     *prometheus.CounterVec
	refused    prometheus.Counter
	panics     prometheus.Counter
	plans      *prometheus.CounterVec // by what carries them out
}

func newMetrics(r prometheus.Registerer, s *Server) metrics {
	m := metrics{
		statements: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "millrace_mysql_statements_total", Help: "Statements by outcome."}, []string{"outcome"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "millrace_mysql_statement_seconds", Help: "Time from a statement's arrival to its last byte.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 4, 10),
		}),
		rows:    prometheus.NewCounter(prometheus.CounterOpts{Name: "millrace_mysql_rows_total", Help: "Rows sent."}),
		logins:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "millrace_mysql_logins_total", Help: "Logins by outcome."}, []string{"outcome"}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{Name: "millrace_mysql_connections_refused_total", Help: "Connections beyond the limit."}),
		plans: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "millrace_mysql_plans_total",
			Help: "Statements over topics, by what carried them out: columns (all in the vectorised engine), mixed, or rows (none).",
		}, []string{"by"}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{Name: "millrace_mysql_panics_total", Help: "Panics recovered in statements and connections."}),
	}
	if r != nil {
		r.MustRegister(m.statements, m.seconds, m.rows, m.logins, m.refused, m.panics, m.plans,
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "millrace_mysql_connections", Help: "Open connections."},
				func() float64 { return float64(s.open.Load()) }))
	}
	return m
}

func stack() string { return string(debug.Stack()) }
