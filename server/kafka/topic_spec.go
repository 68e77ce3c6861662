package kafka

import (
	"millrace/catalog"
	"millrace/internal/topicconfig"
)

// checkConfigs says whether these explicitly set topic configs may be set.
func (s *Server) checkConfigs(set map[string]string) *adminError {
	_, err := topicconfig.Parse(set)
	if err != nil {
		return adminErrorf(errInvalidConfig, "%s", err)
	}
	if ddl := set["millrace.columns"]; ddl != "" && s.o.Admin.CheckColumns != nil {
		if err := s.o.Admin.CheckColumns(ddl); err != nil {
			return adminErrorf(errInvalidConfig, "Invalid value for configuration millrace.columns: %s", err)
		}
	}
	if _, err := catalog.ParseDropped(set["millrace.columns.dropped"]); err != nil {
		return adminErrorf(errInvalidConfig, "Invalid value for configuration millrace.columns.dropped: %s", err)
	}
	return nil
}

// checkReplicas says whether an explicit replica assignment of one partition is
// possible: this node is the only one there is.
func (s *Server) checkReplicas(partition int32, replicas []int32) *adminError {
	if len(replicas) == 0 {
		return adminErrorf(errInvalidReplicaAssignment, "The manual partition assignment includes an empty replica list for partition %d.", partition)
	}
	seen := map[int32]bool{}
	for _, id := range replicas {
		switch {
		case seen[id]:
			return adminErrorf(errInvalidReplicaAssignment, "The manual partition assignment includes the broker %d more than once for partition %d.", id, partition)
		case id != s.o.NodeID:
			return adminErrorf(errInvalidReplicaAssignment, "The manual partition assignment includes broker %d, but no such broker is registered.", id)
		}
		seen[id] = true
	}
	return nil
}
