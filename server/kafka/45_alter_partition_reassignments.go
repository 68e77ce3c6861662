package kafka

import (
	"context"

	"millrace/server/auth"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// alterPartitionReassignments serves AlterPartitionReassignments 0–1: a partition can be
// assigned to this node, where it is, and to nothing else; there is never one to cancel.
func (s *Server) alterPartitionReassignments(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.AlterPartitionAssignmentsRequest)
	resp := req.ResponseKind().(*kmsg.AlterPartitionAssignmentsResponse)
	resp.AllowReplicationFactorChange = req.AllowReplicationFactorChange
	if !s.allowed(r, auth.Alter, clusterResource) {
		resp.ErrorCode = errClusterAuthorizationFailed
		return resp, nil
	}
	topics := s.o.Store.Topics()
	for _, t := range req.Topics {
		rt := kmsg.NewAlterPartitionAssignmentsResponseTopic()
		rt.Topic = t.Topic
		topic, known := topics.ByName(t.Topic)
		for _, p := range t.Partitions {
			rp := kmsg.NewAlterPartitionAssignmentsResponseTopicPartition()
			rp.Partition = p.Partition
			var err error
			switch {
			case !known || p.Partition < 0 || p.Partition >= topic.Partitions:
				err = adminErrorf(errUnknownTopicOrPartition, "The partition does not exist.")
			case p.Replicas == nil:
				err = adminErrorf(errNoReassignmentInProgress, "No partition reassignment is in progress.")
			default:
				if fault := s.checkReplicas(p.Partition, p.Replicas); fault != nil {
					err = fault // a nil one would be no nil error
				}
			}
			rp.ErrorCode, rp.ErrorMessage = s.describeError(err)
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp, nil
}
