package kafka

import (
	"context"
	"errors"

	"millrace/server/auth"
	"millrace/server/kafka/groupconfig"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// configResourceTypeGroup: configs of one group.
const configResourceTypeGroup = kmsg.ConfigResourceType(configResourceGroup)

// groupConfigs are all configs of a group, which need not exist (yet), as in Kafka.
func (s *Server) groupConfigs(r *request, group string, wanted func(name string) bool, req *kmsg.DescribeConfigsRequest) ([]kmsg.DescribeConfigsResponseResourceConfig, error) {
	if !s.allowed(r, auth.DescribeConfigs, groupResource(group)) {
		return nil, adminErrorf(errGroupAuthorizationFailed, "Group authorization failed.")
	}
	if group == "" {
		return nil, adminErrorf(errInvalidRequest, "Group name must not be empty")
	}
	set := s.groupConfig.Of(group)
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
		c.Documentation = nullable(d.Doc)
	}
	return c
}

// alterGroupConfigs carries out an alter request's resource that is a group: see alterConfigsOf.
func (s *Server) alterGroupConfigs(ctx context.Context, r *request, group string, validateOnly bool, change func(present map[string]string) (map[string]string, error)) error {
	if !s.allowed(r, auth.AlterConfigs, groupResource(group)) {
		return adminErrorf(errGroupAuthorizationFailed, "Group authorization failed.")
	}
	if group == "" {
		return adminErrorf(errInvalidRequest, "Default group resources are not allowed.")
	}
	for range configChangeAttempts {
		present, version := s.groupConfig.Version(group)
		configs, err := change(present)
		if err != nil {
			return err
		}
		if err := groupconfig.Check(configs); err != nil {
			return adminErrorf(errInvalidConfig, "%s", err)
		}
		if validateOnly {
			return nil
		}
		if err := s.groupConfig.Put(ctx, group, version, configs); !errors.Is(err, state.ErrVersionMismatch) {
			return err
		}
	}
	return adminErrorf(errRequestTimedOut, "The configs changed again and again meanwhile.")
}
