// Package quotas serves the APIs that show and change quotas. What they are is server/kafka/quota.
package quotas

import (
	"millrace/server/kafka/api"
	"millrace/server/kafka/quota"
)

// Handlers serve them, a method each.
type Handlers struct {
	*api.Node
	Quotas *quota.Quotas
}
