package topics

import (
	"context"

	"millrace/internal/topicconfig"
	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/api/configs"
	"millrace/server/kafka/kafkaerr"
	"millrace/store/state"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// reportedReplicationFactor is what every topic has, whatever was asked for.
const reportedReplicationFactor = 1

// CreateTopics serves CreateTopics 2–7. A replication factor above 1 is taken and
// reported as 1: there is one node, and whoever asks for more does not mean that the
// topic shall not exist. -1 takes the default of partitions and replicas. From 5 on the
// configs are returned, from 7 on the id. From 6 on clients know a quota's refusal.
func (h *Handlers) CreateTopics(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.CreateTopicsRequest)
	resp := req.ResponseKind().(*kmsg.CreateTopicsResponse)
	named := map[string]int{}
	for _, t := range req.Topics {
		named[t.Topic]++
	}
	mayCreateAny := h.Allowed(r, auth.Create, api.ClusterResource)

	type pending struct {
		at     int
		result <-chan api.Answer[any]
	}
	var submitted []pending
	for _, t := range req.Topics {
		if named[t.Topic] == 0 {
			continue // the second of a name: answered already
		}
		var intent state.CreateTopic
		var err error
		switch {
		case named[t.Topic] > 1:
			named[t.Topic] = 0
			err = kafkaerr.Faultf(kafkaerr.InvalidRequest, "Duplicate topic name.")
		case !mayCreateAny && !h.Allowed(r, auth.Create, api.TopicResource(t.Topic)):
			err = kafkaerr.Faultf(kafkaerr.TopicAuthorizationFailed, "Authorization failed.")
		default:
			intent, err = h.topicFromSpec(&t)
			if err == nil && !req.ValidateOnly {
				err = h.takeMutations(r, intent.Partitions, req.Version >= 6)
			}
		}
		rt := kmsg.NewCreateTopicsResponseTopic()
		rt.Topic, rt.NumPartitions, rt.ReplicationFactor = t.Topic, -1, -1
		if err != nil {
			rt.ErrorCode, rt.ErrorMessage = h.Fault(err)
			resp.Topics = append(resp.Topics, rt)
			continue
		}
		if req.ValidateOnly {
			h.describeCreated(r, &rt, state.Topic{Name: intent.Name, Partitions: intent.Partitions, Configs: intent.Configs})
			resp.Topics = append(resp.Topics, rt)
			continue
		}
		// All are submitted before any is waited for: they share a sync.
		submitted = append(submitted, pending{len(resp.Topics), h.Submit(ctx, intent)})
		resp.Topics = append(resp.Topics, rt)
	}
	for _, p := range submitted {
		a, err := api.Receive(ctx, p.result)
		if err != nil {
			return nil, err
		}
		rt := &resp.Topics[p.at]
		topic, err := api.TopicOf(a)
		if err != nil {
			rt.ErrorCode, rt.ErrorMessage = h.Fault(err)
			continue
		}
		h.describeCreated(r, rt, topic)
	}
	return resp, nil
}

// topicFromSpec checks everything about a new topic that does not depend on the order
// of concurrent requests.
func (h *Handlers) topicFromSpec(t *kmsg.CreateTopicsRequestTopic) (state.CreateTopic, error) {
	none := state.CreateTopic{}
	if !state.ValidTopicName(t.Topic) {
		return none, kafkaerr.Faultf(kafkaerr.InvalidTopic, "Topic name is invalid: it must have 1 to %d characters of ASCII letters, digits, '.', '_' and '-', and be neither '.' nor '..'.", state.MaxTopicNameBytes)
	}
	if existing, ok := h.Store.Topics().ByName(t.Topic); ok {
		return none, kafkaerr.Faultf(kafkaerr.TopicAlreadyExists, "Topic '%s' already exists.", existing.Name)
	}
	partitions, err := h.partitionsFromSpec(t)
	if err != nil {
		return none, err
	}
	configs := make(map[string]string, len(t.Configs))
	for _, c := range t.Configs {
		if c.Value == nil {
			return none, kafkaerr.Faultf(kafkaerr.InvalidConfig, "Null value not supported for topic config: %s", c.Name)
		}
		configs[c.Name] = *c.Value
	}
	if err := h.Configs.CheckTopic(configs); err != nil {
		return none, err
	}
	return state.CreateTopic{ID: uuid.New(), Name: t.Topic, Partitions: partitions, Configs: configs}, nil
}

func (h *Handlers) partitionsFromSpec(t *kmsg.CreateTopicsRequestTopic) (int32, error) {
	if len(t.ReplicaAssignment) > 0 {
		if t.NumPartitions != -1 || t.ReplicationFactor != -1 {
			return 0, kafkaerr.Faultf(kafkaerr.InvalidRequest, "Both numPartitions or replicationFactor and replicasAssignments were set. Both cannot be used at the same time.")
		}
		assigned := map[int32]bool{}
		for _, a := range t.ReplicaAssignment {
			if assigned[a.Partition] {
				return 0, kafkaerr.Faultf(kafkaerr.InvalidReplicaAssignment, "Found multiple manual partition assignments for partition %d", a.Partition)
			}
			assigned[a.Partition] = true
			if err := h.checkReplicas(a.Partition, a.Replicas); err != nil {
				return 0, err
			}
		}
		for p := range int32(len(assigned)) {
			if !assigned[p] {
				return 0, kafkaerr.Faultf(kafkaerr.InvalidReplicaAssignment, "partitions should be a consecutive 0-based integer sequence")
			}
		}
		return int32(len(assigned)), nil
	}
	if t.ReplicationFactor < 1 && t.ReplicationFactor != -1 {
		return 0, kafkaerr.Faultf(kafkaerr.InvalidReplicationFactor, "Replication factor must be larger than 0, or -1 to use the default value.")
	}
	switch {
	case t.NumPartitions == -1:
		return int32(h.DefaultPartitions), nil
	case t.NumPartitions < 1:
		return 0, kafkaerr.Faultf(kafkaerr.InvalidPartitions, "Number of partitions was set to an invalid non-positive value.")
	}
	return t.NumPartitions, nil
}

func (h *Handlers) describeCreated(r *api.Request, rt *kmsg.CreateTopicsResponseTopic, t state.Topic) {
	rt.TopicID = t.ID
	if !h.Allowed(r, auth.DescribeConfigs, api.TopicResource(t.Name)) {
		rt.ConfigErrorCode = kafkaerr.TopicAuthorizationFailed
		return
	}
	rt.NumPartitions, rt.ReplicationFactor = t.Partitions, reportedReplicationFactor
	for _, d := range topicconfig.Definitions() {
		c := kmsg.NewCreateTopicsResponseTopicConfig()
		c.Name = d.Name
		value, source := configs.TopicValue(d, t.Configs)
		c.Value, c.Source = &value, int8(source)
		rt.Configs = append(rt.Configs, c)
	}
}
