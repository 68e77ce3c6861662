package kafka

import (
	"context"

	"millrace/server/auth"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// alterReplicaLogDirs serves AlterReplicaLogDirs 1–2: there is one directory, so a
// partition can be moved to where it is, and to nowhere else.
func (s *Server) alterReplicaLogDirs(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.AlterReplicaLogDirsRequest)
	resp := req.ResponseKind().(*kmsg.AlterReplicaLogDirsResponse)
	may := s.allowed(r, auth.Alter, clusterResource)
	topics := s.o.Store.Topics()
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
					rp.ErrorCode = errClusterAuthorizationFailed
				case d.Dir != s.o.Admin.LogDir:
					rp.ErrorCode = errLogDirNotFound
				case !known || p < 0 || p >= topic.Partitions:
					rp.ErrorCode = errUnknownTopicOrPartition
				}
				resp.Topics[i].Partitions = append(resp.Topics[i].Partitions, rp)
			}
		}
	}
	return resp, nil
}
