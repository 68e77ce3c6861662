package kafka

import (
	"context"
	"errors"
	"log/slog"

	"millrace/server/auth"
	"millrace/store/state"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// One node leads everything, under one leader epoch that never changes.
const leaderEpoch = 0

func (s *Server) metadata(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.MetadataRequest)
	resp := req.ResponseKind().(*kmsg.MetadataResponse)

	broker := kmsg.NewMetadataResponseBroker()
	broker.NodeID = s.o.NodeID
	broker.Host, broker.Port = r.advertised()
	resp.Brokers = []kmsg.MetadataResponseBroker{broker}
	resp.ControllerID = s.o.NodeID
	clusterID := s.o.Store.ClusterID()
	resp.ClusterID = &clusterID
	if req.IncludeClusterAuthorizedOperations && s.allowed(r, auth.Describe, clusterResource) {
		resp.AuthorizedOperations = s.authorizedOperations(r, clusterResource)
	}

	// Version 0 has no null: there an empty list asks for everything.
	if req.Topics == nil || (r.version == 0 && len(req.Topics) == 0) {
		for _, t := range s.o.Store.Topics().All() {
			if s.allowed(r, auth.Describe, topicResource(t.Name)) {
				resp.Topics = append(resp.Topics, s.topicMetadata(r, req, t))
			}
		}
		return resp, nil
	}
	resp.Topics = make([]kmsg.MetadataResponseTopic, 0, len(req.Topics))
	for i := range req.Topics {
		resp.Topics = append(resp.Topics, s.askedTopicMetadata(ctx, r, req, &req.Topics[i]))
	}
	return resp, nil
}

// askedTopicMetadata answers for one topic asked for by name or id.
func (s *Server) askedTopicMetadata(ctx context.Context, r *request, req *kmsg.MetadataRequest, asked *kmsg.MetadataRequestTopic) kmsg.MetadataResponseTopic {
	topics := s.o.Store.Topics()
	if asked.Topic == nil {
		t, ok := topics.ByID(asked.TopicID)
		if !ok || !s.allowed(r, auth.Describe, topicResource(t.Name)) {
			// The same for both: an id must not tell that its topic exists.
			return failedTopic(nil, asked.TopicID, errUnknownTopicID)
		}
		return s.topicMetadata(r, req, t)
	}
	name := *asked.Topic
	if asked.TopicID != (state.TopicID{}) && r.version < 12 {
		return failedTopic(asked.Topic, asked.TopicID, errInvalidRequest)
	}
	if !s.allowed(r, auth.Describe, topicResource(name)) {
		return failedTopic(asked.Topic, state.TopicID{}, errTopicAuthorizationFailed)
	}
	t, ok := topics.ByName(name)
	if !ok {
		var code int16
		if t, code = s.autoCreate(ctx, r, name, r.version < 4 || req.AllowAutoTopicCreation); code != errNone {
			return failedTopic(asked.Topic, state.TopicID{}, code)
		}
	}
	return s.topicMetadata(r, req, t)
}

func failedTopic(name *string, id state.TopicID, code int16) kmsg.MetadataResponseTopic {
	t := kmsg.NewMetadataResponseTopic()
	t.Topic, t.TopicID, t.ErrorCode = name, id, code
	return t
}

// autoCreate makes a topic that does not exist, where both sides want that. It is
// usable at once: the answer already describes it.
func (s *Server) autoCreate(ctx context.Context, r *request, name string, wanted bool) (state.Topic, int16) {
	if !state.ValidTopicName(name) {
		return state.Topic{}, errInvalidTopic // asking again will not help
	}
	if !s.o.AutoCreateTopics {
		s.rare.warn(s.log, "no topic "+name, "a client asks for a topic that does not exist; auto-create is off",
			slog.String("topic", cut(name)), slog.String("client_id", cut(r.clientID)), slog.String("client", r.conn.remoteHost))
	}
	if !s.o.AutoCreateTopics || !wanted {
		return state.Topic{}, errUnknownTopicOrPartition
	}
	if !s.allowed(r, auth.Create, clusterResource) && !s.allowed(r, auth.Create, topicResource(name)) {
		return state.Topic{}, errTopicAuthorizationFailed
	}
	_ = s.takeMutations(r, int32(s.o.DefaultPartitions), false) // who is not strict is never refused
	res, err := s.commit(ctx, state.CreateTopic{ID: uuid.New(), Name: name, Partitions: int32(s.o.DefaultPartitions)})
	if err != nil {
		return state.Topic{}, s.code(err)
	}
	tr, ok := res.(state.TopicResult)
	switch {
	case !ok:
		s.log.Error("unexpected answer to CreateTopic", slog.Any("answer", res))
		return state.Topic{}, errUnknownServerError
	case errors.Is(tr.Err, state.ErrTopicExists): // another client was first
		if t, ok := s.o.Store.Topics().ByName(name); ok {
			return t, errNone
		}
		return state.Topic{}, errUnknownTopicOrPartition
	case tr.Err != nil:
		return state.Topic{}, s.code(tr.Err)
	}
	s.log.Info("topic created on request of a client", slog.String("topic", name),
		slog.Int("partitions", s.o.DefaultPartitions), slog.String("client_id", cut(r.clientID)), slog.String("client", r.conn.remoteHost))
	return tr.Topic, errNone
}

func (s *Server) topicMetadata(r *request, req *kmsg.MetadataRequest, t state.Topic) kmsg.MetadataResponseTopic {
	out := kmsg.NewMetadataResponseTopic()
	out.Topic = kmsg.StringPtr(t.Name)
	out.TopicID = t.ID
	out.IsInternal = internalTopic(t.Name)
	if req.IncludeTopicAuthorizedOperations {
		out.AuthorizedOperations = s.authorizedOperations(r, topicResource(t.Name))
	}
	node := []int32{s.o.NodeID} // shared by all: nobody changes it
	out.Partitions = make([]kmsg.MetadataResponseTopicPartition, t.Partitions)
	for i := range out.Partitions {
		p := &out.Partitions[i]
		p.Default()
		p.Partition = int32(i)
		p.Leader, p.LeaderEpoch = s.o.NodeID, leaderEpoch
		p.Replicas, p.ISR = node, node
		p.OfflineReplicas = []int32{}
	}
	return out
}

// internalTopic says whether name is one that Kafka's clients take for the broker's own.
func internalTopic(name string) bool {
	return name == "__consumer_offsets" || name == "__transaction_state"
}
