package access

import (
	"context"
	"strings"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/server/kafka/rarelog"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// CreateACLs serves CreateAcls 1–3, each for itself; one that exists is no error.
func (h *Handlers) CreateACLs(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.CreateACLsRequest)
	resp := req.ResponseKind().(*kmsg.CreateACLsResponse)
	may := h.Allowed(r, auth.Alter, api.ClusterResource)
	for i := range req.Creations {
		err := error(kafkaerr.Faultf(kafkaerr.ClusterAuthorizationFailed, "Cluster authorization failed."))
		if may {
			err = h.createACL(ctx, &req.Creations[i])
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		result := kmsg.NewCreateACLsResponseResult()
		result.ErrorCode, result.ErrorMessage = h.Fault(err)
		resp.Results = append(resp.Results, result)
	}
	return resp, nil
}

func (h *Handlers) createACL(ctx context.Context, c *kmsg.CreateACLsRequestCreation) error {
	a := auth.ACL{Principal: c.Principal, Host: c.Host, Name: c.ResourceName}
	var ok bool
	if a.Type, ok = aclTypes[c.ResourceType]; !ok {
		if c.ResourceType == kmsg.ACLResourceTypeDelegationToken {
			return kafkaerr.Faultf(kafkaerr.InvalidRequest, "There are no delegation tokens.")
		}
		return kafkaerr.Faultf(kafkaerr.InvalidRequest, "Invalid resource type %d.", c.ResourceType)
	}
	if a.Operation, ok = aclOperations[c.Operation]; !ok {
		return kafkaerr.Faultf(kafkaerr.InvalidRequest, "Invalid operation %d.", c.Operation)
	}
	switch c.PermissionType {
	case kmsg.ACLPermissionTypeAllow:
	case kmsg.ACLPermissionTypeDeny:
		a.Deny = true
	default:
		return kafkaerr.Faultf(kafkaerr.InvalidRequest, "Invalid permission type %d.", c.PermissionType)
	}
	switch c.ResourcePatternType {
	case kmsg.ACLResourcePatternTypeLiteral:
	case kmsg.ACLResourcePatternTypePrefixed:
		a.Prefixed = true
	default:
		return kafkaerr.Faultf(kafkaerr.InvalidRequest, "Invalid pattern type %d.", c.ResourcePatternType)
	}
	if !strings.Contains(c.Principal, ":") {
		return kafkaerr.Faultf(kafkaerr.InvalidRequest, "The principal %q is not of the form Type:name.", rarelog.Cut(c.Principal))
	}
	defer api.Waiting(ctx)()
	return aclFault(h.Auth.AddACL(ctx, a))
}
