package kafka

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"millrace/internal/topicconfig"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestCreateTopicsSaysWhatIsWrong(t *testing.T) {
	a := start(t, func(o *Options) {
		o.DefaultPartitions = 3
		o.Admin.CheckColumns = func(ddl string) error {
			if strings.Contains(ddl, "BIGNT") {
				return errors.New("unknown type BIGNT")
			}
			return nil
		}
	})
	a.create("exists", 1)
	bad, null := "abc", (*string)(nil)
	ddl := "a BIGNT"
	config := func(name string, value *string) []kmsg.CreateTopicsRequestTopicConfig {
		return []kmsg.CreateTopicsRequestTopicConfig{{Name: name, Value: value}}
	}
	assign := func(replicas ...[]int32) (all []kmsg.CreateTopicsRequestTopicReplicaAssignment) {
		for i, r := range replicas {
			all = append(all, kmsg.CreateTopicsRequestTopicReplicaAssignment{Partition: int32(i), Replicas: r})
		}
		return all
	}
	for _, tt := range []struct {
		what    string
		topic   kmsg.CreateTopicsRequestTopic
		code    int16
		message string
	}{
		{"defaults", kmsg.CreateTopicsRequestTopic{Topic: "a", NumPartitions: -1, ReplicationFactor: -1}, kafkaerr.None, ""},
		{"three replicas", kmsg.CreateTopicsRequestTopic{Topic: "b", NumPartitions: 2, ReplicationFactor: 3}, kafkaerr.None, ""},
		{"assigned", kmsg.CreateTopicsRequestTopic{Topic: "c", NumPartitions: -1, ReplicationFactor: -1, ReplicaAssignment: assign([]int32{1}, []int32{1})}, kafkaerr.None, ""},
		{"exists", kmsg.CreateTopicsRequestTopic{Topic: "exists", NumPartitions: 1, ReplicationFactor: 1}, kafkaerr.TopicAlreadyExists, "'exists' already exists"},
		{"bad name", kmsg.CreateTopicsRequestTopic{Topic: "a/b", NumPartitions: 1, ReplicationFactor: 1}, kafkaerr.InvalidTopic, "name is invalid"},
		{"no partitions", kmsg.CreateTopicsRequestTopic{Topic: "d", NumPartitions: 0, ReplicationFactor: 1}, kafkaerr.InvalidPartitions, "non-positive"},
		{"too many partitions", kmsg.CreateTopicsRequestTopic{Topic: "d", NumPartitions: 1 << 30, ReplicationFactor: 1}, kafkaerr.PolicyViolation, ""},
		{"no replicas", kmsg.CreateTopicsRequestTopic{Topic: "d", NumPartitions: 1, ReplicationFactor: 0}, kafkaerr.InvalidReplicationFactor, "larger than 0"},
		{"unknown config", kmsg.CreateTopicsRequestTopic{Topic: "d", NumPartitions: 1, ReplicationFactor: 1, Configs: config("no.such", &bad)}, kafkaerr.InvalidConfig, "no.such"},
		{"bad config", kmsg.CreateTopicsRequestTopic{Topic: "d", NumPartitions: 1, ReplicationFactor: 1, Configs: config("retention.ms", &bad)}, kafkaerr.InvalidConfig, "retention.ms"},
		{"null config", kmsg.CreateTopicsRequestTopic{Topic: "d", NumPartitions: 1, ReplicationFactor: 1, Configs: config("retention.ms", null)}, kafkaerr.InvalidConfig, "Null"},
		{"bad columns", kmsg.CreateTopicsRequestTopic{Topic: "d", NumPartitions: 1, ReplicationFactor: 1, Configs: config("millrace.columns", &ddl)}, kafkaerr.InvalidConfig, "BIGNT"},
		{"foreign broker", kmsg.CreateTopicsRequestTopic{Topic: "d", NumPartitions: -1, ReplicationFactor: -1, ReplicaAssignment: assign([]int32{2})}, kafkaerr.InvalidReplicaAssignment, "broker 2"},
		{"no broker", kmsg.CreateTopicsRequestTopic{Topic: "d", NumPartitions: -1, ReplicationFactor: -1, ReplicaAssignment: assign(nil)}, kafkaerr.InvalidReplicaAssignment, "empty"},
		{"both", kmsg.CreateTopicsRequestTopic{Topic: "d", NumPartitions: 1, ReplicationFactor: -1, ReplicaAssignment: assign([]int32{1})}, kafkaerr.InvalidRequest, ""},
	} {
		for _, validateOnly := range []bool{true, false} {
			if validateOnly && tt.code == kafkaerr.PolicyViolation {
				continue // a limit that depends on what else is there
			}
			req := kmsg.NewPtrCreateTopicsRequest()
			req.Topics, req.ValidateOnly = []kmsg.CreateTopicsRequestTopic{tt.topic}, validateOnly
			got := a.raw().ask(versioned(req, 7)).(*kmsg.CreateTopicsResponse).Topics[0]
			if got.ErrorCode != tt.code || !strings.Contains(api.Deref(got.ErrorMessage), tt.message) {
				t.Errorf("%s: %d %s", tt.what, got.ErrorCode, api.Deref(got.ErrorMessage))
			}
			if tt.code != kafkaerr.None {
				continue
			}
			if got.ReplicationFactor != 1 || got.NumPartitions < 1 || len(got.Configs) != len(topicconfig.Definitions()) {
				t.Errorf("%s: %d partitions, %d replicas, %d configs", tt.what, got.NumPartitions, got.ReplicationFactor, len(got.Configs))
			}
			if _, there := a.st.Topics().ByName(tt.topic.Topic); there == validateOnly {
				t.Errorf("%s: there: %v, validate only: %v", tt.what, there, validateOnly)
			}
		}
	}
	if topic, _ := a.st.Topics().ByName("a"); topic.Partitions != 3 {
		t.Errorf("default partitions: %d", topic.Partitions)
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	twice := kmsg.CreateTopicsRequestTopic{Topic: "twice", NumPartitions: 1, ReplicationFactor: 1}
	req.Topics = []kmsg.CreateTopicsRequestTopic{twice, twice}
	if got := a.raw().ask(versioned(req, 7)).(*kmsg.CreateTopicsResponse).Topics; len(got) != 1 || got[0].ErrorCode != kafkaerr.InvalidRequest {
		t.Errorf("duplicate: %+v", got)
	}
}

func TestTopicsAreDeletedByNameAndID(t *testing.T) {
	a := start(t)
	one, two := a.create("one", 1), a.create("two", 1)
	name := "one"
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.Topics = []kmsg.DeleteTopicsRequestTopic{
		{Topic: &name}, {TopicID: two.ID}, {TopicID: [16]byte{9}}, {}, {Topic: &name, TopicID: two.ID},
	}
	got := a.raw().ask(versioned(req, 6)).(*kmsg.DeleteTopicsResponse).Topics
	for i, want := range []int16{kafkaerr.None, kafkaerr.None, kafkaerr.UnknownTopicID, kafkaerr.InvalidRequest, kafkaerr.InvalidRequest} {
		if got[i].ErrorCode != want {
			t.Errorf("%d: %d %s", i, got[i].ErrorCode, api.Deref(got[i].ErrorMessage))
		}
	}
	if got[0].TopicID != [16]byte(one.ID) || api.Deref(got[1].Topic) != "two" {
		t.Errorf("name and id: %+v", got[:2])
	}
	if len(a.st.Topics().All()) != 0 {
		t.Error("topics left")
	}
	again := a.create("one", 1)
	if again.ID == one.ID {
		t.Error("the new topic has the old id")
	}
	req.Topics = []kmsg.DeleteTopicsRequestTopic{{Topic: &name}, {TopicID: again.ID}}
	for _, g := range a.raw().ask(versioned(req, 6)).(*kmsg.DeleteTopicsResponse).Topics {
		if g.ErrorCode != kafkaerr.InvalidRequest {
			t.Errorf("named twice: %+v", g)
		}
	}
}

func TestPartitionsCanOnlyGrow(t *testing.T) {
	a := start(t)
	a.create("t", 2)
	ask := func(count int32, assignment []kmsg.CreatePartitionsRequestTopicAssignment, validate bool) int16 {
		req := kmsg.NewPtrCreatePartitionsRequest()
		req.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: "t", Count: count, Assignment: assignment}}
		req.ValidateOnly = validate
		return a.raw().ask(versioned(req, 3)).(*kmsg.CreatePartitionsResponse).Topics[0].ErrorCode
	}
	for i, tt := range []struct {
		count      int32
		assignment []kmsg.CreatePartitionsRequestTopicAssignment
		validate   bool
		code       int16
		after      int32
	}{
		{1, nil, false, kafkaerr.InvalidPartitions, 2},
		{2, nil, false, kafkaerr.InvalidPartitions, 2},
		{3, nil, true, kafkaerr.None, 2},
		{3, []kmsg.CreatePartitionsRequestTopicAssignment{}, false, kafkaerr.InvalidReplicaAssignment, 2},
		{3, []kmsg.CreatePartitionsRequestTopicAssignment{{Replicas: []int32{4}}}, false, kafkaerr.InvalidReplicaAssignment, 2},
		{3, []kmsg.CreatePartitionsRequestTopicAssignment{{Replicas: []int32{1}}}, false, kafkaerr.None, 3},
		{6, nil, false, kafkaerr.None, 6},
	} {
		if code := ask(tt.count, tt.assignment, tt.validate); code != tt.code {
			t.Errorf("%d: %d", i, code)
		}
		if topic, _ := a.st.Topics().ByName("t"); topic.Partitions != tt.after {
			t.Errorf("%d: %d partitions", i, topic.Partitions)
		}
	}
}

