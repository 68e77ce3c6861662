package shares

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ShareGroupDescribe serves ShareGroupDescribe 1. A group that holds a topic which the
// principal may not see is not shown at all, as in Kafka.
func (h *Handlers) ShareGroupDescribe(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.ShareGroupDescribeRequest)
	resp := req.ResponseKind().(*kmsg.ShareGroupDescribeResponse)
	for _, name := range req.GroupIDs {
		resp.Groups = append(resp.Groups, h.describeShareGroup(r, name, req.IncludeAuthorizedOperations))
	}
	return resp, nil
}

func (h *Handlers) describeShareGroup(r *api.Request, name string, operations bool) kmsg.ShareGroupDescribeResponseGroup {
	g := kmsg.NewShareGroupDescribeResponseGroup()
	g.GroupID = name
	g.AuthorizedOperations = api.NotAskedOperations
	if !h.Allowed(r, auth.Describe, api.GroupResource(name)) {
		g.ErrorCode = kafkaerr.GroupAuthorizationFailed
		return g
	}
	if name == "" {
		g.ErrorCode = kafkaerr.InvalidGroupID
		return g
	}
	d, ok := h.Shares.Describe(name)
	if !ok {
		g.ErrorCode = kafkaerr.GroupIDNotFound
		g.ErrorMessage = api.Nullable("Group " + name + " not found.")
		return g
	}
	topics := h.Store.Topics()
	for _, m := range d.Members {
		gm := kmsg.NewShareGroupDescribeResponseGroupMember()
		gm.MemberID, gm.RackID, gm.MemberEpoch = m.ID, api.Nullable(m.Rack), m.Epoch
		gm.ClientID, gm.ClientHost, gm.SubscribedTopicNames = m.ClientID, m.ClientHost, m.Topics
		for _, a := range m.Assignment {
			topic, ok := topics.ByID(a.Topic)
			if !ok {
				continue // deleted since
			}
			if !h.Allowed(r, auth.Describe, api.TopicResource(topic.Name)) {
				g.Members = nil
				g.ErrorCode = kafkaerr.TopicAuthorizationFailed
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
		g.AuthorizedOperations = h.AuthorizedOperations(r, api.GroupResource(name))
	}
	return g
}
