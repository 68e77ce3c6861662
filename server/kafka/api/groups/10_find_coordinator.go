package groups

import (
	"context"
	"log/slog"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
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

// FindCoordinator serves FindCoordinator 0–6: this node coordinates everything.
// Type 2 are the share partitions that Kafka's own brokers ask for, with keys of theirs
// (group:topic id:partition).
func (h *Handlers) FindCoordinator(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.FindCoordinatorRequest)
	resp := req.ResponseKind().(*kmsg.FindCoordinatorResponse)
	if req.Version < 4 {
		c := h.coordinatorOf(ctx, r, req.CoordinatorType, req.CoordinatorKey)
		resp.ErrorCode, resp.ErrorMessage = c.ErrorCode, c.ErrorMessage
		resp.NodeID, resp.Host, resp.Port = c.NodeID, c.Host, c.Port
		return resp, nil
	}
	for _, key := range req.CoordinatorKeys {
		resp.Coordinators = append(resp.Coordinators, h.coordinatorOf(ctx, r, req.CoordinatorType, key))
	}
	return resp, nil
}

func (h *Handlers) coordinatorOf(ctx context.Context, r *api.Request, kind int8, key string) kmsg.FindCoordinatorResponseCoordinator {
	c := kmsg.NewFindCoordinatorResponseCoordinator()
	c.Key, c.NodeID, c.Port = key, -1, -1
	res := api.GroupResource(key)
	denied := kafkaerr.GroupAuthorizationFailed
	switch kind {
	case coordinatorOfGroup:
	case coordinatorOfTransaction:
		res = auth.Resource{Type: auth.TransactionalID, Name: key}
		denied = kafkaerr.TransactionalIDAuthorization
	case coordinatorOfShare:
		return h.shareCoordinatorOf(r, key)
	default:
		c.ErrorCode = kafkaerr.InvalidRequest
		c.ErrorMessage = api.Nullable("coordinators of this type are not served")
		return c
	}
	if !h.Allowed(r, auth.Describe, res) {
		c.ErrorCode = denied
		return c
	}
	if kind == coordinatorOfGroup {
		h.ensureOffsetsTopic(ctx)
	}
	c.NodeID = h.NodeID
	c.Host, c.Port = r.Advertised()
	return c
}

// ensureOffsetsTopic creates the offsets topic where it is missing. Groups work without
// it, so that a failure is nobody's but the log's.
func (h *Handlers) ensureOffsetsTopic(ctx context.Context) {
	if _, ok := h.Store.Topics().ByName(offsetsTopic); ok {
		return
	}
	result, err := h.Commit(ctx, state.CreateTopic{
		ID: uuid.New(), Name: offsetsTopic, Partitions: 1,
		Configs: map[string]string{"cleanup.policy": "compact"},
	})
	_, err = api.TopicOf(api.Answer[any]{Value: result, Err: err})
	if code, _ := h.Fault(err); code != kafkaerr.None && code != kafkaerr.TopicAlreadyExists && ctx.Err() == nil {
		h.Rare.Warn(offsetsTopic, "internal topic not created", slog.String("topic", offsetsTopic), slog.Any("error", err))
	}
}
