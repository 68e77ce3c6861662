package kafka

import (
	"context"

	"millrace/server/auth"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// listPartitionReassignments serves ListPartitionReassignments 0: there is never one.
func (s *Server) listPartitionReassignments(_ context.Context, r *request) (kmsg.Response, error) {
	resp := r.body.ResponseKind().(*kmsg.ListPartitionReassignmentsResponse)
	if !s.allowed(r, auth.Describe, clusterResource) {
		resp.ErrorCode = errClusterAuthorizationFailed
	}
	return resp, nil
}
