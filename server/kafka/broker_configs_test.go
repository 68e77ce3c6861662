package kafka

import (
	"testing"

	"millrace/server/kafka/api"

	"millrace/server/kafka/group"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestTheBrokerTellsWhichGroupsItServesAndThatTheyMigrate(t *testing.T) {
	a := start(t)
	configs := a.describe(kmsg.ConfigResourceTypeBroker, "1")
	for name, want := range map[string]string{
		"group.coordinator.rebalance.protocols": "classic,consumer,share",
		"group.consumer.migration.policy":       "bidirectional",
		"group.consumer.assignors":              "uniform,range",
		"group.consumer.session.timeout.ms":     "45000",
		"group.consumer.heartbeat.interval.ms":  "5000",
		"group.consumer.max.size":               "10000",
	} {
		c, ok := configs[name]
		if !ok || api.Deref(c.Value) != want || !c.ReadOnly || api.Deref(c.Documentation) == "" {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if c := configs["group.consumer.assignors"]; c.Source != kmsg.ConfigSourceDefaultConfig || c.ConfigType != kmsg.ConfigTypeList {
		t.Errorf("got %+v", c)
	}
}

func TestWhatIsNotServedIsNoRebalanceProtocol(t *testing.T) {
	a := start(t, func(o *Options) { o.Admin.Share = nil })
	if c := a.describe(kmsg.ConfigResourceTypeBroker, "1", "group.coordinator.rebalance.protocols")["group.coordinator.rebalance.protocols"]; api.Deref(c.Value) != "classic,consumer" {
		t.Errorf("got %+v", c)
	}
	var o group.Options
	for _, c := range groupConfigs(o, false) {
		if c.Name == "group.consumer.migration.policy" {
			t.Errorf("told without consumer groups: %+v", c)
		}
	}
}
