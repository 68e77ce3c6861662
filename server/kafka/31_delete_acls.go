package kafka

import (
	"context"

	"millrace/server/auth"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// deleteACLs serves DeleteAcls 1–3: whatever the filters match.
func (s *Server) deleteACLs(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.DeleteACLsRequest)
	resp := req.ResponseKind().(*kmsg.DeleteACLsResponse)
	may := s.allowed(r, auth.Alter, clusterResource)
	for _, asked := range req.Filters {
		result := kmsg.NewDeleteACLsResponseResult()
		f, matchable, err := aclFilter{
			asked.ResourceType, asked.ResourceName, asked.ResourcePatternType, asked.Principal, asked.Host, asked.Operation, asked.PermissionType,
		}.filter()
		if !may {
			err = adminErrorf(errClusterAuthorizationFailed, "Cluster authorization failed.")
		}
		if err == nil && matchable {
			if result.MatchingACLs, err = s.removeACLs(ctx, &f); err != nil {
				return nil, err
			}
		}
		result.ErrorCode, result.ErrorMessage = s.describeError(err)
		resp.Results = append(resp.Results, result)
	}
	return resp, nil
}

// removeACLs removes what f matches; one that cannot be removed carries its own error.
func (s *Server) removeACLs(ctx context.Context, f *auth.ACLFilter) ([]kmsg.DeleteACLsResponseResultMatchingACL, error) {
	defer waiting(ctx)()
	var removed []kmsg.DeleteACLsResponseResultMatchingACL
	for _, a := range s.o.Auth.ACLs() {
		if !f.Matches(a) {
			continue
		}
		was, err := s.o.Auth.RemoveACL(ctx, a)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil && !was {
			continue // somebody else was faster
		}
		m := kmsg.NewDeleteACLsResponseResultMatchingACL()
		m.ErrorCode, m.ErrorMessage = s.describeError(err)
		m.ResourceType, m.ResourceName, m.ResourcePatternType = kafkaACLType(a.Type), a.Name, kafkaACLPattern(a)
		m.Principal, m.Host, m.Operation, m.PermissionType = a.Principal, a.Host, kafkaACLOperation(a.Operation), kafkaACLPermission(a)
		removed = append(removed, m)
	}
	return removed, nil
}
