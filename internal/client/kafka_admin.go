package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Special timestamps of ListOffsets.
const (
	latestOffset   = -1
	earliestOffset = -2
)

// partitionOffsets is offsets by topic and partition.
type partitionOffsets map[string]map[int32]int64

func (p partitionOffsets) set(topic string, partition int32, offset int64) {
	if p[topic] == nil {
		p[topic] = map[int32]int64{}
	}
	p[topic][partition] = offset
}

// kafkaError is nil for code 0; message, when the broker gave one, says why.
func kafkaError(code int16, message *string) error {
	err := kerr.ErrorForCode(code)
	if err == nil || message == nil || *message == "" {
		return err
	}
	return brokerError{err, *message}
}

// brokerError is a Kafka error in the broker's own words. errors.Is finds the code.
type brokerError struct {
	code    error
	message string
}

func (e brokerError) Unwrap() error { return e.code }

func (e brokerError) Error() string {
	name, _, _ := strings.Cut(e.code.Error(), ":")
	return fmt.Sprintf("%s (%s)", strings.TrimSuffix(e.message, "."), name)
}

// topicPartitions are the partitions of the named topics, or of all for nil.
// A topic that does not exist is an error.
func topicPartitions(ctx context.Context, cl *kgo.Client, topics []string) (map[string][]int32, error) {
	return askTopicPartitions(ctx, cl, topics, false)
}

// awaitTopic is topicPartitions of a topic that the broker may create when asked, and that
// is waited for otherwise; waiting is called before the first wait.
func awaitTopic(ctx context.Context, cl *kgo.Client, topic string, waiting func()) (map[string][]int32, error) {
	const interval = time.Second
	create := true
	for first := true; ; first = false {
		found, err := askTopicPartitions(ctx, cl, []string{topic}, create)
		if create && errors.Is(err, kerr.TopicAuthorizationFailed) { // may read it, perhaps, but not create it
			create = false
			found, err = askTopicPartitions(ctx, cl, []string{topic}, create)
		}
		if !errors.Is(err, kerr.UnknownTopicOrPartition) && !errors.Is(err, kerr.LeaderNotAvailable) {
			return found, err
		}
		if first {
			waiting()
		}
		select {
		case <-time.After(interval):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func askTopicPartitions(ctx context.Context, cl *kgo.Client, topics []string, create bool) (map[string][]int32, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = create
	for _, t := range topics {
		rt := kmsg.NewMetadataRequestTopic()
		rt.Topic = kmsg.StringPtr(t)
		req.Topics = append(req.Topics, rt)
	}
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return nil, err
	}
	found := map[string][]int32{}
	for _, t := range resp.Topics {
		if t.Topic == nil {
			continue
		}
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return nil, fmt.Errorf("topic %s: %w", *t.Topic, err)
		}
		ps := []int32{}
		for _, p := range t.Partitions {
			ps = append(ps, p.Partition)
		}
		slices.Sort(ps)
		found[*t.Topic] = ps
	}
	return found, nil
}

// listOffsets asks for the offset at a special timestamp in every partition.
func listOffsets(ctx context.Context, cl *kgo.Client, topics map[string][]int32, special int64) (partitionOffsets, error) {
	offsets, _, err := offsetsAt(ctx, cl, topics, special)
	return offsets, err
}

// offsetsForTime asks for the first record of a time, or later, in every partition. Where all are earlier, as late says,
// it is the end.
func offsetsForTime(ctx context.Context, cl *kgo.Client, topics map[string][]int32, timestamp int64) (offsets partitionOffsets, late map[string][]int32, err error) {
	offsets, late, err = offsetsAt(ctx, cl, topics, timestamp)
	if err != nil || len(late) == 0 {
		return offsets, nil, err
	}
	ends, err := listOffsets(ctx, cl, late, latestOffset)
	if err != nil {
		return nil, nil, err
	}
	for t, ps := range ends {
		for p, o := range ps {
			offsets.set(t, p, o)
		}
	}
	return offsets, late, nil
}

// offsetsAt asks for the offset at a timestamp in every partition; none are the partitions where there is none.
func offsetsAt(ctx context.Context, cl *kgo.Client, topics map[string][]int32, timestamp int64) (offsets partitionOffsets, none map[string][]int32, err error) {
	req := kmsg.NewPtrListOffsetsRequest()
	for topic, partitions := range topics {
		rt := kmsg.NewListOffsetsRequestTopic()
		rt.Topic = topic
		for _, p := range partitions {
			rp := kmsg.NewListOffsetsRequestTopicPartition()
			rp.Partition, rp.Timestamp = p, timestamp
			rt.Partitions = append(rt.Partitions, rp)
		}
		if len(rt.Partitions) > 0 {
			req.Topics = append(req.Topics, rt)
		}
	}
	offsets, none = partitionOffsets{}, map[string][]int32{}
	if len(req.Topics) == 0 {
		return offsets, none, nil
	}
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, nil, fmt.Errorf("topic %s partition %d: %w", t.Topic, p.Partition, err)
			}
			if p.Offset < 0 && timestamp >= 0 {
				none[t.Topic] = append(none[t.Topic], p.Partition)
				continue
			}
			offsets.set(t.Topic, p.Partition, p.Offset)
		}
	}
	return offsets, none, nil
}

