package groups

import (
	"encoding/base64"
	"strconv"
	"strings"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// shareCoordinatorOf finds who keeps the state of a share partition: this node, too. Kafka has brokers
// ask only, from version 6 on.
func (h *Handlers) shareCoordinatorOf(r *api.Request, key string) kmsg.FindCoordinatorResponseCoordinator {
	c := kmsg.NewFindCoordinatorResponseCoordinator()
	c.Key, c.NodeID, c.Port = key, -1, -1
	switch {
	case r.Version < 6 || h.Shares == nil || !isSharePartitionKey(key):
		c.ErrorCode = kafkaerr.InvalidRequest
	case !h.Allowed(r, auth.ClusterAction, api.ClusterResource):
		c.ErrorCode = kafkaerr.ClusterAuthorizationFailed
	default:
		c.NodeID = h.NodeID
		c.Host, c.Port = r.Advertised()
	}
	return c
}

// isSharePartitionKey says whether key is group:topic id:partition; a group may have colons itself.
func isSharePartitionKey(key string) bool {
	rest, partition, ok := cutLast(key)
	if !ok {
		return false
	}
	group, topic, ok := cutLast(rest)
	if !ok || group == "" {
		return false
	}
	id, err := base64.RawURLEncoding.DecodeString(topic)
	n, perr := strconv.ParseInt(partition, 10, 32)
	return err == nil && len(id) == 16 && perr == nil && n >= 0
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}
