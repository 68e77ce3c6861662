package quotas

import (
	"context"
	"errors"
	"math"
	"net"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"
	"millrace/server/kafka/quota"
	"millrace/server/kafka/rarelog"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// quotaKeys says which limits there are, and for whom; those of whole numbers are so in Kafka, too.
var quotaKeys = map[string]struct{ ip, whole bool }{
	quota.ProducerByteRate:       {whole: true},
	quota.ConsumerByteRate:       {whole: true},
	quota.RequestPercentage:      {},
	quota.ControllerMutationRate: {},
	quota.ConnectionCreationRate: {ip: true, whole: true},
}

// AlterClientQuotas serves AlterClientQuotas 0–1, each entity for itself.
func (h *Handlers) AlterClientQuotas(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.AlterClientQuotasRequest)
	resp := req.ResponseKind().(*kmsg.AlterClientQuotasResponse)
	// While no user exists they are no more the operator's than users and ACLs are.
	may := h.Allowed(r, auth.AlterConfigs, api.ClusterResource) || h.Auth.Open() && h.Allowed(r, auth.Alter, api.ClusterResource)
	for i := range req.Entries {
		entry := &req.Entries[i]
		answer := kmsg.NewAlterClientQuotasResponseEntry()
		for _, e := range entry.Entity {
			part := kmsg.NewAlterClientQuotasResponseEntryEntity()
			part.Type, part.Name = e.Type, e.Name
			answer.Entity = append(answer.Entity, part)
		}
		err := error(kafkaerr.Faultf(kafkaerr.ClusterAuthorizationFailed, "Cluster authorization failed."))
		if may {
			err = h.alterClientQuota(ctx, entry, req.ValidateOnly)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		answer.ErrorCode, answer.ErrorMessage = h.Fault(err)
		resp.Entries = append(resp.Entries, answer)
	}
	return resp, nil
}

func (h *Handlers) alterClientQuota(ctx context.Context, entry *kmsg.AlterClientQuotasRequestEntry, validateOnly bool) error {
	entity, err := quotaEntity(entry.Entity)
	if err != nil {
		return err
	}
	changes := map[string]*float64{}
	for i := range entry.Ops {
		op := &entry.Ops[i]
		k, known := quotaKeys[op.Key]
		switch {
		case !known || k.ip != entity.IP.Set:
			return kafkaerr.Faultf(kafkaerr.InvalidRequest, "Invalid configuration key %s", op.Key)
		case op.Remove:
			changes[op.Key] = nil
			continue
		case math.IsNaN(op.Value) || math.IsInf(op.Value, 0) || op.Value <= 0 || op.Value >= math.MaxInt64:
			return kafkaerr.Faultf(kafkaerr.InvalidRequest, "Quota %s must be greater than 0", op.Key)
		case k.whole && op.Value != math.Trunc(op.Value):
			return kafkaerr.Faultf(kafkaerr.InvalidRequest, "%s must be a whole number", op.Key)
		}
		changes[op.Key] = &op.Value
	}
	if validateOnly {
		return nil
	}
	defer api.Waiting(ctx)()
	if err := h.Quotas.Change(ctx, entity, changes); errors.Is(err, quota.ErrTooMany) {
		return kafkaerr.Faultf(kafkaerr.PolicyViolation, "There are %d quotas, the most that are kept.", quota.MaxQuotas)
	} else if err != nil {
		return err
	}
	return nil
}

func quotaEntity(parts []kmsg.AlterClientQuotasRequestEntryEntity) (quota.Entity, error) {
	var e quota.Entity
	const longest = 1 << 10
	for _, part := range parts {
		p := quotaPart(&e, part.Type)
		switch {
		case p == nil:
			return e, kafkaerr.Faultf(kafkaerr.InvalidRequest, "Unhandled client quota entity type: %s", rarelog.Cut(part.Type))
		case p.Set:
			return e, kafkaerr.Faultf(kafkaerr.InvalidRequest, "Invalid entity: %s appears twice", part.Type)
		case part.Name == nil:
			*p = quota.DefaultPart
		case *part.Name == "" || len(*part.Name) > longest:
			return e, kafkaerr.Faultf(kafkaerr.InvalidRequest, "Empty or too long %s not supported", part.Type)
		default:
			*p = quota.Named(*part.Name)
		}
	}
	switch {
	case e == quota.Entity{}:
		return e, kafkaerr.Faultf(kafkaerr.InvalidRequest, "Invalid empty client quota entity")
	case e.IP.Set && (e.User.Set || e.ClientID.Set):
		return e, kafkaerr.Faultf(kafkaerr.InvalidRequest, "Invalid quota entity combination, ip entity should not be combined with User or ClientId entities.")
	case e.IP.Set && !e.IP.Default:
		ip := net.ParseIP(e.IP.Name)
		if ip == nil {
			return e, kafkaerr.Faultf(kafkaerr.InvalidRequest, "%s is not a valid IP address.", rarelog.Cut(e.IP.Name))
		}
		e.IP = quota.Named(ip.String())
	}
	return e, nil
}
