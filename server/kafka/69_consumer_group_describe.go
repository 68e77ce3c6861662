package kafka

import (
	"context"

	"millrace/server/auth"
	"millrace/store"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Types of members, by the protocol that they speak.
const (
	classicProtocolMember  int8 = 0
	consumerProtocolMember int8 = 1
)

// consumerGroupDescribe serves ConsumerGroupDescribe 0–1. A group that reads a topic which the
// principal may not see is not shown at all, as in Kafka.
func (s *Server) consumerGroupDescribe(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.ConsumerGroupDescribeRequest)
	resp := req.ResponseKind().(*kmsg.ConsumerGroupDescribeResponse)
	for _, name := range req.Groups {
		resp.Groups = append(resp.Groups, s.describeConsumerGroup(r, name, req.IncludeAuthorizedOperations))
	}
	return resp, nil
}

func (s *Server) describeConsumerGroup(r *request, name string, operations bool) kmsg.ConsumerGroupDescribeResponseGroup {
	g := kmsg.NewConsumerGroupDescribeResponseGroup()
	g.Group = name
	if !s.allowed(r, auth.Describe, groupResource(name)) {
		g.ErrorCode = errGroupAuthorizationFailed
		return g
	}
	if name == "" {
		g.ErrorCode = errInvalidGroupID
		return g
	}
	d, err := s.o.Admin.Groups.DescribeConsumer(name)
	if err != nil {
		g.ErrorCode = s.consumerCode(err)
		g.ErrorMessage = nullable("Group " + name + ": " + err.Error() + ".")
		return g
	}
	topics := s.o.Store.Topics()
	for _, m := range d.Members {
		for _, topic := range m.Topics {
			if !s.allowed(r, auth.Describe, topicResource(topic)) {
				g.Members, g.ErrorCode = nil, errTopicAuthorizationFailed
				return g
			}
		}
		gm := kmsg.NewConsumerGroupDescribeResponseGroupMember()
		gm.MemberID, gm.InstanceID, gm.RackID, gm.MemberEpoch = m.ID, nullable(m.InstanceID), nullable(m.RackID), m.Epoch
		gm.ClientID, gm.ClientHost = m.ClientID, m.ClientHost
		gm.SubscribedTopics, gm.SubscribedTopicRegex = m.Topics, nullable(m.Regex)
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
			if !s.describeAssignment(r, topics, of.to, of.from) {
				g.Members, g.ErrorCode = nil, errTopicAuthorizationFailed
				return g
			}
		}
		g.Members = append(g.Members, gm)
	}
	g.State, g.Epoch, g.AssignmentEpoch, g.AssignorName = d.State.String(), d.Epoch, d.AssignmentEpoch, d.Assignor
	if operations {
		g.AuthorizedOperations = s.authorizedOperations(r, groupResource(name))
	}
	return g
}

// describeAssignment leaves out topics deleted since; false: one of the topics may not be seen.
func (s *Server) describeAssignment(r *request, topics *store.TopicSet, to *kmsg.Assignment, from []state.TopicPartition) bool {
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
		if !s.allowed(r, auth.Describe, topicResource(topic.Name)) {
			return false
		}
		t := kmsg.NewAssignmentTopicPartition()
		t.TopicID, t.Topic, t.Partitions = tp.Topic, topic.Name, []int32{tp.Partition}
		to.TopicPartitions = append(to.TopicPartitions, t)
	}
	return true
}
