package kafka

import (
	"context"
	"errors"
	"math"
	"net"

	"millrace/server/auth"
	"millrace/server/kafka/quota"

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

// alterClientQuotas serves AlterClientQuotas 0–1, each entity for itself.
func (s *Server) alterClientQuotas(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.AlterClientQuotasRequest)
	resp := req.ResponseKind().(*kmsg.AlterClientQuotasResponse)
	// While no user exists they are no more the operator's than users and ACLs are.
	may := s.allowed(r, auth.AlterConfigs, clusterResource) || s.o.Auth.Open() && s.allowed(r, auth.Alter, clusterResource)
	for i := range req.Entries {
		entry := &req.Entries[i]
		answer := kmsg.NewAlterClientQuotasResponseEntry()
		for _, e := range entry.Entity {
			part := kmsg.NewAlterClientQuotasResponseEntryEntity()
			part.Type, part.Name = e.Type, e.Name
			answer.Entity = append(answer.Entity, part)
		}
		err := error(adminErrorf(errClusterAuthorizationFailed, "Cluster authorization failed."))
		if may {
			err = s.alterClientQuota(ctx, entry, req.ValidateOnly)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		answer.ErrorCode, answer.ErrorMessage = s.describeError(err)
		resp.Entries = append(resp.Entries, answer)
	}
	return resp, nil
}

func (s *Server) alterClientQuota(ctx context.Context, entry *kmsg.AlterClientQuotasRequestEntry, validateOnly bool) error {
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
			return adminErrorf(errInvalidRequest, "Invalid configuration key %s", op.Key)
		case op.Remove:
			changes[op.Key] = nil
			continue
		case math.IsNaN(op.Value) || math.IsInf(op.Value, 0) || op.Value <= 0 || op.Value >= math.MaxInt64:
			return adminErrorf(errInvalidRequest, "Quota %s must be greater than 0", op.Key)
		case k.whole && op.Value != math.Trunc(op.Value):
			return adminErrorf(errInvalidRequest, "%s must be a whole number", op.Key)
		}
		changes[op.Key] = &op.Value
	}
	if validateOnly {
		return nil
	}
	defer waiting(ctx)()
	if err := s.quotas.Change(ctx, entity, changes); errors.Is(err, quota.ErrTooMany) {
		return adminErrorf(errPolicyViolation, "There are %d quotas, the most that are kept.", quota.MaxQuotas)
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
			return e, adminErrorf(errInvalidRequest, "Unhandled client quota entity type: %s", cut(part.Type))
		case p.Set:
			return e, adminErrorf(errInvalidRequest, "Invalid entity: %s appears twice", part.Type)
		case part.Name == nil:
			*p = quota.DefaultPart
		case *part.Name == "" || len(*part.Name) > longest:
			return e, adminErrorf(errInvalidRequest, "Empty or too long %s not supported", part.Type)
		default:
			*p = quota.Named(*part.Name)
		}
	}
	switch {
	case e == quota.Entity{}:
		return e, adminErrorf(errInvalidRequest, "Invalid empty client quota entity")
	case e.IP.Set && (e.User.Set || e.ClientID.Set):
		return e, adminErrorf(errInvalidRequest, "Invalid quota entity combination, ip entity should not be combined with User or ClientId entities.")
	case e.IP.Set && !e.IP.Default:
		ip := net.ParseIP(e.IP.Name)
		if ip == nil {
			return e, adminErrorf(errInvalidRequest, "%s is not a valid IP address.", cut(e.IP.Name))
		}
		e.IP = quota.Named(ip.String())
	}
	return e, nil
}
