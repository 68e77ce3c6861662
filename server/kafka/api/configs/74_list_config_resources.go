package configs

import (
	"context"
	"slices"
	"strconv"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Resource types that have no name in kmsg's enum or none here.
const (
	configResourceClientMetrics = 16
	configResourceGroup         = 32
)

// ListConfigResources serves ListConfigResources 0–1. Version 0 asks for client
// metrics subscriptions, of which there are none.
func (h *Handlers) ListConfigResources(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.ListConfigResourcesRequest)
	resp := req.ResponseKind().(*kmsg.ListConfigResourcesResponse)
	if !h.Allowed(r, auth.DescribeConfigs, api.ClusterResource) {
		resp.ErrorCode = kafkaerr.ClusterAuthorizationFailed
		return resp, nil
	}
	if r.Version == 0 {
		return resp, nil
	}
	for _, t := range req.ResourceTypes {
		switch t {
		case int8(kmsg.ConfigResourceTypeTopic), int8(kmsg.ConfigResourceTypeBroker), int8(kmsg.ConfigResourceTypeBrokerLogger), configResourceClientMetrics, configResourceGroup:
		default:
			resp.ErrorCode = kafkaerr.UnsupportedVersion // as Kafka answers a type that it does not know
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
		for _, t := range h.Store.Topics().All() {
			add(kmsg.ConfigResourceTypeTopic, t.Name)
		}
	}
	if wanted(kmsg.ConfigResourceTypeBroker) {
		add(kmsg.ConfigResourceTypeBroker, strconv.Itoa(int(h.NodeID)))
	}
	if wanted(configResourceTypeGroup) {
		for _, name := range h.GroupConfig.Groups() {
			add(configResourceTypeGroup, name)
		}
	}
	return resp, nil
}
