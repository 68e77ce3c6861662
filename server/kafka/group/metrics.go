package group

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	registry   prometheus.Registerer
	rebalances prometheus.Counter
	expired    prometheus.Counter
	states     *stateCollector
}

func newMetrics(registry prometheus.Registerer, c *Coordinator) (*metrics, error) {
	m := &metrics{
		registry: registry,
		rebalances: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "millrace_group_rebalances_total",
			Help: "Completed rebalances of consumer groups.",
		}),
		expired: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "millrace_group_members_expired_total",
			Help: "Group members removed because their session ended without a heartbeat.",
		}),
		states: &stateCollector{c: c, desc: prometheus.NewDesc("millrace_groups",
			"Consumer groups with members or a past generation, by state.", []string{"state"}, nil)},
	}
	if registry == nil {
		return m, nil
	}
	for _, collector := range m.collectors() {
		if err := registry.Register(collector); err != nil {
			m.unregister()
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.rebalances, m.expired, m.states}
}

func (m *metrics) unregister() {
	if m.registry == nil {
		return
	}
	for _, collector := range m.collectors() {
		m.registry.Unregister(collector)
	}
}

// stateCollector counts groups when asked, so that transitions cost nothing.
type stateCollector struct {
	c    *Coordinator
	desc *prometheus.Desc
}

func (s *stateCollector) Describe(ch chan<- *prometheus.Desc) { ch <- s.desc }

func (s *stateCollector) Collect(ch chan<- prometheus.Metric) {
	var counts [Reconciling + 1]int
	for _, g := range s.c.all() {
		g.mu.Lock()
		counts[g.state]++
		g.mu.Unlock()
	}
	for _, g := range s.c.allConsumers() {
		g.mu.Lock()
		counts[g.state()]++
		g.mu.Unlock()
	}
	for state := range counts {
		if State(state) == Dead {
			continue
		}
		ch <- prometheus.MustNewConstMetric(s.desc, prometheus.GaugeValue, float64(counts[state]), State(state).String())
	}
}
