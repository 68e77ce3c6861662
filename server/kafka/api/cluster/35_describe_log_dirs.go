package cluster

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeLogDirs serves DescribeLogDirs 1–5: there is one directory. Sizes are what a
// partition's batches take on disk; errors of the request as a whole exist from 3
// on, before that an empty answer has to do.
func (h *Handlers) DescribeLogDirs(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.DescribeLogDirsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeLogDirsResponse)
	if !h.Allowed(r, auth.Describe, api.ClusterResource) {
		resp.ErrorCode = kafkaerr.ClusterAuthorizationFailed
		return resp, nil
	}
	dir := kmsg.NewDescribeLogDirsResponseDir()
	dir.Dir = h.LogDir
	stats := h.Store.Stats()
	dir.TotalBytes, dir.UsableBytes = stats.DiskTotal, stats.DiskFree
	if !stats.Healthy {
		dir.ErrorCode = kafkaerr.KafkaStorageError
	}
	topics := h.Store.Topics()
	if req.Topics == nil {
		for _, t := range topics.All() {
			dir.Topics = append(dir.Topics, h.topicSizes(t, nil))
		}
	}
	for _, asked := range req.Topics {
		if t, ok := topics.ByName(asked.Topic); ok {
			dir.Topics = append(dir.Topics, h.topicSizes(t, asked.Partitions))
		}
	}
	resp.Dirs = append(resp.Dirs, dir)
	return resp, nil
}

// topicSizes is the size of the partitions asked for; of all when asked is nil.
func (h *Handlers) topicSizes(t state.Topic, asked []int32) kmsg.DescribeLogDirsResponseDirTopic {
	dt := kmsg.NewDescribeLogDirsResponseDirTopic()
	dt.Topic = t.Name
	add := func(p int32) {
		dp := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
		dp.Partition = p
		dp.Size = h.Store.SizeBytes(state.TopicPartition{Topic: t.ID, Partition: p})
		dt.Partitions = append(dt.Partitions, dp)
	}
	if asked == nil {
		for p := range t.Partitions {
			add(p)
		}
		return dt
	}
	for _, p := range asked {
		if p >= 0 && p < t.Partitions {
			add(p)
		}
	}
	return dt
}
