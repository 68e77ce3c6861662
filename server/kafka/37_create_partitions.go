package kafka

import (
	"context"

	"millrace/server/auth"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// createPartitions serves CreatePartitions 0–3. From 3 on clients know a quota's refusal.
func (s *Server) createPartitions(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.CreatePartitionsRequest)
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
			err = adminErrorf(errInvalidRequest, "Duplicate topic name.")
		} else {
			err = s.raisePartitions(ctx, r, &t, req.ValidateOnly)
		}
		rt.ErrorCode, rt.ErrorMessage = s.describeError(err)
		resp.Topics = append(resp.Topics, rt)
	}
	return resp, nil
}

func (s *Server) raisePartitions(ctx context.Context, r *request, t *kmsg.CreatePartitionsRequestTopic, validateOnly bool) error {
	topic, code := s.resolve(r, s.o.Store.Topics(), topicRef{name: t.Topic}, false, auth.Alter)
	switch {
	case code == errTopicAuthorizationFailed:
		return adminErrorf(code, "The topic authorization is failed.")
	case code != errNone:
		return adminErrorf(code, "The topic '%s' does not exist.", t.Topic)
	case t.Count == topic.Partitions:
		return adminErrorf(errInvalidPartitions, "Topic already has %d partition(s).", topic.Partitions)
	case t.Count < topic.Partitions:
		return adminErrorf(errInvalidPartitions, "The topic %s currently has %d partition(s); %d would not be an increase.", t.Topic, topic.Partitions, t.Count)
	}
	if added := t.Count - topic.Partitions; t.Assignment != nil {
		if int64(len(t.Assignment)) != int64(added) {
			return adminErrorf(errInvalidReplicaAssignment, "Attempted to add %d additional partition(s), but %d assignment(s) were specified.", added, len(t.Assignment))
		}
		for i, a := range t.Assignment {
			if err := s.checkReplicas(topic.Partitions+int32(i), a.Replicas); err != nil {
				return err
			}
		}
	}
	if validateOnly {
		return nil
	}
	if err := s.takeMutations(r, t.Count-topic.Partitions, r.version >= 3); err != nil {
		return err
	}
	result, err := s.commit(ctx, state.CreatePartitions{ID: topic.ID, Count: t.Count})
	_, err = topicOf(answer[any]{result, err})
	return err
}
