package kafka

import (
	"context"

	"millrace/server/auth"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// describeACLs serves DescribeAcls 1–3.
func (s *Server) describeACLs(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.DescribeACLsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeACLsResponse)
	if !s.allowed(r, auth.Describe, clusterResource) {
		resp.ErrorCode = errClusterAuthorizationFailed
		return resp, nil
	}
	f, matchable, err := aclFilter{
		req.ResourceType, req.ResourceName, req.ResourcePatternType, req.Principal, req.Host, req.Operation, req.PermissionType,
	}.filter()
	if err != nil {
		resp.ErrorCode, resp.ErrorMessage = s.describeError(err)
		return resp, nil
	}
	if !matchable {
		return resp, nil
	}
	for _, a := range s.o.Auth.ACLs() { // those of a pattern are neighbours
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
