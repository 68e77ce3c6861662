package configs

import (
	"strconv"

	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Broker is one config of the broker as DescribeConfigs shows it. All are
// read-only on this wire: they are the server's own options.
type Broker struct {
	Name, Type, Value string
	Set               bool // set explicitly; else it is the default
	Doc               string
}

func brokerEntry(b Broker, req *kmsg.DescribeConfigsRequest) kmsg.DescribeConfigsResponseResourceConfig {
	c := kmsg.NewDescribeConfigsResponseResourceConfig()
	value := b.Value
	c.Name, c.Value, c.ReadOnly = b.Name, &value, true
	c.Source = configSourceDefault
	if b.Set {
		c.Source = configSourceStatic
	}
	c.IsDefault = !b.Set
	c.ConfigType = configTypes[b.Type]
	if req.IncludeSynonyms {
		c.ConfigSynonyms = append(c.ConfigSynonyms, synonym(b.Name, b.Value, c.Source))
	}
	if req.IncludeDocumentation {
		c.Documentation = api.Nullable(b.Doc)
	}
	return c
}

// checkBrokerName: this broker's id, or empty for the cluster-wide defaults.
func (h *Handlers) checkBrokerName(name string) error {
	if name == "" {
		return nil
	}
	id, err := strconv.ParseInt(name, 10, 32)
	switch {
	case err != nil:
		return kafkaerr.Faultf(kafkaerr.InvalidRequest, "Broker id must be an integer, but it is: %s", name)
	case int32(id) != h.NodeID:
		return kafkaerr.Faultf(kafkaerr.InvalidRequest, "Unexpected broker id, expected %d, but received %s", h.NodeID, name)
	}
	return nil
}
