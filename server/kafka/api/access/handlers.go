// Package access serves the APIs that say who may do what: ACLs, and the credentials of users.
package access

import "millrace/server/kafka/api"

// Handlers serve them, a method each.
type Handlers struct{ *api.Node }
