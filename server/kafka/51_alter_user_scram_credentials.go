package kafka

import (
	"context"
	"errors"

	"millrace/server/auth"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// alterUserSCRAMCredentials serves AlterUserScramCredentials 0: the same users as
// `millrace user` makes. Each user is answered once.
func (s *Server) alterUserSCRAMCredentials(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.AlterUserSCRAMCredentialsRequest)
	resp := req.ResponseKind().(*kmsg.AlterUserSCRAMCredentialsResponse)
	may := s.allowed(r, auth.Alter, clusterResource)
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
		if resp.Results[i].ErrorCode != errNone {
			return // the first fault of a user stands
		}
		mechanism, known := scramMechanisms[c.mechanism]
		var err error
		switch {
		case !may:
			err = adminErrorf(errClusterAuthorizationFailed, "Cluster authorization failed.")
		case !known:
			err = adminErrorf(errUnsupportedSASLMechanism, "Unknown SCRAM mechanism")
		case c.user == "":
			err = adminErrorf(errUnacceptableCredential, "Username must not be empty")
		case times[c] > 1:
			err = adminErrorf(errDuplicateResource, "A user credential cannot be altered twice in the same request")
		default:
			err = scramFault(do(mechanism))
		}
		resp.Results[i].ErrorCode, resp.Results[i].ErrorMessage = s.describeError(err)
	}
	for _, d := range req.Deletions {
		answer(change{d.Name, d.Mechanism}, func(mechanism string) error {
			defer waiting(ctx)()
			return s.o.Auth.DropSCRAMCredential(ctx, d.Name, mechanism)
		})
	}
	for _, u := range req.Upsertions {
		answer(change{u.Name, u.Mechanism}, func(mechanism string) error {
			defer waiting(ctx)()
			return s.o.Auth.PutSCRAMCredential(ctx, u.Name, mechanism, int(u.Iterations), u.Salt, u.SaltedPassword)
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
		return adminErrorf(errResourceNotFound, "Attempt to delete a user credential that does not exist")
	case errors.Is(err, auth.ErrBadName), errors.Is(err, auth.ErrBadCredential):
		return adminErrorf(errUnacceptableCredential, "%s", err)
	case errors.Is(err, auth.ErrLastAdministrator), errors.Is(err, auth.ErrTooManyUsers):
		return adminErrorf(errPolicyViolation, "%s", err)
	}
	return err
}
