package pushdown

import "github.com/prometheus/client_golang/prometheus"

// metrics of plans.
type metrics struct {
	plans *prometheus.CounterVec // by what carries them out
}

func newMetrics(r prometheus.Registerer) metrics {
	m := metrics{plans: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "millrace_sql_plans_total",
		Help: "Plans over topics, by what carries them out: columns (the vectorised engine), mixed (in part), rows (the row engine).",
	}, []string{"by"})}
	if r != nil {
		r.MustRegister(m.plans)
	}
	return m
}
