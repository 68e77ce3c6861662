package topics

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ListPartitionReassignments serves ListPartitionReassignments 0: there is never one.
func (h *Handlers) ListPartitionReassignments(_ context.Context, r *api.Request) (kmsg.Response, error) {
	resp := r.Body.ResponseKind().(*kmsg.ListPartitionReassignmentsResponse)
	if !h.Allowed(r, auth.Describe, api.ClusterResource) {
		resp.ErrorCode = kafkaerr.ClusterAuthorizationFailed
	}
	return resp, nil
}
