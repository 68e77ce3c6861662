package kafka

import (
	"context"

	"millrace/server/auth"
	"millrace/store"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// deleteTopics serves DeleteTopics 1–6: by name, and from 6 on by name or id. From 5 on
// clients know a quota's refusal.
func (s *Server) deleteTopics(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.DeleteTopicsRequest)
	resp := req.ResponseKind().(*kmsg.DeleteTopicsResponse)
	asked := req.Topics
	for _, name := range req.TopicNames {
		asked = append(asked, kmsg.DeleteTopicsRequestTopic{Topic: &name})
	}
	topics := s.o.Store.Topics()
	times := map[state.TopicID]int{} // how often each topic is meant, whichever way
	for _, t := range asked {
		if topic, ok := s.meant(r, topics, t); ok {
			times[topic]++
		}
	}
	type pending struct {
		at     int
		result <-chan answer[any]
	}
	var submitted []pending
	for _, t := range asked {
		rt := kmsg.NewDeleteTopicsResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		byID := t.TopicID != [16]byte{}
		var topic state.Topic
		var err error
		switch {
		case t.Topic != nil && byID:
			err = adminErrorf(errInvalidRequest, "You may not specify both topic name and topic id.")
		case t.Topic == nil && !byID:
			err = adminErrorf(errInvalidRequest, "Neither topic name nor id were specified.")
		default:
			var code int16
			topic, code = s.resolve(r, topics, topicRef{deref(t.Topic), t.TopicID}, byID, auth.Delete)
			switch {
			case code == errTopicAuthorizationFailed:
				err = adminErrorf(code, "Authorization failed.")
			case code != errNone:
				err = adminErrorf(code, "This server does not host this topic.")
			case times[topic.ID] > 1:
				err = adminErrorf(errInvalidRequest, "The topic is named more than once.")
			default:
				rt.Topic, rt.TopicID = &topic.Name, topic.ID
				err = s.takeMutations(r, topic.Partitions, req.Version >= 5)
			}
		}
		if err != nil {
			rt.ErrorCode, rt.ErrorMessage = s.describeError(err)
			resp.Topics = append(resp.Topics, rt)
			continue
		}
		submitted = append(submitted, pending{len(resp.Topics), s.submit(ctx, state.DeleteTopic{ID: topic.ID})})
		resp.Topics = append(resp.Topics, rt)
	}
	for _, p := range submitted {
		a, err := receive(ctx, p.result)
		if err != nil {
			return nil, err
		}
		if _, err := topicOf(a); err != nil {
			resp.Topics[p.at].ErrorCode, resp.Topics[p.at].ErrorMessage = s.describeError(err)
		}
	}
	return resp, nil
}

// meant is the topic that a well-formed item of the request names.
func (s *Server) meant(r *request, topics *store.TopicSet, t kmsg.DeleteTopicsRequestTopic) (state.TopicID, bool) {
	if (t.Topic == nil) == (t.TopicID == [16]byte{}) {
		return state.TopicID{}, false
	}
	topic, code := s.resolve(r, topics, topicRef{deref(t.Topic), t.TopicID}, t.Topic == nil, auth.Delete)
	return topic.ID, code == errNone
}
