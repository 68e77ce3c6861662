package kafka

import (
	"context"
	"log/slog"

	"millrace/server/auth"
	"millrace/store/state"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	coordinatorOfGroup       = 0
	coordinatorOfTransaction = 1
	coordinatorOfShare       = 2
)

// offsetsTopic is where Kafka keeps committed offsets. Here they are in the store's
// state and nothing is written to the topic; it exists, empty, from the first time a
// group coordinator is looked up, because clients and tools take it, and that it is
// internal, for the sign of a broker that coordinates groups.
const offsetsTopic = "__consumer_offsets"

// findCoordinator serves FindCoordinator 0–6: this node coordinates everything.
// Type 2 are the share partitions that Kafka's own brokers ask for, with keys of theirs
// (group:topic id:partition).
func (s *Server) findCoordinator(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.FindCoordinatorRequest)
	resp := req.ResponseKind().(*kmsg.FindCoordinatorResponse)
	if req.Version < 4 {
		c := s.coordinatorOf(ctx, r, req.CoordinatorType, req.CoordinatorKey)
		resp.ErrorCode, resp.ErrorMessage = c.ErrorCode, c.ErrorMessage
		resp.NodeID, resp.Host, resp.Port = c.NodeID, c.Host, c.Port
		return resp, nil
	}
	for _, key := range req.CoordinatorKeys {
		resp.Coordinators = append(resp.Coordinators, s.coordinatorOf(ctx, r, req.CoordinatorType, key))
	}
	return resp, nil
}

func (s *Server) coordinatorOf(ctx context.Context, r *request, kind int8, key string) kmsg.FindCoordinatorResponseCoordinator {
	c := kmsg.NewFindCoordinatorResponseCoordinator()
	c.Key, c.NodeID, c.Port = key, -1, -1
	res := groupResource(key)
	denied := errGroupAuthorizationFailed
	switch kind {
	case coordinatorOfGroup:
	case coordinatorOfTransaction:
		res = auth.Resource{Type: auth.TransactionalID, Name: key}
		denied = errTransactionalIDAuthorization
	case coordinatorOfShare:
		return s.shareCoordinatorOf(r, key)
	default:
		c.ErrorCode = errInvalidRequest
		c.ErrorMessage = nullable("coordinators of this type are not served")
		return c
	}
	if !s.allowed(r, auth.Describe, res) {
		c.ErrorCode = denied
		return c
	}
	if kind == coordinatorOfGroup {
		s.ensureOffsetsTopic(ctx)
	}
	c.NodeID = s.o.NodeID
	c.Host, c.Port = r.advertised()
	return c
}

// ensureOffsetsTopic creates the offsets topic where it is missing. Groups work without
// it, so that a failure is nobody's but the log's.
func (s *Server) ensureOffsetsTopic(ctx context.Context) {
	if _, ok := s.o.Store.Topics().ByName(offsetsTopic); ok {
		return
	}
	result, err := s.commit(ctx, state.CreateTopic{
		ID: uuid.New(), Name: offsetsTopic, Partitions: 1,
		Configs: map[string]string{"cleanup.policy": "compact"},
	})
	_, err = topicOf(answer[any]{result, err})
	if code, _ := s.describeError(err); code != errNone && code != errTopicAlreadyExists && ctx.Err() == nil {
		s.rare.warn(s.log, offsetsTopic, "internal topic not created", slog.String("topic", offsetsTopic), slog.Any("error", err))
	}
}
