package kafka

import (
	"fmt"
	"strings"
	"testing"

	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// How a level may change.
const (
	featureUpgrade         = 1
	featureSafeDowngrade   = 2
	featureUnsafeDowngrade = 3
)

func featureUpdate(version int16, name string, level int16, kind int8) *kmsg.UpdateFeaturesRequest {
	req := versioned(kmsg.NewPtrUpdateFeaturesRequest(), version)
	u := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
	u.Feature, u.MaxVersionLevel, u.UpgradeType, u.AllowDowngrade = name, level, kind, kind > 1
	req.FeatureUpdates = append(req.FeatureUpdates, u)
	return req
}

func TestFeaturesAreFinalizedAtTheLevelThatWasChosenLast(t *testing.T) {
	e := start(t)
	finalized := func() string {
		hello := kmsg.NewPtrApiVersionsRequest()
		hello.Version, hello.ClientSoftwareName, hello.ClientSoftwareVersion = 4, "test", "1"
		resp := e.raw().ask(hello).(*kmsg.ApiVersionsResponse)
		var out []string
		for _, f := range resp.FinalizedFeatures {
			if f.Name == "transaction.version" || f.Name == "metadata.version" {
				out = append(out, fmt.Sprintf("%s %d", f.Name, f.MaxVersionLevel))
			}
		}
		return strings.Join(append(out, fmt.Sprint("epoch ", resp.FinalizedFeaturesEpoch)), ", ")
	}
	r := e.raw()
	for _, step := range []struct {
		req  *kmsg.UpdateFeaturesRequest
		code int16
		then string
	}{
		{featureUpdate(1, "transaction.version", 2, featureUpgrade), kafkaerr.None, "metadata.version 27, transaction.version 2, epoch 1"},
		{featureUpdate(1, "transaction.version", 1, featureUpgrade), kafkaerr.InvalidUpdateVersion, "metadata.version 27, transaction.version 2, epoch 1"},
		{featureUpdate(1, "transaction.version", 1, featureSafeDowngrade), kafkaerr.None, "metadata.version 27, transaction.version 1, epoch 2"},
		{featureUpdate(2, "transaction.version", 2, featureSafeDowngrade), kafkaerr.InvalidUpdateVersion, "metadata.version 27, transaction.version 1, epoch 2"},
		{featureUpdate(2, "transaction.version", 3, featureUpgrade), kafkaerr.InvalidUpdateVersion, "metadata.version 27, transaction.version 1, epoch 2"},
		{featureUpdate(0, "transaction.version", 0, featureUnsafeDowngrade), kafkaerr.None, "metadata.version 27, epoch 3"},
		{featureUpdate(2, "transaction.version", 2, featureUpgrade), kafkaerr.None, "metadata.version 27, transaction.version 2, epoch 4"},
		{featureUpdate(1, "transaction.version", 2, 9), kafkaerr.InvalidUpdateVersion, "metadata.version 27, transaction.version 2, epoch 4"},
		{featureUpdate(1, "metadata.version", 26, featureSafeDowngrade), kafkaerr.InvalidUpdateVersion, "metadata.version 27, transaction.version 2, epoch 4"},
		{featureUpdate(1, "metadata.version", 27, featureUpgrade), kafkaerr.None, "metadata.version 27, transaction.version 2, epoch 4"},
		{featureUpdate(1, "nonsense", 1, featureUpgrade), kafkaerr.InvalidUpdateVersion, "metadata.version 27, transaction.version 2, epoch 4"},
	} {
		if got := r.ask(step.req).(*kmsg.UpdateFeaturesResponse); got.ErrorCode != step.code {
			t.Errorf("%+v: %+v", step.req.FeatureUpdates, got)
		}
		if got := finalized(); got != step.then {
			t.Errorf("%+v: %s, want %s", step.req.FeatureUpdates, got, step.then)
		}
	}
	only := featureUpdate(1, "transaction.version", 1, featureSafeDowngrade)
	only.ValidateOnly = true
	twice := featureUpdate(1, "transaction.version", 1, featureSafeDowngrade)
	twice.FeatureUpdates = append(twice.FeatureUpdates, twice.FeatureUpdates[0])
	if r.ask(only).(*kmsg.UpdateFeaturesResponse).ErrorCode != kafkaerr.None || r.ask(twice).(*kmsg.UpdateFeaturesResponse).ErrorCode != kafkaerr.InvalidRequest {
		t.Error("want the one valid, the other not")
	}
	before := finalized()
	e.close()
	e.open()
	if got := finalized(); got != before || !strings.Contains(got, "transaction.version 2") {
		t.Error(got)
	}
}

func TestAPartitionCanBeAssignedToWhereItIs(t *testing.T) {
	e := start(t)
	e.topic("t", 1)
	for node, want := range map[int32]int16{1: kafkaerr.None, 2: kafkaerr.InvalidReplicaAssignment} {
		req := versioned(kmsg.NewPtrAlterPartitionAssignmentsRequest(), 1)
		req.Topics = []kmsg.AlterPartitionAssignmentsRequestTopic{{Topic: "t", Partitions: []kmsg.AlterPartitionAssignmentsRequestTopicPartition{{Replicas: []int32{node}}}}}
		if got := e.raw().ask(req).(*kmsg.AlterPartitionAssignmentsResponse).Topics[0].Partitions[0].ErrorCode; got != want {
			t.Errorf("to node %d: %d", node, got)
		}
	}
}
