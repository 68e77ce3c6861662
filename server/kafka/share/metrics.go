package share

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	acquired     prometheus.Counter
	acknowledged [Renew + 1]prometheus.Counter
	expired      prometheus.Counter
	collectors   []prometheus.Collector
}

func newMetrics(c *Coordinator) *metrics {
	acks := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "millrace_share_acknowledgements_total",
		Help: "Records that members of share groups acknowledged, by kind.",
	}, []string{"kind"})
	m := &metrics{
		acquired: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "millrace_share_records_acquired_total",
			Help: "Deliveries of records to members of share groups.",
		}),
		expired: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "millrace_share_locks_expired_total",
			Help: "Records that came back because a member of a share group held them too long.",
		}),
	}
	for k, name := range [...]string{Gap: "gap", Accept: "accept", Release: "release", Reject: "reject", Renew: "renew"} {
		m.acknowledged[k] = acks.WithLabelValues(name)
	}
	m.collectors = []prometheus.Collector{
		acks, m.acquired, m.expired,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "millrace_share_groups", Help: "Share groups."}, func() float64 {
			c.mu.Lock()
			defer c.mu.Unlock()
			return float64(len(c.groups))
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "millrace_share_sessions", Help: "Open sessions of members of share groups."}, func() float64 {
			return float64(c.sessions.Load())
		}),
	}
	return m
}

// register makes the metrics visible; the coordinator works without that.
func (m *metrics) register(c *Coordinator) {
	if c.o.Registry == nil {
		return
	}
	for i, collector := range m.collectors {
		if err := c.o.Registry.Register(collector); err != nil {
			c.o.Logger.Error("metrics of share groups are not registered", "error", err)
			for _, done := range m.collectors[:i] {
				c.o.Registry.Unregister(done)
			}
			m.collectors = nil
			return
		}
	}
}

func (m *metrics) unregister(c *Coordinator) {
	if c.o.Registry != nil {
		for _, collector := range m.collectors {
			c.o.Registry.Unregister(collector)
		}
	}
}

// counted adds acknowledgements that were carried out.
func (m *metrics) counted(batches []AckBatch) {
	for i := range batches {
		b := &batches[i]
		if len(b.Kinds) == 1 {
			m.acknowledged[b.Kinds[0]].Add(float64(b.Last - b.First + 1))
			continue
		}
		for _, k := range b.Kinds {
			m.acknowledged[k].Inc()
		}
	}
}
