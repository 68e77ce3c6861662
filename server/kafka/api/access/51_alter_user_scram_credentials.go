package access

import (
	"context"
	"errors"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AlterUserSCRAMCredentials serves AlterUserScramCredentials 0: the same users as
// `millrace user` makes. Each user is answered once.
func (h *Handlers) AlterUserSCRAMCredentials(ctx context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.AlterUserSCRAMCredentialsRequest)
	resp := req.ResponseKind().(*kmsg.AlterUserSCRAMCredentialsResponse)
	may := h.Allowed(r, auth.Alter, api.ClusterResource)
	type change struct {
		user      string
		mechanism int8
	}
	times := map[change]int{}
	for _, d := range req.Deletions {
		times[change{d.Name, d.Mechanism}]++
	}
	for _, u := range req.Upsertions {
		times[change{u.Name, u.Mechanism}]++
	}
	at := map[string]int{}
	answer := func(c change, do func(mechanism string) error) {
		i, seen := at[c.user]
		if !seen {
			i = len(resp.Results)
			at[c.user] = i
			result := kmsg.NewAlterUserSCRAMCredentialsResponseResult()
			result.User = c.user
			resp.Results = append(resp.Results, result)
		}
		if resp.Results[i].ErrorCode != kafkaerr.None {
			return // the first fault of a user stands
		}
		mechanism, known := scramMechanisms[c.mechanism]
		var err error
		switch {
		case !may:
			err = kafkaerr.Faultf(kafkaerr.ClusterAuthorizationFailed, "Cluster authorization failed.")
		case !known:
			err = kafkaerr.Faultf(kafkaerr.UnsupportedSASLMechanism, "Unknown SCRAM mechanism")
		case c.user == "":
			err = kafkaerr.Faultf(kafkaerr.UnacceptableCredential, "Username must not be empty")
		case times[c] > 1:
			err = kafkaerr.Faultf(kafkaerr.DuplicateResource, "A user credential cannot be altered twice in the same request")
		default:
			err = scramFault(do(mechanism))
		}
		resp.Results[i].ErrorCode, resp.Results[i].ErrorMessage = h.Fault(err)
	}
	for _, d := range req.Deletions {
		answer(change{d.Name, d.Mechanism}, func(mechanism string) error {
			defer api.Waiting(ctx)()
			return h.Auth.DropSCRAMCredential(ctx, d.Name, mechanism)
		})
	}
	for _, u := range req.Upsertions {
		answer(change{u.Name, u.Mechanism}, func(mechanism string) error {
			defer api.Waiting(ctx)()
			return h.Auth.PutSCRAMCredential(ctx, u.Name, mechanism, int(u.Iterations), u.Salt, u.SaltedPassword)
		})
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return resp, nil
}

func scramFault(err error) error {
	switch {
	case errors.Is(err, auth.ErrNoUser), errors.Is(err, auth.ErrNoCredential):
		return kafkaerr.Faultf(kafkaerr.ResourceNotFound, "Attempt to delete a user credential that does not exist")
	case errors.Is(err, auth.ErrBadName), errors.Is(err, auth.ErrBadCredential):
		return kafkaerr.Faultf(kafkaerr.UnacceptableCredential, "%s", err)
	case errors.Is(err, auth.ErrLastAdministrator), errors.Is(err, auth.ErrTooManyUsers):
		return kafkaerr.Faultf(kafkaerr.PolicyViolation, "%s", err)
	}
	return err
}
