package access

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeACLs serves DescribeAcls 1–3.
func (h *Handlers) DescribeACLs(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.DescribeACLsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeACLsResponse)
	if !h.Allowed(r, auth.Describe, api.ClusterResource) {
		resp.ErrorCode = kafkaerr.ClusterAuthorizationFailed
		return resp, nil
	}
	f, matchable, err := aclFilter{
		req.ResourceType, req.ResourceName, req.ResourcePatternType, req.Principal, req.Host, req.Operation, req.PermissionType,
	}.filter()
	if err != nil {
		resp.ErrorCode, resp.ErrorMessage = h.Fault(err)
		return resp, nil
	}
	if !matchable {
		return resp, nil
	}
	for _, a := range h.Auth.ACLs() { // those of a pattern are neighbours
		if !f.Matches(a) {
			continue
		}
		typ, pattern := kafkaACLType(a.Type), kafkaACLPattern(a)
		last := len(resp.Resources) - 1
		if last < 0 || resp.Resources[last].ResourceType != typ || resp.Resources[last].ResourceName != a.Name || resp.Resources[last].ResourcePatternType != pattern {
			res := kmsg.NewDescribeACLsResponseResource()
			res.ResourceType, res.ResourceName, res.ResourcePatternType = typ, a.Name, pattern
			resp.Resources = append(resp.Resources, res)
			last++
		}
		entry := kmsg.NewDescribeACLsResponseResourceACL()
		entry.Principal, entry.Host, entry.Operation, entry.PermissionType = a.Principal, a.Host, kafkaACLOperation(a.Operation), kafkaACLPermission(a)
		resp.Resources[last].ACLs = append(resp.Resources[last].ACLs, entry)
	}
	return resp, nil
}
