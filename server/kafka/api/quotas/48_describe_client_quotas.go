package quotas

import (
	"context"
	"maps"
	"slices"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/server/kafka/quota"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Kafka's names of the parts of an entity with a quota.
const (
	quotaUser     = "user"
	quotaClientID = "client-id"
	quotaIP       = "ip"
)

// quotaPart is the part of e that Kafka calls so; nil for another name.
func quotaPart(e *quota.Entity, name string) *quota.Part {
	switch name {
	case quotaUser:
		return &e.User
	case quotaClientID:
		return &e.ClientID
	case quotaIP:
		return &e.IP
	}
	return nil
}

// DescribeClientQuotas serves DescribeClientQuotas 0–1.
func (h *Handlers) DescribeClientQuotas(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.DescribeClientQuotasRequest)
	resp := req.ResponseKind().(*kmsg.DescribeClientQuotasResponse)
	if !h.Allowed(r, auth.DescribeConfigs, api.ClusterResource) {
		resp.ErrorCode = kafkaerr.ClusterAuthorizationFailed
		return resp, nil
	}
	if err := checkQuotaFilter(req.Components); err != nil {
		resp.ErrorCode, resp.ErrorMessage = h.Fault(err)
		return resp, nil
	}
	resp.Entries = []kmsg.DescribeClientQuotasResponseEntry{} // null is for failures
	for _, q := range h.Quotas.All() {
		if !matchesQuota(req, q.Entity) {
			continue
		}
		entry := kmsg.NewDescribeClientQuotasResponseEntry()
		for _, name := range []string{quotaUser, quotaClientID, quotaIP} {
			if p := quotaPart(&q.Entity, name); p.Set {
				part := kmsg.NewDescribeClientQuotasResponseEntryEntity()
				part.Type = name
				if !p.Default {
					part.Name = kmsg.StringPtr(p.Name)
				}
				entry.Entity = append(entry.Entity, part)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(q.Values)) {
			v := kmsg.NewDescribeClientQuotasResponseEntryValue()
			v.Key, v.Value = key, q.Values[key]
			entry.Values = append(entry.Values, v)
		}
		resp.Entries = append(resp.Entries, entry)
	}
	return resp, nil
}

// checkQuotaFilter refuses filters that nothing can match, as Kafka does.
func checkQuotaFilter(components []kmsg.DescribeClientQuotasRequestComponent) error {
	seen := map[string]bool{}
	for _, c := range components {
		switch {
		case c.EntityType == "":
			return kafkaerr.Faultf(kafkaerr.InvalidRequest, "Unexpected empty filter component entity type.")
		case seen[c.EntityType]:
			return kafkaerr.Faultf(kafkaerr.InvalidRequest, "Entity type %s cannot appear more than once in the filter.", c.EntityType)
		case quotaPart(&quota.Entity{}, c.EntityType) == nil:
			return kafkaerr.Faultf(kafkaerr.UnsupportedVersion, "Custom entity type '%s' not supported.", c.EntityType)
		case c.MatchType == kmsg.QuotasMatchTypeExact && c.Match == nil:
			return kafkaerr.Faultf(kafkaerr.InvalidRequest, "Exact matches want a name.")
		case c.MatchType != kmsg.QuotasMatchTypeExact && c.Match != nil:
			return kafkaerr.Faultf(kafkaerr.InvalidRequest, "Only exact matches have a name.")
		case c.MatchType < kmsg.QuotasMatchTypeExact || c.MatchType > kmsg.QuotasMatchTypeAny:
			return kafkaerr.Faultf(kafkaerr.InvalidRequest, "Unknown match type %d.", c.MatchType)
		}
		seen[c.EntityType] = true
	}
	if seen[quotaIP] && len(seen) > 1 {
		return kafkaerr.Faultf(kafkaerr.InvalidRequest, "Invalid entity filter component combination, IP filter component should not be used with user or clientId filter component.")
	}
	return nil
}

func matchesQuota(req *kmsg.DescribeClientQuotasRequest, e quota.Entity) bool {
	parts := 0
	for _, p := range []quota.Part{e.User, e.ClientID, e.IP} {
		if p.Set {
			parts++
		}
	}
	if req.Strict && parts != len(req.Components) {
		return false
	}
	for _, c := range req.Components {
		p := quotaPart(&e, c.EntityType)
		switch {
		case !p.Set,
			c.MatchType == kmsg.QuotasMatchTypeDefault && !p.Default,
			c.MatchType == kmsg.QuotasMatchTypeExact && (p.Default || p.Name != *c.Match):
			return false
		}
	}
	return true
}
