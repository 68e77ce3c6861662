package topics

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AlterPartitionReassignments serves AlterPartitionReassignments 0–1: a partition can be
// assigned to this node, where it is, and to nothing else; there is never one to cancel.
func (h *Handlers) AlterPartitionReassignments(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.AlterPartitionAssignmentsRequest)
	resp := req.ResponseKind().(*kmsg.AlterPartitionAssignmentsResponse)
	resp.AllowReplicationFactorChange = req.AllowReplicationFactorChange
	if !h.Allowed(r, auth.Alter, api.ClusterResource) {
		resp.ErrorCode = kafkaerr.ClusterAuthorizationFailed
		return resp, nil
	}
	topics := h.Store.Topics()
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
				err = kafkaerr.Faultf(kafkaerr.UnknownTopicOrPartition, "The partition does not exist.")
			case p.Replicas == nil:
				err = kafkaerr.Faultf(kafkaerr.NoReassignmentInProgress, "No partition reassignment is in progress.")
			default:
				if fault := h.checkReplicas(p.Partition, p.Replicas); fault != nil {
					err = fault // a nil one would be no nil error
				}
			}
			rp.ErrorCode, rp.ErrorMessage = h.Fault(err)
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp, nil
}
