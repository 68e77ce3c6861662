package topics

import (
	"context"
	"errors"
	"log/slog"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/server/kafka/rarelog"
	"millrace/store/state"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func (h *Handlers) Metadata(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.MetadataRequest)
	resp := req.ResponseKind().(*kmsg.MetadataResponse)

	broker := kmsg.NewMetadataResponseBroker()
	broker.NodeID = h.NodeID
	broker.Host, broker.Port = r.Advertised()
	resp.Brokers = []kmsg.MetadataResponseBroker{broker}
	resp.ControllerID = h.NodeID
	clusterID := h.Store.ClusterID()
	resp.ClusterID = &clusterID
	if req.IncludeClusterAuthorizedOperations && h.Allowed(r, auth.Describe, api.ClusterResource) {
		resp.AuthorizedOperations = h.AuthorizedOperations(r, api.ClusterResource)
	}

	// Version 0 has no null: there an empty list asks for everything.
	if req.Topics == nil || (r.Version == 0 && len(req.Topics) == 0) {
		for _, t := range h.Store.Topics().All() {
			if h.Allowed(r, auth.Describe, api.TopicResource(t.Name)) {
				resp.Topics = append(resp.Topics, h.topicMetadata(r, req, t))
			}
		}
		return resp, nil
	}
	resp.Topics = make([]kmsg.MetadataResponseTopic, 0, len(req.Topics))
	for i := range req.Topics {
		resp.Topics = append(resp.Topics, h.askedTopicMetadata(ctx, r, req, &req.Topics[i]))
	}
	return resp, nil
}

// askedTopicMetadata answers for one topic asked for by name or id.
func (h *Handlers) askedTopicMetadata(ctx context.Context, r *api.Request, req *kmsg.MetadataRequest, asked *kmsg.MetadataRequestTopic) kmsg.MetadataResponseTopic {
	topics := h.Store.Topics()
	if asked.Topic == nil {
		t, ok := topics.ByID(asked.TopicID)
		if !ok || !h.Allowed(r, auth.Describe, api.TopicResource(t.Name)) {
			// The same for both: an id must not tell that its topic exists.
			return failedTopic(nil, asked.TopicID, kafkaerr.UnknownTopicID)
		}
		return h.topicMetadata(r, req, t)
	}
	name := *asked.Topic
	if asked.TopicID != (state.TopicID{}) && r.Version < 12 {
		return failedTopic(asked.Topic, asked.TopicID, kafkaerr.InvalidRequest)
	}
	if !h.Allowed(r, auth.Describe, api.TopicResource(name)) {
		return failedTopic(asked.Topic, state.TopicID{}, kafkaerr.TopicAuthorizationFailed)
	}
	t, ok := topics.ByName(name)
	if !ok {
		var code int16
		if t, code = h.autoCreate(ctx, r, name, r.Version < 4 || req.AllowAutoTopicCreation); code != kafkaerr.None {
			return failedTopic(asked.Topic, state.TopicID{}, code)
		}
	}
	return h.topicMetadata(r, req, t)
}

func failedTopic(name *string, id state.TopicID, code int16) kmsg.MetadataResponseTopic {
	t := kmsg.NewMetadataResponseTopic()
	t.Topic, t.TopicID, t.ErrorCode = name, id, code
	return t
}

// autoCreate makes a topic that does not exist, where both sides want that. It is
// usable at once: the answer already describes it.
func (h *Handlers) autoCreate(ctx context.Context, r *api.Request, name string, wanted bool) (state.Topic, int16) {
	if !state.ValidTopicName(name) {
		return state.Topic{}, kafkaerr.InvalidTopic // asking again will not help
	}
	if !h.AutoCreateTopics {
		h.Rare.Warn("no topic "+name, "a client asks for a topic that does not exist; auto-create is off",
			slog.String("topic", rarelog.Cut(name)), slog.String("client_id", rarelog.Cut(r.ClientID)), slog.String("client", r.Host))
	}
	if !h.AutoCreateTopics || !wanted {
		return state.Topic{}, kafkaerr.UnknownTopicOrPartition
	}
	if !h.Allowed(r, auth.Create, api.ClusterResource) && !h.Allowed(r, auth.Create, api.TopicResource(name)) {
		return state.Topic{}, kafkaerr.TopicAuthorizationFailed
	}
	_ = h.takeMutations(r, int32(h.DefaultPartitions), false) // who is not strict is never refused
	res, err := h.Commit(ctx, state.CreateTopic{ID: uuid.New(), Name: name, Partitions: int32(h.DefaultPartitions)})
	if err != nil {
		return state.Topic{}, h.Code(err)
	}
	tr, ok := res.(state.TopicResult)
	switch {
	case !ok:
		h.Log.Error("unexpected answer to CreateTopic", slog.Any("answer", res))
		return state.Topic{}, kafkaerr.UnknownServerError
	case errors.Is(tr.Err, state.ErrTopicExists): // another client was first
		if t, ok := h.Store.Topics().ByName(name); ok {
			return t, kafkaerr.None
		}
		return state.Topic{}, kafkaerr.UnknownTopicOrPartition
	case tr.Err != nil:
		return state.Topic{}, h.Code(tr.Err)
	}
	h.Log.Info("topic created on request of a client", slog.String("topic", name),
		slog.Int("partitions", h.DefaultPartitions), slog.String("client_id", rarelog.Cut(r.ClientID)), slog.String("client", r.Host))
	return tr.Topic, kafkaerr.None
}

func (h *Handlers) topicMetadata(r *api.Request, req *kmsg.MetadataRequest, t state.Topic) kmsg.MetadataResponseTopic {
	out := kmsg.NewMetadataResponseTopic()
	out.Topic = kmsg.StringPtr(t.Name)
	out.TopicID = t.ID
	out.IsInternal = api.InternalTopic(t.Name)
	if req.IncludeTopicAuthorizedOperations {
		out.AuthorizedOperations = h.AuthorizedOperations(r, api.TopicResource(t.Name))
	}
	node := []int32{h.NodeID} // shared by all: nobody changes it
	out.Partitions = make([]kmsg.MetadataResponseTopicPartition, t.Partitions)
	for i := range out.Partitions {
		p := &out.Partitions[i]
		p.Default()
		p.Partition = int32(i)
		p.Leader, p.LeaderEpoch = h.NodeID, api.LeaderEpoch
		p.Replicas, p.ISR = node, node
		p.OfflineReplicas = []int32{}
	}
	return out
}
