package configs

import (
	"context"
	"errors"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/groupconfig"
	"millrace/server/kafka/kafkaerr"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// configResourceTypeGroup: configs of one group.
const configResourceTypeGroup = kmsg.ConfigResourceType(configResourceGroup)

// groupConfigs are all configs of a group, which need not exist (yet), as in Kafka.
func (h *Handlers) groupConfigs(r *api.Request, group string, wanted func(name string) bool, req *kmsg.DescribeConfigsRequest) ([]kmsg.DescribeConfigsResponseResourceConfig, error) {
	if !h.Allowed(r, auth.DescribeConfigs, api.GroupResource(group)) {
		return nil, kafkaerr.Faultf(kafkaerr.GroupAuthorizationFailed, "Group authorization failed.")
	}
	if group == "" {
		return nil, kafkaerr.Faultf(kafkaerr.InvalidRequest, "Group name must not be empty")
	}
	set := h.GroupConfig.Of(group)
	var configs []kmsg.DescribeConfigsResponseResourceConfig
	for _, d := range groupconfig.Definitions() {
		if wanted(d.Name) {
			configs = append(configs, groupConfigEntry(d, set, req))
		}
	}
	return configs, nil
}

func groupConfigEntry(d groupconfig.Definition, set map[string]string, req *kmsg.DescribeConfigsRequest) kmsg.DescribeConfigsResponseResourceConfig {
	c := kmsg.NewDescribeConfigsResponseResourceConfig()
	value, source := d.Default, configSourceDefault
	if v, ok := set[d.Name]; ok {
		value, source = v, kmsg.ConfigSourceGroupConfig
	}
	c.Name, c.Value, c.Source = d.Name, &value, source
	c.IsDefault = source == configSourceDefault
	c.ConfigType = configTypes[d.Type]
	// A group's configs have no synonyms among those of the broker in Kafka 4.1.
	if req.IncludeSynonyms && source != configSourceDefault {
		c.ConfigSynonyms = append(c.ConfigSynonyms, synonym(d.Name, value, source))
	}
	if req.IncludeDocumentation {
		c.Documentation = api.Nullable(d.Doc)
	}
	return c
}

// alterGroupConfigs carries out an alter request's resource that is a group: see alterConfigsOf.
func (h *Handlers) alterGroupConfigs(ctx context.Context, r *api.Request, group string, validateOnly bool, change func(present map[string]string) (map[string]string, error)) error {
	if !h.Allowed(r, auth.AlterConfigs, api.GroupResource(group)) {
		return kafkaerr.Faultf(kafkaerr.GroupAuthorizationFailed, "Group authorization failed.")
	}
	if group == "" {
		return kafkaerr.Faultf(kafkaerr.InvalidRequest, "Default group resources are not allowed.")
	}
	for range api.ChangeAttempts {
		present, version := h.GroupConfig.Version(group)
		configs, err := change(present)
		if err != nil {
			return err
		}
		if err := groupconfig.Check(configs); err != nil {
			return kafkaerr.Faultf(kafkaerr.InvalidConfig, "%s", err)
		}
		if validateOnly {
			return nil
		}
		if err := h.GroupConfig.Put(ctx, group, version, configs); !errors.Is(err, state.ErrVersionMismatch) {
			return err
		}
	}
	return kafkaerr.Faultf(kafkaerr.RequestTimedOut, "The configs changed again and again meanwhile.")
}