// TestDeleteRecords is cases.md C54 without its fetches.
func TestDeleteRecords(t *testing.T) {
	a := start(t)
	topic := a.create("t", 1)
	a.create("compacted", 1, "cleanup.policy", "compact")
	a.produce("t", 1, 10)
	ask := func(name string, partition int32, offset int64) kmsg.DeleteRecordsResponseTopicPartition {
		req := kmsg.NewPtrDeleteRecordsRequest()
		req.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: name, Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: partition, Offset: offset}}}}
		return a.raw().ask(versioned(req, 2)).(*kmsg.DeleteRecordsResponse).Topics[0].Partitions[0]
	}
	for i, tt := range []struct {
		name      string
		partition int32
		offset    int64
		code      int16
		low       int64
	}{
		{"t", 0, 3, kafkaerr.None, 3},
		{"t", 0, 1, kafkaerr.None, 3},
		{"t", 0, 11, kafkaerr.OffsetOutOfRange, -1},
		{"t", 0, -2, kafkaerr.OffsetOutOfRange, -1},
		{"t", 1, 0, kafkaerr.UnknownTopicOrPartition, -1},
		{"compacted", 0, 0, kafkaerr.PolicyViolation, -1},
		{"t", 0, -1, kafkaerr.None, 10},
	} {
		if got := ask(tt.name, tt.partition, tt.offset); got.ErrorCode != tt.code || got.LowWatermark != tt.low {
			t.Errorf("%d: %+v", i, got)
		}
	}
	if b, err := a.st.Bounds(state.TopicPartition{Topic: topic.ID}); err != nil || b.LogStart != 10 || b.End != 10 {
		t.Errorf("got %+v, %v", b, err)
	}
}

