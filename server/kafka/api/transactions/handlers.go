// Package transactions serves the APIs of idempotent and transactional producers, but for their
// records and offsets, and ends what producers leave open.
package transactions

import (
	"time"

	"millrace/server/kafka/api"
)

// Handlers serve them, a method each.
type Handlers struct {
	*api.Node
	MaxTimeout   time.Duration // the longest that a producer may ask for
	IDExpiration time.Duration // of a transactional id that is not used
}
