package topics

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// CreatePartitions serves CreatePartitions 0–3. From 3 on clients know a quota's refusal.
func (h *Handlers) CreatePartitions(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.CreatePartitionsRequest)
	resp := req.ResponseKind().(*kmsg.CreatePartitionsResponse)
	named := map[string]int{}
	for _, t := range req.Topics {
		named[t.Topic]++
	}
	for _, t := range req.Topics {
		if named[t.Topic] == 0 {
			continue
		}
		rt := kmsg.NewCreatePartitionsResponseTopic()
		rt.Topic = t.Topic
		var err error
		if named[t.Topic] > 1 {
			named[t.Topic] = 0
			err = kafkaerr.Faultf(kafkaerr.InvalidRequest, "Duplicate topic name.")
		} else {
			err = h.raisePartitions(ctx, r, &t, req.ValidateOnly)
		}
		rt.ErrorCode, rt.ErrorMessage = h.Fault(err)
		resp.Topics = append(resp.Topics, rt)
	}
	return resp, nil
}

func (h *Handlers) raisePartitions(ctx context.Context, r *api.Request, t *kmsg.CreatePartitionsRequestTopic, validateOnly bool) error {
	topic, code := h.Resolve(r, h.Store.Topics(), api.TopicRef{Name: t.Topic}, false, auth.Alter)
	switch {
	case code == kafkaerr.TopicAuthorizationFailed:
		return kafkaerr.Faultf(code, "The topic authorization is failed.")
	case code != kafkaerr.None:
		return kafkaerr.Faultf(code, "The topic '%s' does not exist.", t.Topic)
	case t.Count == topic.Partitions:
		return kafkaerr.Faultf(kafkaerr.InvalidPartitions, "Topic already has %d partition(s).", topic.Partitions)
	case t.Count < topic.Partitions:
		return kafkaerr.Faultf(kafkaerr.InvalidPartitions, "The topic %s currently has %d partition(s); %d would not be an increase.", t.Topic, topic.Partitions, t.Count)
	}
	if added := t.Count - topic.Partitions; t.Assignment != nil {
		if int64(len(t.Assignment)) != int64(added) {
			return kafkaerr.Faultf(kafkaerr.InvalidReplicaAssignment, "Attempted to add %d additional partition(s), but %d assignment(s) were specified.", added, len(t.Assignment))
		}
		for i, a := range t.Assignment {
			if err := h.checkReplicas(topic.Partitions+int32(i), a.Replicas); err != nil {
				return err
			}
		}
	}
	if validateOnly {
		return nil
	}
	if err := h.takeMutations(r, t.Count-topic.Partitions, r.Version >= 3); err != nil {
		return err
	}
	result, err := h.Commit(ctx, state.CreatePartitions{ID: topic.ID, Count: t.Count})
	_, err = api.TopicOf(api.Answer[any]{Value: result, Err: err})
	return err
}
