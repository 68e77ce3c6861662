package api

import (
	"errors"

	"millrace/server/auth"
	"millrace/server/kafka/kafkaerr"
	"millrace/store"
	"millrace/store/state"
)

// TopicRef is a topic as a request names it: by name, or by id from some version on.
type TopicRef struct {
	Name string
	ID   state.TopicID
}

// Resolve finds the topic and checks that the principal may do op with it. The code
// is None, or why not; an id that the principal may not see is unknown to it.
func (n *Node) Resolve(r *Request, topics *store.TopicSet, ref TopicRef, byID bool, op auth.Operation) (state.Topic, int16) {
	if !byID {
		if !n.Allowed(r, op, TopicResource(ref.Name)) {
			return state.Topic{}, kafkaerr.TopicAuthorizationFailed
		}
		t, ok := topics.ByName(ref.Name)
		if !ok {
			return state.Topic{}, kafkaerr.UnknownTopicOrPartition
		}
		return t, kafkaerr.None
	}
	t, ok := topics.ByID(ref.ID)
	if !ok || !n.Allowed(r, auth.Describe, TopicResource(t.Name)) {
		return state.Topic{}, kafkaerr.UnknownTopicID
	}
	if !n.Allowed(r, op, TopicResource(t.Name)) {
		return state.Topic{}, kafkaerr.TopicAuthorizationFailed
	}
	return t, kafkaerr.None
}

// InternalTopic says whether name is one that Kafka's clients take for the broker's own.
func InternalTopic(name string) bool {
	return name == "__consumer_offsets" || name == "__transaction_state"
}

// TopicOf unpacks the answer to an intent about a topic.
func TopicOf(a Answer[any]) (state.Topic, error) {
	if a.Err != nil {
		return state.Topic{}, a.Err
	}
	result := a.Value.(state.TopicResult)
	if errors.Is(result.Err, state.ErrTopicExists) && result.Topic.Name != "" {
		return result.Topic, kafkaerr.Faultf(kafkaerr.TopicAlreadyExists, "Topic '%s' already exists.", result.Topic.Name)
	}
	return result.Topic, result.Err
}

// LeaderEpoch is the one epoch there is: one node leads everything, and never ceases to.
const LeaderEpoch = 0

// CheckLeaderEpoch holds the epoch under which a client believes the leader leads
// (−1: it does not say) against the one there is.
func CheckLeaderEpoch(epoch int32) int16 {
	switch {
	case epoch > LeaderEpoch:
		return kafkaerr.UnknownLeaderEpoch
	case epoch >= 0 && epoch < LeaderEpoch:
		return kafkaerr.FencedLeaderEpoch
	}
	return kafkaerr.None
}

// TopicNamed is the name of the topic with that id, or the id.
func (n *Node) TopicNamed(id state.TopicID) string {
	if t, ok := n.Store.Topics().ByID(id); ok {
		return t.Name
	}
	return id.String()
}
