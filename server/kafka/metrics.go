package kafka

import "github.com/prometheus/client_golang/prometheus"

// metrics of the Kafka listener.
type metrics struct {
	connections  prometheus.Gauge
	accepted     prometheus.Counter
	refused      *prometheus.CounterVec // connections, by reason
	requests     *prometheus.CounterVec // by API
	bytesIn      prometheus.Counter
	bytesOut     prometheus.Counter
	panics       prometheus.Counter
	authFailures prometheus.Counter
	fetchSession prometheus.Gauge
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		connections: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "millrace_kafka_connections", Help: "Open Kafka connections.",
		}),
		accepted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "millrace_kafka_connections_accepted_total", Help: "Kafka connections accepted.",
		}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "millrace_kafka_connections_refused_total", Help: "Kafka connections refused, by reason.",
		}, []string{"reason"}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "millrace_kafka_requests_total", Help: "Kafka requests, by API.",
		}, []string{"api"}),
		bytesIn: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "millrace_kafka_received_bytes_total", Help: "Bytes of Kafka requests.",
		}),
		bytesOut: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "millrace_kafka_sent_bytes_total", Help: "Bytes of Kafka responses.",
		}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "millrace_kafka_panics_total", Help: "Panics recovered on Kafka connections; each is a bug.",
		}),
		authFailures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "millrace_kafka_authentication_failures_total", Help: "Failed logins on Kafka connections.",
		}),
		fetchSession: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "millrace_kafka_fetch_sessions", Help: "Incremental fetch sessions.",
		}),
	}
	if r != nil {
		r.MustRegister(m.connections, m.accepted, m.refused, m.requests, m.bytesIn, m.bytesOut,
			m.panics, m.authFailures, m.fetchSession)
	}
	return m
}
