package kafka

import (
	"context"

	"millrace/server/auth"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// shareGroupDescribe serves ShareGroupDescribe 1. A group that holds a topic which the
// principal may not see is not shown at all, as in Kafka.
func (s *Server) shareGroupDescribe(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.ShareGroupDescribeRequest)
	resp := req.ResponseKind().(*kmsg.ShareGroupDescribeResponse)
	for _, name := range req.GroupIDs {
		resp.Groups = append(resp.Groups, s.describeShareGroup(r, name, req.IncludeAuthorizedOperations))
	}
	return resp, nil
}

func (s *Server) describeShareGroup(r *request, name string, operations bool) kmsg.ShareGroupDescribeResponseGroup {
	g := kmsg.NewShareGroupDescribeResponseGroup()
	g.GroupID = name
	g.AuthorizedOperations = notAskedOperations
	if !s.allowed(r, auth.Describe, groupResource(name)) {
		g.ErrorCode = errGroupAuthorizationFailed
		return g
	}
	if name == "" {
		g.ErrorCode = errInvalidGroupID
		return g
	}
	d, ok := s.o.Admin.Share.Describe(name)
	if !ok {
		g.ErrorCode = errGroupIDNotFound
		g.ErrorMessage = nullable("Group " + name + " not found.")
		return g
	}
	topics := s.o.Store.Topics()
	for _, m := range d.Members {
		gm := kmsg.NewShareGroupDescribeResponseGroupMember()
		gm.MemberID, gm.RackID, gm.MemberEpoch = m.ID, nullable(m.Rack), m.Epoch
		gm.ClientID, gm.ClientHost, gm.SubscribedTopicNames = m.ClientID, m.ClientHost, m.Topics
		for _, a := range m.Assignment {
			topic, ok := topics.ByID(a.Topic)
			if !ok {
				continue // deleted since
			}
			if !s.allowed(r, auth.Describe, topicResource(topic.Name)) {
				g.Members = nil
				g.ErrorCode = errTopicAuthorizationFailed
				return g
			}
			tp := kmsg.NewShareGroupDescribeResponseGroupMemberAssignmentTopicPartition()
			tp.TopicID, tp.Topic, tp.Partitions = a.Topic, topic.Name, a.Partitions
			gm.Assignment.TopicPartitions = append(gm.Assignment.TopicPartitions, tp)
		}
		g.Members = append(g.Members, gm)
	}
	g.GroupState, g.GroupEpoch, g.AssignmentEpoch, g.Assignor = d.State, d.Epoch, d.Epoch, "simple"
	if operations {
		g.AuthorizedOperations = s.authorizedOperations(r, groupResource(name))
	}
	return g
}
