package access

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DeleteACLs serves DeleteAcls 1–3: whatever the filters match.
func (h *Handlers) DeleteACLs(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.DeleteACLsRequest)
	resp := req.ResponseKind().(*kmsg.DeleteACLsResponse)
	may := h.Allowed(r, auth.Alter, api.ClusterResource)
	for _, asked := range req.Filters {
		result := kmsg.NewDeleteACLsResponseResult()
		f, matchable, err := aclFilter{
			asked.ResourceType, asked.ResourceName, asked.ResourcePatternType, asked.Principal, asked.Host, asked.Operation, asked.PermissionType,
		}.filter()
		if !may {
			err = kafkaerr.Faultf(kafkaerr.ClusterAuthorizationFailed, "Cluster authorization failed.")
		}
		if err == nil && matchable {
			if result.MatchingACLs, err = h.removeACLs(ctx, &f); err != nil {
				return nil, err
			}
		}
		result.ErrorCode, result.ErrorMessage = h.Fault(err)
		resp.Results = append(resp.Results, result)
	}
	return resp, nil
}

// removeACLs removes what f matches; one that cannot be removed carries its own error.
func (h *Handlers) removeACLs(ctx context.Context, f *auth.ACLFilter) ([]kmsg.DeleteACLsResponseResultMatchingACL, error) {
	defer api.Waiting(ctx)()
	var removed []kmsg.DeleteACLsResponseResultMatchingACL
	for _, a := range h.Auth.ACLs() {
		if !f.Matches(a) {
			continue
		}
		was, err := h.Auth.RemoveACL(ctx, a)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil && !was {
			continue // somebody else was faster
		}
		m := kmsg.NewDeleteACLsResponseResultMatchingACL()
		m.ErrorCode, m.ErrorMessage = h.Fault(err)
		m.ResourceType, m.ResourceName, m.ResourcePatternType = kafkaACLType(a.Type), a.Name, kafkaACLPattern(a)
		m.Principal, m.Host, m.Operation, m.PermissionType = a.Principal, a.Host, kafkaACLOperation(a.Operation), kafkaACLPermission(a)
		removed = append(removed, m)
	}
	return removed, nil
}
