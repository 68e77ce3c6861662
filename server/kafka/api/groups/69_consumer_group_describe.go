package groups

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/store"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Types of members, by the protocol that they speak.
const (
	classicProtocolMember  int8 = 0
	consumerProtocolMember int8 = 1
)

// ConsumerGroupDescribe serves ConsumerGroupDescribe 0–1. A group that reads a topic which the
// principal may not see is not shown at all, as in Kafka.
func (h *Handlers) ConsumerGroupDescribe(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.ConsumerGroupDescribeRequest)
	resp := req.ResponseKind().(*kmsg.ConsumerGroupDescribeResponse)
	for _, name := range req.Groups {
		resp.Groups = append(resp.Groups, h.describeConsumerGroup(r, name, req.IncludeAuthorizedOperations))
	}
	return resp, nil
}

func (h *Handlers) describeConsumerGroup(r *api.Request, name string, operations bool) kmsg.ConsumerGroupDescribeResponseGroup {
	g := kmsg.NewConsumerGroupDescribeResponseGroup()
	g.Group = name
	if !h.Allowed(r, auth.Describe, api.GroupResource(name)) {
		g.ErrorCode = kafkaerr.GroupAuthorizationFailed
		return g
	}
	if name == "" {
		g.ErrorCode = kafkaerr.InvalidGroupID
		return g
	}
	d, err := h.Groups.DescribeConsumer(name)
	if err != nil {
		g.ErrorCode = h.consumerCode(err)
		g.ErrorMessage = api.Nullable("Group " + name + ": " + err.Error() + ".")
		return g
	}
	topics := h.Store.Topics()
	for _, m := range d.Members {
		for _, topic := range m.Topics {
			if !h.Allowed(r, auth.Describe, api.TopicResource(topic)) {
				g.Members, g.ErrorCode = nil, kafkaerr.TopicAuthorizationFailed
				return g
			}
		}
		gm := kmsg.NewConsumerGroupDescribeResponseGroupMember()
		gm.MemberID, gm.InstanceID, gm.RackID, gm.MemberEpoch = m.ID, api.Nullable(m.InstanceID), api.Nullable(m.RackID), m.Epoch
		gm.ClientID, gm.ClientHost = m.ClientID, m.ClientHost
		gm.SubscribedTopics, gm.SubscribedTopicRegex = m.Topics, api.Nullable(m.Regex)
		if gm.SubscribedTopics == nil {
			gm.SubscribedTopics = []string{}
		}
		if gm.MemberType = consumerProtocolMember; m.Classic {
			gm.MemberType = classicProtocolMember
		}
		for _, of := range []struct {
			to   *kmsg.Assignment
			from []state.TopicPartition
		}{{&gm.Assignment, m.Assignment}, {&gm.TargetAssignment, m.Target}} {
			if !h.describeAssignment(r, topics, of.to, of.from) {
				g.Members, g.ErrorCode = nil, kafkaerr.TopicAuthorizationFailed
				return g
			}
		}
		g.Members = append(g.Members, gm)
	}
	g.State, g.Epoch, g.AssignmentEpoch, g.AssignorName = d.State.String(), d.Epoch, d.AssignmentEpoch, d.Assignor
	if operations {
		g.AuthorizedOperations = h.AuthorizedOperations(r, api.GroupResource(name))
	}
	return g
}

// describeAssignment leaves out topics deleted since; false: one of the topics may not be seen.
func (h *Handlers) describeAssignment(r *api.Request, topics *store.TopicSet, to *kmsg.Assignment, from []state.TopicPartition) bool {
	to.TopicPartitions = []kmsg.AssignmentTopicPartition{}
	for _, tp := range from {
		n := len(to.TopicPartitions)
		if n > 0 && to.TopicPartitions[n-1].TopicID == tp.Topic {
			to.TopicPartitions[n-1].Partitions = append(to.TopicPartitions[n-1].Partitions, tp.Partition)
			continue
		}
		topic, ok := topics.ByID(tp.Topic)
		if !ok {
			continue
		}
		if !h.Allowed(r, auth.Describe, api.TopicResource(topic.Name)) {
			return false
		}
		t := kmsg.NewAssignmentTopicPartition()
		t.TopicID, t.Topic, t.Partitions = tp.Topic, topic.Name, []int32{tp.Partition}
		to.TopicPartitions = append(to.TopicPartitions, t)
	}
	return true
}
