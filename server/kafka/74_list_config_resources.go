package kafka

import (
	"context"
	"slices"
	"strconv"

	"millrace/server/auth"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Resource types that have no name in kmsg's enum or none here.
const (
	configResourceClientMetrics = 16
	configResourceGroup         = 32
)

// listConfigResources serves ListConfigResources 0–1. Version 0 asks for client
// metrics subscriptions, of which there are none.
func (s *Server) listConfigResources(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.ListConfigResourcesRequest)
	resp := req.ResponseKind().(*kmsg.ListConfigResourcesResponse)
	if !s.allowed(r, auth.DescribeConfigs, clusterResource) {
		resp.ErrorCode = errClusterAuthorizationFailed
		return resp, nil
	}
	if r.version == 0 {
		return resp, nil
	}
	for _, t := range req.ResourceTypes {
		switch t {
		case int8(kmsg.ConfigResourceTypeTopic), int8(kmsg.ConfigResourceTypeBroker), int8(kmsg.ConfigResourceTypeBrokerLogger), configResourceClientMetrics, configResourceGroup:
		default:
			resp.ErrorCode = errUnsupportedVersion // as Kafka answers a type that it does not know
			return resp, nil
		}
	}
	add := func(t kmsg.ConfigResourceType, name string) {
		res := kmsg.NewListConfigResourcesResponseConfigResource()
		res.Type, res.Name = int8(t), name
		resp.ConfigResources = append(resp.ConfigResources, res)
	}
	wanted := func(t kmsg.ConfigResourceType) bool {
		return len(req.ResourceTypes) == 0 || slices.Contains(req.ResourceTypes, int8(t))
	}
	if wanted(kmsg.ConfigResourceTypeTopic) {
		for _, t := range s.o.Store.Topics().All() {
			add(kmsg.ConfigResourceTypeTopic, t.Name)
		}
	}
	if wanted(kmsg.ConfigResourceTypeBroker) {
		add(kmsg.ConfigResourceTypeBroker, strconv.Itoa(int(s.o.NodeID)))
	}
	if wanted(configResourceTypeGroup) {
		for _, name := range s.groupConfig.Groups() {
			add(configResourceTypeGroup, name)
		}
	}
	return resp, nil
}