// committedOffsets are a group's; partitions without one are left out.
func committedOffsets(ctx context.Context, cl *kgo.Client, group string) (partitionOffsets, error) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = group // for brokers that know one group a request only
	rg := kmsg.NewOffsetFetchRequestGroup()
	rg.Group = group
	req.Groups = append(req.Groups, rg)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return nil, err
	}
	offsets := partitionOffsets{}
	add := func(topic string, partition int32, offset int64, code int16) error {
		if err := kerr.ErrorForCode(code); err != nil {
			return fmt.Errorf("offset of group %s for %s/%d: %w", group, topic, partition, err)
		}
		if offset >= 0 {
			offsets.set(topic, partition, offset)
		}
		return nil
	}
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return nil, err
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := add(t.Topic, p.Partition, p.Offset, p.ErrorCode); err != nil {
				return nil, err
			}
		}
	}
	var names map[[16]byte]string
	for _, g := range resp.Groups {
		if err := kerr.ErrorForCode(g.ErrorCode); err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
			return nil, err
		}
		for _, t := range g.Topics {
			name := t.Topic
			if name == "" { // version 10 names topics by id
				if names == nil {
					if names, err = topicNames(ctx, cl); err != nil {
						return nil, err
					}
				}
				if name = names[t.TopicID]; name == "" {
					continue
				}
			}
			for _, p := range t.Partitions {
				if err := add(name, p.Partition, p.Offset, p.ErrorCode); err != nil {
					return nil, err
				}
			}
		}
	}
	return offsets, nil
}

func topicNames(ctx context.Context, cl *kgo.Client) (map[[16]byte]string, error) {
	resp, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, cl)
	if err != nil {
		return nil, err
	}
	names := map[[16]byte]string{}
	for _, t := range resp.Topics {
		if t.Topic != nil {
			names[t.TopicID] = *t.Topic
		}
	}
	return names, nil
}

// createTopic makes a topic; partitions -1 is the broker's default. It returns the number
// of partitions, or less than 1 from a broker that does not tell.
func createTopic(ctx context.Context, cl *kgo.Client, name string, partitions int32, configs map[string]string) (int32, error) {
	req := kmsg.NewPtrCreateTopicsRequest()
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, partitions, -1
	for _, k := range slices.Sorted(maps.Keys(configs)) {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = k, kmsg.StringPtr(configs[k])
		t.Configs = append(t.Configs, c)
	}
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return 0, err
	}
	for _, t := range resp.Topics {
		if err := kafkaError(t.ErrorCode, t.ErrorMessage); err != nil {
			return 0, fmt.Errorf("topic %s: %w", t.Topic, err)
		}
		partitions = t.NumPartitions
	}
	return partitions, nil
}

// ensureTopic makes the topic unless it exists. It looks first, so that the server has
// nothing to refuse; what another client makes meanwhile is there all the same.
func ensureTopic(ctx context.Context, cl *kgo.Client, name string, partitions int32) error {
	names, err := topicNames(ctx, cl)
	if err != nil {
		return err
	}
	for _, n := range names {
		if n == name {
			return nil
		}
	}
	if _, err := createTopic(ctx, cl, name, partitions, nil); err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
		return err
	}
	return nil
}

// setConfigs changes topic configs: set, and unset back to the default.
func setConfigs(ctx context.Context, cl *kgo.Client, topic string, set map[string]string, unset []string) error {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, topic
	for _, k := range slices.Sorted(maps.Keys(set)) {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Op, c.Value = k, kmsg.IncrementalAlterConfigOpSet, kmsg.StringPtr(set[k])
		r.Configs = append(r.Configs, c)
	}
	for _, k := range unset {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Op = k, kmsg.IncrementalAlterConfigOpDelete
		r.Configs = append(r.Configs, c)
	}
	req.Resources = append(req.Resources, r)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	for _, r := range resp.Resources {
		if err := kafkaError(r.ErrorCode, r.ErrorMessage); err != nil {
			return fmt.Errorf("topic %s: %w", topic, err)
		}
	}
	return nil
}

type topicConfig struct {
	name, value string
	set         bool // explicitly, on the topic
}

// topicConfigs are a topic's effective configs in name order.
func topicConfigs(ctx context.Context, cl *kgo.Client, topic string) ([]topicConfig, error) {
	req := kmsg.NewPtrDescribeConfigsRequest()
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, topic
	req.Resources = append(req.Resources, r)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return nil, err
	}
	var all []topicConfig
	for _, r := range resp.Resources {
		if err := kafkaError(r.ErrorCode, r.ErrorMessage); err != nil {
			return nil, fmt.Errorf("configs of %s: %w", topic, err)
		}
		for _, c := range r.Configs {
			tc := topicConfig{name: c.Name, set: c.Source == kmsg.ConfigSourceDynamicTopicConfig}
			if c.Value != nil {
				tc.value = *c.Value
			}
			all = append(all, tc)
		}
	}
	slices.SortFunc(all, func(a, b topicConfig) int { return strings.Compare(a.name, b.name) })
	return all, nil
}
