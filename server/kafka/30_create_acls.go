package kafka

import (
	"context"
	"strings"

	"millrace/server/auth"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// createACLs serves CreateAcls 1–3, each for itself; one that exists is no error.
func (s *Server) createACLs(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.CreateACLsRequest)
	resp := req.ResponseKind().(*kmsg.CreateACLsResponse)
	may := s.allowed(r, auth.Alter, clusterResource)
	for i := range req.Creations {
		err := error(adminErrorf(errClusterAuthorizationFailed, "Cluster authorization failed."))
		if may {
			err = s.createACL(ctx, &req.Creations[i])
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		result := kmsg.NewCreateACLsResponseResult()
		result.ErrorCode, result.ErrorMessage = s.describeError(err)
		resp.Results = append(resp.Results, result)
	}
	return resp, nil
}

func (s *Server) createACL(ctx context.Context, c *kmsg.CreateACLsRequestCreation) error {
	a := auth.ACL{Principal: c.Principal, Host: c.Host, Name: c.ResourceName}
	var ok bool
	if a.Type, ok = aclTypes[c.ResourceType]; !ok {
		if c.ResourceType == kmsg.ACLResourceTypeDelegationToken {
			return adminErrorf(errInvalidRequest, "There are no delegation tokens.")
		}
		return adminErrorf(errInvalidRequest, "Invalid resource type %d.", c.ResourceType)
	}
	if a.Operation, ok = aclOperations[c.Operation]; !ok {
		return adminErrorf(errInvalidRequest, "Invalid operation %d.", c.Operation)
	}
	switch c.PermissionType {
	case kmsg.ACLPermissionTypeAllow:
	case kmsg.ACLPermissionTypeDeny:
		a.Deny = true
	default:
		return adminErrorf(errInvalidRequest, "Invalid permission type %d.", c.PermissionType)
	}
	switch c.ResourcePatternType {
	case kmsg.ACLResourcePatternTypeLiteral:
	case kmsg.ACLResourcePatternTypePrefixed:
		a.Prefixed = true
	default:
		return adminErrorf(errInvalidRequest, "Invalid pattern type %d.", c.ResourcePatternType)
	}
	if !strings.Contains(c.Principal, ":") {
		return adminErrorf(errInvalidRequest, "The principal %q is not of the form Type:name.", cut(c.Principal))
	}
	defer waiting(ctx)()
	return aclFault(s.o.Auth.AddACL(ctx, a))
}
