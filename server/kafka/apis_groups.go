package kafka

import (
	"context"

	"millrace/server/kafka/group"
)

// AdminOptions is what the group and administration APIs need beyond the rest.
type AdminOptions struct {
	// Groups coordinates consumer groups; nil: the group APIs are not advertised.
	Groups *group.Coordinator
	// CheckColumns checks millrace.columns when it is set; nil: any text is taken.
	CheckColumns func(ddl string) error
	// LogDir is the data directory as tools are shown it.
	LogDir string
	// BrokerConfigs are broker configs that were set explicitly and differ from what
	// broker_configs.go would report (Kafka's names and spelling).
	BrokerConfigs map[string]string
}

// groupAPIs is the consumer group APIs and those that administer topics and
// their configs.
func (s *Server) groupAPIs() []api {
	admin := []api{
		{key: 19, min: 2, max: 7, handle: s.createTopics},
		{key: 20, min: 1, max: 6, handle: s.deleteTopics},
		{key: 21, min: 0, max: 2, handle: s.deleteRecords},
		{key: 32, min: 1, max: 4, handle: s.describeConfigs},
		{key: 33, min: 0, max: 2, handle: s.alterConfigs},
		{key: 35, min: 1, max: 5, handle: s.describeLogDirs},
		{key: 37, min: 0, max: 3, handle: s.createPartitions},
		{key: 44, min: 0, max: 1, handle: s.incrementalAlterConfigs},
		{key: 75, min: 0, max: 0, handle: s.describeTopicPartitions},
	}
	if s.o.Admin.Groups == nil {
		return admin
	}
	return append(admin, []api{
		{key: 8, min: 2, max: 10, handle: s.offsetCommit},
		{key: 9, min: 1, max: 10, handle: s.offsetFetch},
		{key: 10, min: 0, max: 6, handle: s.findCoordinator},
		{key: 11, min: 0, max: 9, handle: s.joinGroup, blocking: true},
		{key: 12, min: 0, max: 4, handle: s.heartbeat},
		{key: 13, min: 0, max: 5, handle: s.leaveGroup},
		{key: 14, min: 0, max: 5, handle: s.syncGroup, blocking: true},
		{key: 15, min: 0, max: 6, handle: s.describeGroups},
		{key: 16, min: 0, max: 5, handle: s.listGroups},
		{key: 42, min: 0, max: 3, handle: s.deleteGroups},
		{key: 47, min: 0, max: 0, handle: s.offsetDelete},
	}...)
}

// answer is what a reply function with an error brings.
type answer[T any] struct {
	value T
	err   error
}

// await starts something that replies once, from whatever goroutine, and waits for it.
// After ctx ended the reply goes nowhere.
func await[T any](ctx context.Context, start func(reply func(T))) (T, error) {
	ch := make(chan T, 1)
	start(func(v T) { ch <- v })
	select {
	case v := <-ch:
		return v, nil
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
}

// nullable is null for the empty string.
func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
