package configs

import (
	"context"
	"slices"

	"millrace/internal/topicconfig"
	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Where a config's value comes from, in Kafka's numbers.
const (
	configSourceTopic   = kmsg.ConfigSourceDynamicTopicConfig
	configSourceStatic  = kmsg.ConfigSourceStaticBrokerConfig
	configSourceDefault = kmsg.ConfigSourceDefaultConfig
)

// TopicValue is the value of a topic's config that has these set, and where it comes from.
func TopicValue(d topicconfig.Definition, set map[string]string) (value string, source kmsg.ConfigSource) {
	if v, ok := set[d.Name]; ok {
		return v, configSourceTopic
	}
	return d.Default, configSourceDefault
}

// DescribeConfigs serves DescribeConfigs 1–4: all configs of topics, of groups and of this
// broker, with their sources; synonyms and documentation on request.
func (h *Handlers) DescribeConfigs(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.DescribeConfigsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeConfigsResponse)
	for _, res := range req.Resources {
		rr := kmsg.NewDescribeConfigsResponseResource()
		rr.ResourceType, rr.ResourceName = res.ResourceType, res.ResourceName
		configs, err := h.configsOf(r, res, req)
		rr.ErrorCode, rr.ErrorMessage = h.Fault(err)
		rr.Configs = configs
		resp.Resources = append(resp.Resources, rr)
	}
	return resp, nil
}

func (h *Handlers) configsOf(r *api.Request, res kmsg.DescribeConfigsRequestResource, req *kmsg.DescribeConfigsRequest) ([]kmsg.DescribeConfigsResponseResourceConfig, error) {
	wanted := func(name string) bool { return len(res.ConfigNames) == 0 || slices.Contains(res.ConfigNames, name) }
	switch res.ResourceType {
	case kmsg.ConfigResourceTypeTopic:
		if !state.ValidTopicName(res.ResourceName) {
			return nil, kafkaerr.Faultf(kafkaerr.InvalidTopic, "The topic name is invalid.")
		}
		topic, code := h.Resolve(r, h.Store.Topics(), api.TopicRef{Name: res.ResourceName}, false, auth.DescribeConfigs)
		if code != kafkaerr.None {
			return nil, kafkaerr.Faultf(code, "%s", topicFault(code))
		}
		var configs []kmsg.DescribeConfigsResponseResourceConfig
		for _, d := range topicconfig.Definitions() {
			if wanted(d.Name) {
				configs = append(configs, topicConfig(d, topic.Configs, req))
			}
		}
		return configs, nil
	case kmsg.ConfigResourceTypeBroker:
		if !h.Allowed(r, auth.DescribeConfigs, api.ClusterResource) {
			return nil, kafkaerr.Faultf(kafkaerr.ClusterAuthorizationFailed, "Cluster authorization failed.")
		}
		if err := h.checkBrokerName(res.ResourceName); err != nil {
			return nil, err
		}
		if res.ResourceName == "" {
			return nil, nil // the cluster-wide dynamic defaults: there are none
		}
		var configs []kmsg.DescribeConfigsResponseResourceConfig
		for _, c := range h.Broker() {
			if wanted(c.Name) {
				configs = append(configs, brokerEntry(c, req))
			}
		}
		return configs, nil
	case configResourceTypeGroup:
		return h.groupConfigs(r, res.ResourceName, wanted, req)
	}
	return nil, kafkaerr.Faultf(kafkaerr.InvalidRequest, "Configs of resource type %d are not served.", res.ResourceType)
}

func topicConfig(d topicconfig.Definition, set map[string]string, req *kmsg.DescribeConfigsRequest) kmsg.DescribeConfigsResponseResourceConfig {
	c := kmsg.NewDescribeConfigsResponseResourceConfig()
	value, source := TopicValue(d, set)
	c.Name, c.Value, c.Source = d.Name, &value, source
	c.IsDefault = source == configSourceDefault
	c.ConfigType = configTypes[d.Type]
	if req.IncludeSynonyms {
		if source == configSourceTopic {
			c.ConfigSynonyms = append(c.ConfigSynonyms, synonym(d.Name, value, source))
		}
		if d.BrokerSynonym != "" {
			c.ConfigSynonyms = append(c.ConfigSynonyms, synonym(d.BrokerSynonym, d.Default, configSourceDefault))
		}
	}
	if req.IncludeDocumentation {
		c.Documentation = api.Nullable(d.Doc)
	}
	return c
}

func synonym(name, value string, source kmsg.ConfigSource) kmsg.DescribeConfigsResponseResourceConfigConfigSynonym {
	s := kmsg.NewDescribeConfigsResponseResourceConfigConfigSynonym()
	s.Name, s.Value, s.Source = name, &value, source
	return s
}

var configTypes = map[string]kmsg.ConfigType{
	"boolean": kmsg.ConfigTypeBoolean, "string": kmsg.ConfigTypeString, "int": kmsg.ConfigTypeInt,
	"short": kmsg.ConfigTypeShort, "long": kmsg.ConfigTypeLong, "double": kmsg.ConfigTypeDouble,
	"list": kmsg.ConfigTypeList,
}

func topicFault(code int16) string {
	if code == kafkaerr.TopicAuthorizationFailed {
		return "Topic authorization failed."
	}
	return "This server does not host this topic-partition."
}