func (e *env) describe(kind kmsg.ConfigResourceType, name string, keys ...string) map[string]kmsg.DescribeConfigsResponseResourceConfig {
	e.t.Helper()
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.Resources = []kmsg.DescribeConfigsRequestResource{{ResourceType: kind, ResourceName: name, ConfigNames: keys}}
	req.IncludeSynonyms, req.IncludeDocumentation = true, true
	res := e.raw().ask(versioned(req, 4)).(*kmsg.DescribeConfigsResponse).Resources[0]
	if res.ErrorCode != kafkaerr.None {
		e.t.Fatalf("describe %s: %d %s", name, res.ErrorCode, api.Deref(res.ErrorMessage))
	}
	configs := map[string]kmsg.DescribeConfigsResponseResourceConfig{}
	for _, c := range res.Configs {
		configs[c.Name] = c
	}
	return configs
}

func TestDescribeConfigsReportsEverythingWithItsSource(t *testing.T) {
	a := start(t, func(o *Options) { o.DefaultPartitions = 3 })
	a.create("t", 1, "cleanup.policy", "compact", "retention.ms", "1000")
	configs := a.describe(kmsg.ConfigResourceTypeTopic, "t")
	if len(configs) != len(topicconfig.Definitions()) {
		t.Errorf("%d configs", len(configs))
	}
	policy := configs["cleanup.policy"]
	if *policy.Value != "compact" || policy.Source != kmsg.ConfigSourceDynamicTopicConfig || policy.ConfigType != kmsg.ConfigTypeList ||
		len(policy.ConfigSynonyms) != 2 || policy.ConfigSynonyms[0].Name != "cleanup.policy" || policy.ConfigSynonyms[1].Name != "log.cleanup.policy" {
		t.Errorf("got %+v", policy)
	}
	if c := configs["segment.bytes"]; *c.Value != "1073741824" || c.Source != kmsg.ConfigSourceDefaultConfig || api.Deref(c.Documentation) == "" {
		t.Errorf("got %+v", c)
	}
	if some := a.describe(kmsg.ConfigResourceTypeTopic, "t", "retention.ms", "nope"); len(some) != 1 || *some["retention.ms"].Value != "1000" {
		t.Errorf("got %+v", some)
	}
	broker := a.describe(kmsg.ConfigResourceTypeBroker, "1")
	for name, want := range map[string]string{
		"node.id": "1", "auto.create.topics.enable": "true", "num.partitions": "3", "log.retention.ms": "604800000",
		"message.max.bytes": "1048588", "log.dirs": "/data", "advertised.listeners": "PLAINTEXT://" + a.addr,
	} {
		if c, ok := broker[name]; !ok || *c.Value != want || !c.ReadOnly {
			t.Errorf("%s: %+v", name, c)
		}
	}
	for _, res := range []kmsg.DescribeConfigsRequestResource{
		{ResourceType: kmsg.ConfigResourceTypeBroker, ResourceName: "2"},
		{ResourceType: kmsg.ConfigResourceTypeBroker, ResourceName: "x"},
		{ResourceType: kmsg.ConfigResourceTypeBrokerLogger, ResourceName: "1"},
	} {
		req := kmsg.NewPtrDescribeConfigsRequest()
		req.Resources = []kmsg.DescribeConfigsRequestResource{res}
		if got := a.raw().ask(versioned(req, 4)).(*kmsg.DescribeConfigsResponse).Resources[0]; got.ErrorCode != kafkaerr.InvalidRequest {
			t.Errorf("%+v: %+v", res, got)
		}
	}
}

