// Package groups serves the APIs of consumer groups, classic and KIP-848: membership, and the
// offsets that groups commit. What groups are is server/kafka/group.
package groups

import (
	"millrace/server/kafka/api"
	"millrace/server/kafka/group"
	"millrace/server/kafka/share"
)

// Handlers serve them, a method each.
type Handlers struct {
	*api.Node
	Groups *group.Coordinator
	Shares *share.Coordinator // some APIs are about groups of any kind; nil: there are no share groups
}
