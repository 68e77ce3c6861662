package kafka

import (
	"fmt"
	"testing"

	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"millrace/server/kafka/groupconfig"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// configResourceGroup is the type of a group whose configs are meant.
const configResourceGroup = 32

func (e *env) alterGroup(group string, validateOnly bool, ops ...kmsg.IncrementalAlterConfigsRequestResourceConfig) int16 {
	e.t.Helper()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{ResourceType: kmsg.ConfigResourceType(configResourceGroup), ResourceName: group, Configs: ops}}
	req.ValidateOnly = validateOnly
	return e.raw().ask(versioned(req, 1)).(*kmsg.IncrementalAlterConfigsResponse).Resources[0].ErrorCode
}

func TestConfigsOfAGroupAreSetListedAndRemoved(t *testing.T) {
	a := start(t)
	type ops = []kmsg.IncrementalAlterConfigsRequestResourceConfig
	const set, del, app = kmsg.IncrementalAlterConfigOpSet, kmsg.IncrementalAlterConfigOpDelete, kmsg.IncrementalAlterConfigOpAppend
	for i, tt := range []struct {
		group    string
		ops      ops
		validate bool
		code     int16
		after    string
	}{
		{"g", ops{operation(set, groupconfig.ShareAutoOffsetReset, "earliest")}, true, kafkaerr.None, "map[]"},
		{"g", ops{operation(set, groupconfig.ShareAutoOffsetReset, "earliest")}, false, kafkaerr.None, "map[share.auto.offset.reset:earliest]"},
		{"g", ops{operation(set, groupconfig.ConsumerSessionTimeout, "50000"), operation(del, groupconfig.ShareAutoOffsetReset, "")}, false, kafkaerr.None, "map[consumer.session.timeout.ms:50000]"},
		{"g", ops{operation(set, "retention.ms", "5")}, false, kafkaerr.InvalidConfig, "map[consumer.session.timeout.ms:50000]"},
		{"g", ops{operation(set, groupconfig.ShareRecordLockDuration, "1")}, false, kafkaerr.InvalidConfig, "map[consumer.session.timeout.ms:50000]"},
		{"g", ops{operation(app, groupconfig.ShareIsolationLevel, "x")}, false, kafkaerr.InvalidConfig, "map[consumer.session.timeout.ms:50000]"},
		{"", ops{operation(set, groupconfig.ShareAutoOffsetReset, "earliest")}, false, kafkaerr.InvalidRequest, "map[consumer.session.timeout.ms:50000]"},
	} {
		if code := a.alterGroup(tt.group, tt.validate, tt.ops...); code != tt.code {
			t.Errorf("%d: %d", i, code)
		}
		if got := fmt.Sprint(a.srv.groupConfig.Of("g")); got != tt.after {
			t.Errorf("%d: %s", i, got)
		}
	}

	configs := a.describe(kmsg.ConfigResourceType(configResourceGroup), "g")
	if len(configs) != len(groupconfig.Definitions()) {
		t.Errorf("%d configs", len(configs))
	}
	if c := configs[groupconfig.ConsumerSessionTimeout]; *c.Value != "50000" || c.Source != kmsg.ConfigSourceGroupConfig || c.ReadOnly || c.ConfigType != kmsg.ConfigTypeInt ||
		len(c.ConfigSynonyms) != 1 || c.ConfigSynonyms[0].Source != kmsg.ConfigSourceGroupConfig || api.Deref(c.Documentation) == "" {
		t.Errorf("got %+v", c)
	}
	if c := configs[groupconfig.ShareIsolationLevel]; *c.Value != "read_uncommitted" || c.Source != kmsg.ConfigSourceDefaultConfig {
		t.Errorf("got %+v", c)
	}
	if some := a.describe(kmsg.ConfigResourceType(configResourceGroup), "other", groupconfig.ShareAutoOffsetReset); len(some) != 1 || *some[groupconfig.ShareAutoOffsetReset].Value != "latest" {
		t.Errorf("got %+v", some)
	}
	list := func() string {
		req := kmsg.NewPtrListConfigResourcesRequest()
		req.ResourceTypes = []int8{configResourceGroup}
		return fmt.Sprint(a.raw().ask(versioned(req, 1)).(*kmsg.ListConfigResourcesResponse).ConfigResources)
	}
	if got := list(); got != "[{g 32 {[]}}]" && got != fmt.Sprint([]kmsg.ListConfigResourcesResponseConfigResource{{Name: "g", Type: configResourceGroup}}) {
		t.Errorf("got %s", got)
	}

	replace := kmsg.NewPtrAlterConfigsRequest() // with nothing
	replace.Resources = []kmsg.AlterConfigsRequestResource{{ResourceType: kmsg.ConfigResourceType(configResourceGroup), ResourceName: "g"}}
	if got := a.raw().ask(versioned(replace, 2)).(*kmsg.AlterConfigsResponse).Resources[0]; got.ErrorCode != kafkaerr.None {
		t.Errorf("got %+v", got)
	}
	if got := list(); got != "[]" {
		t.Errorf("got %s", got)
	}
}

func TestAShareGroupTakesItsConfigsAtOnce(t *testing.T) {
	a := start(t)
	a.create("t", 1)
	beat := func(member string) *kmsg.ShareGroupHeartbeatResponse {
		req := kmsg.NewPtrShareGroupHeartbeatRequest()
		req.GroupID, req.MemberID, req.SubscribedTopicNames = "g", member, []string{"t"}
		return a.raw().ask(versioned(req, 1)).(*kmsg.ShareGroupHeartbeatResponse)
	}
	if got := beat("a"); got.ErrorCode != kafkaerr.None || got.HeartbeatIntervalMillis != 5000 {
		t.Errorf("got %+v", got)
	}
	if code := a.alterGroup("g", false, operation(kmsg.IncrementalAlterConfigOpSet, groupconfig.ShareHeartbeatInterval, "7000")); code != kafkaerr.None {
		t.Fatal(code)
	}
	if got := beat("b"); got.ErrorCode != kafkaerr.None || got.HeartbeatIntervalMillis != 7000 {
		t.Errorf("got %+v", got)
	}
}

func TestAConsumerGroupTakesItsConfigsAtOnce(t *testing.T) {
	a := start(t)
	a.create("t", 1)
	if code := a.alterGroup("g", false, operation(kmsg.IncrementalAlterConfigOpSet, groupconfig.ConsumerHeartbeatInterval, "6000")); code != kafkaerr.None {
		t.Fatal(code)
	}
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Group, req.MemberID, req.RebalanceTimeoutMillis, req.SubscribedTopicNames, req.Topics = "g", "m", 60_000, []string{"t"}, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	if got := a.raw().ask(versioned(req, 1)).(*kmsg.ConsumerGroupHeartbeatResponse); got.ErrorCode != kafkaerr.None || got.HeartbeatIntervalMillis != 6000 {
		t.Errorf("got %+v", got)
	}
}