func (e *env) alter(name string, validateOnly bool, ops ...kmsg.IncrementalAlterConfigsRequestResourceConfig) int16 {
	e.t.Helper()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: name, Configs: ops}}
	req.ValidateOnly = validateOnly
	return e.raw().ask(versioned(req, 1)).(*kmsg.IncrementalAlterConfigsResponse).Resources[0].ErrorCode
}

func operation(op kmsg.IncrementalAlterConfigOp, name, value string) kmsg.IncrementalAlterConfigsRequestResourceConfig {
	return kmsg.IncrementalAlterConfigsRequestResourceConfig{Name: name, Op: op, Value: &value}
}

func TestConfigsAreChangedIncrementally(t *testing.T) {
	a := start(t)
	a.create("t", 1)
	const set, del, app, sub = kmsg.IncrementalAlterConfigOpSet, kmsg.IncrementalAlterConfigOpDelete, kmsg.IncrementalAlterConfigOpAppend, kmsg.IncrementalAlterConfigOpSubtract
	for i, tt := range []struct {
		ops      []kmsg.IncrementalAlterConfigsRequestResourceConfig
		validate bool
		code     int16
		after    string // fmt of the explicitly set configs
	}{
		{[]kmsg.IncrementalAlterConfigsRequestResourceConfig{operation(set, "retention.ms", "5")}, true, kafkaerr.None, "map[]"},
		{[]kmsg.IncrementalAlterConfigsRequestResourceConfig{operation(set, "retention.ms", "5")}, false, kafkaerr.None, "map[retention.ms:5]"},
		{[]kmsg.IncrementalAlterConfigsRequestResourceConfig{operation(app, "cleanup.policy", "compact"), operation(del, "retention.ms", "")}, false, kafkaerr.None, "map[cleanup.policy:delete,compact]"},
		{[]kmsg.IncrementalAlterConfigsRequestResourceConfig{operation(app, "cleanup.policy", "compact")}, false, kafkaerr.None, "map[cleanup.policy:delete,compact]"},
		{[]kmsg.IncrementalAlterConfigsRequestResourceConfig{operation(sub, "cleanup.policy", "delete")}, false, kafkaerr.None, "map[cleanup.policy:compact]"},
		{[]kmsg.IncrementalAlterConfigsRequestResourceConfig{operation(app, "retention.ms", "5")}, false, kafkaerr.InvalidConfig, "map[cleanup.policy:compact]"},
		{[]kmsg.IncrementalAlterConfigsRequestResourceConfig{operation(set, "retention.ms", "x")}, false, kafkaerr.InvalidConfig, "map[cleanup.policy:compact]"},
		{[]kmsg.IncrementalAlterConfigsRequestResourceConfig{operation(set, "nope", "x")}, false, kafkaerr.InvalidConfig, "map[cleanup.policy:compact]"},
		{[]kmsg.IncrementalAlterConfigsRequestResourceConfig{operation(del, "nope", "")}, false, kafkaerr.None, "map[cleanup.policy:compact]"},
		{[]kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: "retention.ms"}}, false, kafkaerr.InvalidRequest, "map[cleanup.policy:compact]"},
		{[]kmsg.IncrementalAlterConfigsRequestResourceConfig{operation(set, "retention.ms", "1"), operation(set, "retention.ms", "2")}, false, kafkaerr.InvalidRequest, "map[cleanup.policy:compact]"},
	} {
		if code := a.alter("t", tt.validate, tt.ops...); code != tt.code {
			t.Errorf("%d: %d", i, code)
		}
		topic, _ := a.st.Topics().ByName("t")
		if got := fmt.Sprint(topic.Configs); got != tt.after && !(tt.after == "map[]" && len(topic.Configs) == 0) {
			t.Errorf("%d: %s", i, got)
		}
	}
	value := "9"
	req := kmsg.NewPtrAlterConfigsRequest()
	req.Resources = []kmsg.AlterConfigsRequestResource{{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "t", Configs: []kmsg.AlterConfigsRequestResourceConfig{{Name: "retention.ms", Value: &value}}}}
	if got := a.raw().ask(versioned(req, 2)).(*kmsg.AlterConfigsResponse).Resources[0]; got.ErrorCode != kafkaerr.None {
		t.Errorf("got %+v", got)
	}
	if topic, _ := a.st.Topics().ByName("t"); fmt.Sprint(topic.Configs) != "map[retention.ms:9]" {
		t.Errorf("got %v", topic.Configs)
	}
}

