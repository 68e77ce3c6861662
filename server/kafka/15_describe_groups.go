package kafka

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/group"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// notAskedOperations is the value of an authorised-operations field that was not asked for.
const notAskedOperations int32 = -1 << 31

// describeGroups serves DescribeGroups 0–6: an unknown group is a dead one, and from 6
// on an error.
func (s *Server) describeGroups(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.DescribeGroupsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeGroupsResponse)
	for _, name := range req.Groups {
		g := kmsg.NewDescribeGroupsResponseGroup()
		g.Group = name
		g.AuthorizedOperations = notAskedOperations
		if !s.allowed(r, auth.Describe, groupResource(name)) {
			g.ErrorCode = errGroupAuthorizationFailed
			resp.Groups = append(resp.Groups, g)
			continue
		}
		if req.IncludeAuthorizedOperations {
			g.AuthorizedOperations = s.authorizedOperations(r, groupResource(name))
		}
		d, ok := s.o.Admin.Groups.Describe(name)
		if !ok {
			g.State = group.Dead.String()
			if req.Version >= 6 {
				g.ErrorCode = errGroupIDNotFound
				g.ErrorMessage = nullable("Group " + name + " not found.")
			}
			resp.Groups = append(resp.Groups, g)
			continue
		}
		g.State, g.ProtocolType, g.Protocol = d.State.String(), d.ProtocolType, d.Protocol
		for _, m := range d.Members {
			gm := kmsg.NewDescribeGroupsResponseGroupMember()
			gm.MemberID, gm.InstanceID, gm.ClientID, gm.ClientHost = m.ID, nullable(m.InstanceID), m.ClientID, m.ClientHost
			gm.ProtocolMetadata, gm.MemberAssignment = m.Metadata, m.Assignment
			g.Members = append(g.Members, gm)
		}
		resp.Groups = append(resp.Groups, g)
	}
	return resp, nil
}
