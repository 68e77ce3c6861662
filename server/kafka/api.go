package kafka

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"millrace/server/auth"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A handler answers one request whose body kmsg has decoded.
//
// It runs on its connection's goroutine: requests of one connection are handled
// strictly one after the other, so a handler may block, and blocks nobody else.
// ctx ends when the server stops and, for an api marked blocking, also when the
// client goes away.
//
// Every failure that the protocol can express belongs into the response, in the
// code that errors.go gives it. An error is only for what has no answer: the
// connection is closed. A nil response is no response (and no error).
//
// An api lives in one file named after its key, 60_describe_cluster.go for example, and
// is registered in apis.go, the only place that ApiVersions answers from.
type handler func(ctx context.Context, r *request) (kmsg.Response, error)

// rawHandler answers a request from its undecoded body, and itself (the hot paths).
type rawHandler func(ctx context.Context, c *conn, h header, body []byte) error

// api is one Kafka API: what is advertised, and who answers. Either handle or raw is set.
type api struct {
	key      int16
	min, max int16 // versions, both included
	handle   handler
	raw      rawHandler

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
	flexibleFrom int16      // first flexible version; above max when none is
	errors       *errorWalk // nil: its responses have no codes, or it notes its refusals itself
	requests     prometheus.Counter
}

// apiTable is indexed by API key.
type apiTable []*api

func newAPITable(list []api, m *metrics) (apiTable, error) {
	var t apiTable
	for i := range list {
		a := &list[i]
		req := kmsg.RequestForKey(a.key)
		if req == nil || a.min < 0 || a.max < a.min || a.max > req.MaxVersion() {
			return nil, fmt.Errorf("kafka: API %d versions %d to %d cannot be encoded", a.key, a.min, a.max)
		}
		if (a.handle == nil) == (a.raw == nil) {
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
		if a.handle != nil {
			a.errors = newErrorWalk(reflect.TypeOf(req.ResponseKind()).Elem())
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

func (t apiTable) find(key int16) *api {
	if key < 0 || int(key) >= len(t) {
		return nil
	}
	return t[key]
}

// requestHeaderVersion is 2 (with tags) from the first flexible version on, 1 before.
func (a *api) requestHeaderVersion(version int16) int {
	if version >= a.flexibleFrom {
		return 2
	}
	return 1
}

// responseHeaderVersion is 1 (with tags) from the first flexible version on, 0
// before; always 0 for ApiVersions, whose client does not know our versions yet.
func (a *api) responseHeaderVersion(version int16) int {
	if version >= a.flexibleFrom && a.key != keyAPIVersions {
		return 1
	}
	return 0
}

// request is one decoded request and who sent it.
type request struct {
	header
	body kmsg.Request
	conn *conn

	hangUp bool          // set by a handler: close the connection after the response
	wait   time.Duration // set by a handler: the client is to wait, by a quota
}

// clientHost is the client's address as groups show it ("/127.0.0.1").
func (r *request) clientHost() string { return "/" + r.conn.remoteHost }

// advertised is where this listener's clients are told to connect.
func (r *request) advertised() (host string, port int32) { return r.conn.advertised() }

// allowed says whether the request's principal may do op on res.
func (s *Server) allowed(r *request, op auth.Operation, res auth.Resource) bool {
	return s.o.Auth.Authorize(r.conn.principal, op, res)
}

func topicResource(name string) auth.Resource { return auth.Resource{Type: auth.Topic, Name: name} }

var clusterResource = auth.Resource{Type: auth.Cluster}
