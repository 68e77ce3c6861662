// Package cluster serves the APIs about the cluster, which is one node: its address, its disk,
// its quorum of one, and the features that it has.
package cluster

import "millrace/server/kafka/api"

// Handlers serve them, a method each.
type Handlers struct {
	*api.Node
	LogDir string // the data directory as tools are shown it

	// Which groups are served: features stand for them.
	ConsumerGroups, ShareGroups bool
}
