// Package configs serves the APIs about configs: of topics, groups and the broker.
package configs

import (
	"millrace/server/kafka/api"
	"millrace/server/kafka/groupconfig"
)

// Handlers serve them, a method each.
type Handlers struct {
	*api.Node
	GroupConfig *groupconfig.Configs
	// CheckColumns checks millrace.columns when it is set; nil: any text is taken.
	CheckColumns func(ddl string) error
	// Broker lists the broker's configs in name order.
	Broker func() []Broker
}
