package cluster

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AlterReplicaLogDirs serves AlterReplicaLogDirs 1–2: there is one directory, so a
// partition can be moved to where it is, and to nowhere else.
func (h *Handlers) AlterReplicaLogDirs(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.AlterReplicaLogDirsRequest)
	resp := req.ResponseKind().(*kmsg.AlterReplicaLogDirsResponse)
	may := h.Allowed(r, auth.Alter, api.ClusterResource)
	topics := h.Store.Topics()
	answered := map[string]int{} // a topic is answered once, though several directories name it
	for _, d := range req.Dirs {
		for _, t := range d.Topics {
			i, ok := answered[t.Topic]
			if !ok {
				i = len(resp.Topics)
				answered[t.Topic] = i
				rt := kmsg.NewAlterReplicaLogDirsResponseTopic()
				rt.Topic = t.Topic
				resp.Topics = append(resp.Topics, rt)
			}
			topic, known := topics.ByName(t.Topic)
			for _, p := range t.Partitions {
				rp := kmsg.NewAlterReplicaLogDirsResponseTopicPartition()
				rp.Partition = p
				switch {
				case !may:
					rp.ErrorCode = kafkaerr.ClusterAuthorizationFailed
				case d.Dir != h.LogDir:
					rp.ErrorCode = kafkaerr.LogDirNotFound
				case !known || p < 0 || p >= topic.Partitions:
					rp.ErrorCode = kafkaerr.UnknownTopicOrPartition
				}
				resp.Topics[i].Partitions = append(resp.Topics[i].Partitions, rp)
			}
		}
	}
	return resp, nil
}
