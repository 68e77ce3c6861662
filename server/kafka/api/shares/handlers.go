// Package shares serves the APIs of share groups (KIP-932). What they are is server/kafka/share.
package shares

import (
	"millrace/internal/budget"
	"millrace/server/kafka/api"
	"millrace/server/kafka/share"
)

// Handlers serve them, a method each.
type Handlers struct {
	*api.Node
	Shares *share.Coordinator
	Memory *budget.Budget // records that are being fetched or sent
}
