package kafka

import (
	"millrace/server/auth"
	"millrace/store"
	"millrace/store/state"
)

// topicRef is a topic as a request names it: by name, or by id from some version on.
type topicRef struct {
	name string
	id   state.TopicID
}

// resolve finds the topic and checks that the principal may do op with it. The code
// is errNone, or why not; an id that the principal may not see is unknown to it.
func (s *Server) resolve(r *request, topics *store.TopicSet, ref topicRef, byID bool, op auth.Operation) (state.Topic, int16) {
	if !byID {
		if !s.allowed(r, op, topicResource(ref.name)) {
			return state.Topic{}, errTopicAuthorizationFailed
		}
		t, ok := topics.ByName(ref.name)
		if !ok {
			return state.Topic{}, errUnknownTopicOrPartition
		}
		return t, errNone
	}
	t, ok := topics.ByID(ref.id)
	if !ok || !s.allowed(r, auth.Describe, topicResource(t.Name)) {
		return state.Topic{}, errUnknownTopicID
	}
	if !s.allowed(r, op, topicResource(t.Name)) {
		return state.Topic{}, errTopicAuthorizationFailed
	}
	return t, errNone
}