func TestConcurrentChangesOfDifferentConfigsAllSurvive(t *testing.T) {
	a := start(t)
	a.create("t", 1)
	names := []string{"retention.ms", "retention.bytes", "segment.ms", "flush.ms", "delete.retention.ms", "max.message.bytes", "file.delete.delay.ms", "segment.jitter.ms"}
	var wg sync.WaitGroup
	for _, name := range names {
		wg.Go(func() {
			if code := a.alter("t", false, operation(kmsg.IncrementalAlterConfigOpSet, name, "77")); code != kafkaerr.None {
				t.Errorf("%s: %d", name, code)
			}
		})
	}
	wg.Wait()
	if topic, _ := a.st.Topics().ByName("t"); len(topic.Configs) != len(names) {
		t.Errorf("got %v", topic.Configs)
	}
}

func TestLogDirsReportRealSizes(t *testing.T) {
	a := start(t)
	a.create("t", 2)
	a.create("other", 1)
	a.produce("t", 1, 100)
	req := kmsg.NewPtrDescribeLogDirsRequest()
	all := a.raw().ask(versioned(req, 4)).(*kmsg.DescribeLogDirsResponse)
	if len(all.Dirs) != 1 || all.Dirs[0].Dir != "/data" || len(all.Dirs[0].Topics) != 2 {
		t.Fatalf("got %+v", all)
	}
	req.Topics = []kmsg.DescribeLogDirsRequestTopic{{Topic: "t", Partitions: []int32{0, 1, 7}}}
	some := a.raw().ask(versioned(req, 4)).(*kmsg.DescribeLogDirsResponse).Dirs[0].Topics
	if len(some) != 1 || len(some[0].Partitions) != 2 || some[0].Partitions[0].Size < 200 || some[0].Partitions[1].Size != 0 {
		t.Errorf("got %+v", some)
	}
}

