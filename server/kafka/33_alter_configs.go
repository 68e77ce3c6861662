package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// alterConfigs serves AlterConfigs 0–2, which replaces all explicitly set configs.
func (s *Server) alterConfigs(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.AlterConfigsRequest)
	resp := req.ResponseKind().(*kmsg.AlterConfigsResponse)
	times := map[configResource]int{}
	for _, res := range req.Resources {
		times[configResource{res.ResourceType, res.ResourceName}]++
	}
	for _, res := range req.Resources {
		var err error
		if times[configResource{res.ResourceType, res.ResourceName}] > 1 {
			err = errDuplicateConfigResource
		} else {
			err = s.alterConfigsOf(ctx, r, res.ResourceType, res.ResourceName, req.ValidateOnly,
				func(map[string]string) (map[string]string, error) { return replacementConfigs(res.Configs) })
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		rr := kmsg.NewAlterConfigsResponseResource()
		rr.ResourceType, rr.ResourceName = res.ResourceType, res.ResourceName
		rr.ErrorCode, rr.ErrorMessage = s.describeError(err)
		resp.Resources = append(resp.Resources, rr)
	}
	return resp, nil
}

func replacementConfigs(list []kmsg.AlterConfigsRequestResourceConfig) (map[string]string, error) {
	configs := make(map[string]string, len(list))
	for _, c := range list {
		if _, twice := configs[c.Name]; twice {
			return nil, adminErrorf(errInvalidRequest, "Error due to duplicate config keys: %s", c.Name)
		}
		if c.Value == nil {
			return nil, adminErrorf(errInvalidConfig, "Null value not supported for: %s", c.Name)
		}
		configs[c.Name] = *c.Value
	}
	return configs, nil
}
