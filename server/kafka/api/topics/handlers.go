// Package topics serves the APIs about topics and their partitions: which there are, where they
// begin and end, and how many there shall be.
package topics

import (
	"millrace/server/kafka/api"
	"millrace/server/kafka/api/configs"
	"millrace/server/kafka/kafkaerr"
	"millrace/server/kafka/quota"
)

// Handlers serve them, a method each.
type Handlers struct {
	*api.Node
	Configs           *configs.Handlers // checks those that new topics come with
	Quotas            *quota.Quotas
	AutoCreateTopics  bool
	DefaultPartitions int
}

// takeMutations charges the client for partitions that are made or deleted. Who understands it (strict) is
// refused as long as it owes for others; older clients are only told to wait.
func (h *Handlers) takeMutations(r *api.Request, partitions int32, strict bool) error {
	wait, ok := h.Quotas.ChargeMutations(r.Principal.Name, r.QuotaID, int(partitions), strict)
	r.Wait = max(r.Wait, wait)
	if !ok {
		return kafkaerr.Faultf(kafkaerr.ThrottlingQuotaExceeded, "The throttling quota has been exceeded.")
	}
	return nil
}
