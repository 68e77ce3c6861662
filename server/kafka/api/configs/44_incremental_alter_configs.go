package configs

import (
	"context"
	"maps"
	"slices"
	"strings"

	"millrace/internal/topicconfig"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// IncrementalAlterConfigs serves IncrementalAlterConfigs 0–1.
func (h *Handlers) IncrementalAlterConfigs(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.IncrementalAlterConfigsRequest)
	resp := req.ResponseKind().(*kmsg.IncrementalAlterConfigsResponse)
	resources := make([]configResource, len(req.Resources))
	for i, res := range req.Resources {
		resources[i] = configResource{res.ResourceType, res.ResourceName}
	}
	err := h.alterResources(ctx, r, resources, req.ValidateOnly,
		func(i int, present map[string]string) (map[string]string, error) {
			return changedConfigs(present, req.Resources[i].Configs)
		},
		func(i int, code int16, message *string) {
			rr := kmsg.NewIncrementalAlterConfigsResponseResource()
			rr.ResourceType, rr.ResourceName, rr.ErrorCode, rr.ErrorMessage = resources[i].kind, resources[i].name, code, message
			resp.Resources = append(resp.Resources, rr)
		})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// changedConfigs applies the operations to the explicitly set configs. Append and
// subtract start from the default where nothing is set.
func changedConfigs(present map[string]string, ops []kmsg.IncrementalAlterConfigsRequestResourceConfig) (map[string]string, error) {
	configs := maps.Clone(present)
	if configs == nil {
		configs = map[string]string{}
	}
	seen := map[string]bool{}
	for _, c := range ops {
		if seen[c.Name] {
			return nil, kafkaerr.Faultf(kafkaerr.InvalidRequest, "Error due to duplicate config keys: %s", c.Name)
		}
		seen[c.Name] = true
		if c.Op != kmsg.IncrementalAlterConfigOpDelete && c.Value == nil {
			return nil, kafkaerr.Faultf(kafkaerr.InvalidRequest, "Null value not supported for : %s", c.Name)
		}
		switch c.Op {
		case kmsg.IncrementalAlterConfigOpSet:
			configs[c.Name] = *c.Value
		case kmsg.IncrementalAlterConfigOpDelete:
			delete(configs, c.Name)
		case kmsg.IncrementalAlterConfigOpAppend, kmsg.IncrementalAlterConfigOpSubtract:
			d, ok := topicconfig.Lookup(c.Name)
			if !ok || d.Type != "list" {
				return nil, kafkaerr.Faultf(kafkaerr.InvalidConfig, "Can't %s to key %s because its type is not LIST.", strings.ToUpper(c.Op.String()), c.Name)
			}
			value, _ := TopicValue(d, configs)
			items := topicconfig.SplitList(value)
			for _, item := range topicconfig.SplitList(*c.Value) {
				at := slices.Index(items, item)
				switch {
				case c.Op == kmsg.IncrementalAlterConfigOpAppend && at < 0:
					items = append(items, item)
				case c.Op == kmsg.IncrementalAlterConfigOpSubtract && at >= 0:
					items = slices.Delete(items, at, at+1)
				}
			}
			configs[c.Name] = strings.Join(items, ",")
		default:
			return nil, kafkaerr.Faultf(kafkaerr.InvalidRequest, "Unknown operation %d on config %s.", c.Op, c.Name)
		}
	}
	return configs, nil
}
