package configs

import (
	"context"

	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AlterConfigs serves AlterConfigs 0–2, which replaces all explicitly set configs.
func (h *Handlers) AlterConfigs(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.AlterConfigsRequest)
	resp := req.ResponseKind().(*kmsg.AlterConfigsResponse)
	resources := make([]configResource, len(req.Resources))
	for i, res := range req.Resources {
		resources[i] = configResource{res.ResourceType, res.ResourceName}
	}
	err := h.alterResources(ctx, r, resources, req.ValidateOnly,
		func(i int, _ map[string]string) (map[string]string, error) {
			return replacementConfigs(req.Resources[i].Configs)
		},
		func(i int, code int16, message *string) {
			rr := kmsg.NewAlterConfigsResponseResource()
			rr.ResourceType, rr.ResourceName, rr.ErrorCode, rr.ErrorMessage = resources[i].kind, resources[i].name, code, message
			resp.Resources = append(resp.Resources, rr)
		})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

func replacementConfigs(list []kmsg.AlterConfigsRequestResourceConfig) (map[string]string, error) {
	configs := make(map[string]string, len(list))
	for _, c := range list {
		if _, twice := configs[c.Name]; twice {
			return nil, kafkaerr.Faultf(kafkaerr.InvalidRequest, "Error due to duplicate config keys: %s", c.Name)
		}
		if c.Value == nil {
			return nil, kafkaerr.Faultf(kafkaerr.InvalidRequest, "Null value not supported for: %s", c.Name)
		}
		configs[c.Name] = *c.Value
	}
	return configs, nil
}
