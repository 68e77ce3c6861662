package groups

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/group"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeGroups serves DescribeGroups 0–6: an unknown group is a dead one, and from 6
// on an error.
func (h *Handlers) DescribeGroups(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.DescribeGroupsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeGroupsResponse)
	for _, name := range req.Groups {
		g := kmsg.NewDescribeGroupsResponseGroup()
		g.Group = name
		g.AuthorizedOperations = api.NotAskedOperations
		if !h.Allowed(r, auth.Describe, api.GroupResource(name)) {
			g.ErrorCode = kafkaerr.GroupAuthorizationFailed
			resp.Groups = append(resp.Groups, g)
			continue
		}
		if req.IncludeAuthorizedOperations {
			g.AuthorizedOperations = h.AuthorizedOperations(r, api.GroupResource(name))
		}
		d, ok := h.Groups.Describe(name)
		if !ok {
			g.State = group.Dead.String()
			if req.Version >= 6 {
				g.ErrorCode = kafkaerr.GroupIDNotFound
				g.ErrorMessage = api.Nullable("Group " + name + " not found.")
			}
			resp.Groups = append(resp.Groups, g)
			continue
		}
		g.State, g.ProtocolType, g.Protocol = d.State.String(), d.ProtocolType, d.Protocol
		for _, m := range d.Members {
			gm := kmsg.NewDescribeGroupsResponseGroupMember()
			gm.MemberID, gm.InstanceID, gm.ClientID, gm.ClientHost = m.ID, api.Nullable(m.InstanceID), m.ClientID, m.ClientHost
			gm.ProtocolMetadata, gm.MemberAssignment = m.Metadata, m.Assignment
			g.Members = append(g.Members, gm)
		}
		resp.Groups = append(resp.Groups, g)
	}
	return resp, nil
}