func TestAPartitionMovesToTheDirectoryWhereItIsAndToNoOther(t *testing.T) {
	a := start(t)
	a.create("t", 2)
	req := kmsg.NewPtrAlterReplicaLogDirsRequest()
	dir := func(path, topic string, partitions ...int32) {
		req.Dirs = append(req.Dirs, kmsg.AlterReplicaLogDirsRequestDir{Dir: path, Topics: []kmsg.AlterReplicaLogDirsRequestDirTopic{{Topic: topic, Partitions: partitions}}})
	}
	dir("/data", "t", 0, 2)
	dir("/elsewhere", "t", 1)
	dir("/data", "unknown", 0)
	got := a.raw().ask(versioned(req, 2)).(*kmsg.AlterReplicaLogDirsResponse).Topics
	codes := map[string]int16{}
	for _, topic := range got {
		for _, p := range topic.Partitions {
			codes[fmt.Sprint(topic.Topic, p.Partition)] = p.ErrorCode
		}
	}
	want := map[string]int16{"t0": kafkaerr.None, "t2": kafkaerr.UnknownTopicOrPartition, "t1": kafkaerr.LogDirNotFound, "unknown0": kafkaerr.UnknownTopicOrPartition}
	if len(got) != 2 || !maps.Equal(codes, want) {
		t.Errorf("got %v in %d topics, want %v", codes, len(got), want)
	}
}

func TestPartitionsAreDescribedInPages(t *testing.T) {
	a := start(t)
	for _, name := range []string{"a", "b", "c"} {
		a.create(name, 3)
	}
	req := kmsg.NewPtrDescribeTopicPartitionsRequest()
	req.ResponsePartitionLimit = 4
	var got []string
	for range 10 {
		resp := a.raw().ask(req).(*kmsg.DescribeTopicPartitionsResponse)
		n := 0
		for _, topic := range resp.Topics {
			for _, p := range topic.Partitions {
				got = append(got, fmt.Sprint(*topic.Topic, p.Partition))
				n++
			}
		}
		if n > 4 {
			t.Fatalf("%d partitions in a page", n)
		}
		if resp.NextCursor == nil {
			break
		}
		req.Cursor = &kmsg.DescribeTopicPartitionsRequestCursor{Topic: resp.NextCursor.Topic, Partition: resp.NextCursor.Partition}
	}
	if fmt.Sprint(got) != "[a0 a1 a2 b0 b1 b2 c0 c1 c2]" {
		t.Errorf("got %v", got)
	}
}

func TestChangesOfTheBrokerAreRefused(t *testing.T) {
	a := start(t)
	value := "1"
	req := kmsg.NewPtrAlterConfigsRequest()
	req.Resources = []kmsg.AlterConfigsRequestResource{
		{ResourceType: kmsg.ConfigResourceTypeBroker, ResourceName: "1", Configs: []kmsg.AlterConfigsRequestResourceConfig{{Name: "num.partitions", Value: &value}}},
		{ResourceType: kmsg.ConfigResourceTypeClientMetrics, ResourceName: "x"},
	}
	got := a.raw().ask(versioned(req, 2)).(*kmsg.AlterConfigsResponse).Resources
	if got[0].ErrorCode != kafkaerr.ClusterAuthorizationFailed || got[1].ErrorCode != kafkaerr.InvalidRequest {
		t.Errorf("got %+v", got)
	}
}
