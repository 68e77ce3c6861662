package topics

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/store"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DeleteTopics serves DeleteTopics 1–6: by name, and from 6 on by name or id. From 5 on
// clients know a quota's refusal.
func (h *Handlers) DeleteTopics(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.DeleteTopicsRequest)
	resp := req.ResponseKind().(*kmsg.DeleteTopicsResponse)
	asked := req.Topics
	for _, name := range req.TopicNames {
		asked = append(asked, kmsg.DeleteTopicsRequestTopic{Topic: &name})
	}
	topics := h.Store.Topics()
	times := map[state.TopicID]int{} // how often each topic is meant, whichever way
	for _, t := range asked {
		if topic, ok := h.meant(r, topics, t); ok {
			times[topic]++
		}
	}
	type pending struct {
		at     int
		result <-chan api.Answer[any]
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
			err = kafkaerr.Faultf(kafkaerr.InvalidRequest, "You may not specify both topic name and topic id.")
		case t.Topic == nil && !byID:
			err = kafkaerr.Faultf(kafkaerr.InvalidRequest, "Neither topic name nor id were specified.")
		default:
			var code int16
			topic, code = h.Resolve(r, topics, api.TopicRef{Name: api.Deref(t.Topic), ID: t.TopicID}, byID, auth.Delete)
			switch {
			case code == kafkaerr.TopicAuthorizationFailed:
				err = kafkaerr.Faultf(code, "Authorization failed.")
			case code != kafkaerr.None:
				err = kafkaerr.Faultf(code, "This server does not host this topic.")
			case times[topic.ID] > 1:
				err = kafkaerr.Faultf(kafkaerr.InvalidRequest, "The topic is named more than once.")
			default:
				rt.Topic, rt.TopicID = &topic.Name, topic.ID
				err = h.takeMutations(r, topic.Partitions, req.Version >= 5)
			}
		}
		if err != nil {
			rt.ErrorCode, rt.ErrorMessage = h.Fault(err)
			resp.Topics = append(resp.Topics, rt)
			continue
		}
		submitted = append(submitted, pending{len(resp.Topics), h.Submit(ctx, state.DeleteTopic{ID: topic.ID})})
		resp.Topics = append(resp.Topics, rt)
	}
	for _, p := range submitted {
		a, err := api.Receive(ctx, p.result)
		if err != nil {
			return nil, err
		}
		if _, err := api.TopicOf(a); err != nil {
			resp.Topics[p.at].ErrorCode, resp.Topics[p.at].ErrorMessage = h.Fault(err)
		}
	}
	return resp, nil
}

// meant is the topic that a well-formed item of the request names.
func (h *Handlers) meant(r *api.Request, topics *store.TopicSet, t kmsg.DeleteTopicsRequestTopic) (state.TopicID, bool) {
	if (t.Topic == nil) == (t.TopicID == [16]byte{}) {
		return state.TopicID{}, false
	}
	topic, code := h.Resolve(r, topics, api.TopicRef{Name: api.Deref(t.Topic), ID: t.TopicID}, t.Topic == nil, auth.Delete)
	return topic.ID, code == kafkaerr.None
}
