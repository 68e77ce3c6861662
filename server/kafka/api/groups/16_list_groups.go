package groups

import (
	"context"
	"slices"
	"strings"

	"millrace/server/auth"
	"millrace/server/kafka/api"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The types of the groups of the group coordinator.
const (
	classicGroupType  = "classic"
	consumerGroupType = "consumer"
)

// ListGroups serves ListGroups 0–5: filters by state from 4 on, by type from 5 on.
func (h *Handlers) ListGroups(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.ListGroupsRequest)
	resp := req.ResponseKind().(*kmsg.ListGroupsResponse)
	all := h.Allowed(r, auth.Describe, api.ClusterResource)
	for _, g := range h.Groups.List() {
		kind := classicGroupType
		if g.Consumer {
			kind = consumerGroupType
		}
		if !passes(req.TypesFilter, kind) {
			continue
		}
		state := g.State.String()
		if !passes(req.StatesFilter, state) || (!all && !h.Allowed(r, auth.Describe, api.GroupResource(g.Group))) {
			continue
		}
		rg := kmsg.NewListGroupsResponseGroup()
		rg.Group, rg.ProtocolType, rg.GroupState, rg.GroupType = g.Group, g.ProtocolType, state, kind
		resp.Groups = append(resp.Groups, rg)
	}
	if h.Shares != nil && passes(req.TypesFilter, shareGroupType) {
		for _, g := range h.Shares.List() {
			if !passes(req.StatesFilter, g.State) || (!all && !h.Allowed(r, auth.Describe, api.GroupResource(g.Group))) {
				continue
			}
			rg := kmsg.NewListGroupsResponseGroup()
			rg.Group, rg.ProtocolType, rg.GroupState, rg.GroupType = g.Group, shareGroupType, g.State, shareGroupType
			resp.Groups = append(resp.Groups, rg)
		}
	}
	return resp, nil
}

// shareGroupType is the type of share groups, and their protocol's.
const shareGroupType = "share"

// passes: an empty filter lets everything through; case does not matter.
func passes(filter []string, value string) bool {
	return len(filter) == 0 || slices.ContainsFunc(filter, func(f string) bool { return strings.EqualFold(f, value) })
}
