package kafka

import (
	"context"
	"fmt"
	"reflect"

	"millrace/server/kafka/api"
	"millrace/server/kafka/refusal"
	"millrace/server/kafka/wire"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// endpoint is one Kafka API: what is advertised, and who answers. One of handle, own and raw is set.
type endpoint struct {
	key      int16
	min, max int16 // versions, both included
	handle   api.Handler
	own      func(c *conn, ctx context.Context, r *api.Request) (kmsg.Response, error) // the connection's own affairs
	raw      func(c *conn, ctx context.Context, h wire.Header, body []byte) error      // decodes and answers itself (the hot paths)

	// blocking: the handler may wait long for others (JoinGroup); the connection
	// is watched meanwhile, and ctx ends when the client goes away.
	blocking bool
	// preAuth: allowed before a login where one is required.
	preAuth bool
	// pipelined: the next request may be executed before this one is answered.
	// The handler then owns its place in the order of answers (Produce only).
	pipelined bool

	// Filled in by newAPITable.
	name         string
	flexibleFrom int16         // first flexible version; above max when none is
	errors       *refusal.Walk // nil: its responses have no codes, or it notes its refusals itself
	requests     prometheus.Counter
}

// apiTable is indexed by API key.
type apiTable []*endpoint

func newAPITable(list []endpoint, m *metrics) (apiTable, error) {
	var t apiTable
	for i := range list {
		a := &list[i]
		req := kmsg.RequestForKey(a.key)
		if req == nil || a.min < 0 || a.max < a.min || a.max > req.MaxVersion() {
			return nil, fmt.Errorf("kafka: API %d versions %d to %d cannot be encoded", a.key, a.min, a.max)
		}
		handlers := 0
		for _, set := range []bool{a.handle != nil, a.own != nil, a.raw != nil} {
			if set {
				handlers++
			}
		}
		if handlers != 1 {
			return nil, fmt.Errorf("kafka: API %d needs exactly one handler", a.key)
		}
		for int(a.key) >= len(t) {
			t = append(t, nil)
		}
		if t[a.key] != nil {
			return nil, fmt.Errorf("kafka: API %d registered twice", a.key)
		}
		a.name = kmsg.NameForKey(a.key)
		a.requests = m.requests.WithLabelValues(a.name)
		if a.raw == nil {
			a.errors = refusal.NewWalk(reflect.TypeOf(req.ResponseKind()).Elem())
		}
		for a.flexibleFrom = 0; a.flexibleFrom <= a.max; a.flexibleFrom++ {
			if req.SetVersion(a.flexibleFrom); req.IsFlexible() {
				break
			}
		}
		t[a.key] = a
	}
	return t, nil
}

func (t apiTable) find(key int16) *endpoint {
	if key < 0 || int(key) >= len(t) {
		return nil
	}
	return t[key]
}

// answer has a decoded request answered.
func (a *endpoint) answer(ctx context.Context, c *conn, r *api.Request) (kmsg.Response, error) {
	if a.own != nil {
		return a.own(c, ctx, r)
	}
	return a.handle(ctx, r)
}

// isFlexible says whether requests of that version have tags, in their header, too.
func (a *endpoint) isFlexible(version int16) bool { return version >= a.flexibleFrom }

// tagsResponses says whether responses have tags in their header: from the first flexible
// version on, but for ApiVersions, whose client does not know our versions yet.
func (a *endpoint) tagsResponses(version int16) bool {
	return a.isFlexible(version) && a.key != keyAPIVersions
}
