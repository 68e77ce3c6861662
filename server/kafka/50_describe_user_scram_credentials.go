package kafka

import (
	"context"

	"millrace/server/auth"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Kafka's numbers of the SCRAM mechanisms.
const (
	scramSHA256 = 1
	scramSHA512 = 2
)

var scramMechanisms = map[int8]string{scramSHA256: auth.MechanismSHA256, scramSHA512: auth.MechanismSHA512}

// describeUserSCRAMCredentials serves DescribeUserScramCredentials 0, about the users that
// log in on both wires.
func (s *Server) describeUserSCRAMCredentials(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.body.(*kmsg.DescribeUserSCRAMCredentialsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeUserSCRAMCredentialsResponse)
	if !s.allowed(r, auth.Describe, clusterResource) {
		resp.ErrorCode = errClusterAuthorizationFailed
		return resp, nil
	}
	var names []string
	times := map[string]int{}
	for _, u := range req.Users {
		if times[u.Name]++; times[u.Name] == 1 {
			names = append(names, u.Name)
		}
	}
	all := len(req.Users) == 0
	if all {
		names = s.o.Auth.Users()
	}
	for _, name := range names {
		result := kmsg.NewDescribeUserSCRAMCredentialsResponseResult()
		result.User = name
		info, known := s.o.Auth.SCRAMCredentials(name)
		if times[name] > 1 {
			result.ErrorCode, result.ErrorMessage = s.describeError(adminErrorf(errDuplicateResource, "Cannot describe SCRAM credentials for the same user twice in a single request: %s", name))
			resp.Results = append(resp.Results, result)
			continue
		}
		add := func(mechanism int8, rounds int) {
			if rounds > 0 {
				ci := kmsg.NewDescribeUserSCRAMCredentialsResponseResultCredentialInfo()
				ci.Mechanism, ci.Iterations = mechanism, int32(rounds)
				result.CredentialInfos = append(result.CredentialInfos, ci)
			}
		}
		add(scramSHA256, info.Rounds256)
		add(scramSHA512, info.Rounds512)
		if !known || len(result.CredentialInfos) == 0 {
			if all {
				continue
			}
			result.ErrorCode, result.ErrorMessage = s.describeError(adminErrorf(errResourceNotFound, "Attempt to describe a user credential that does not exist: %s", name))
		}
		resp.Results = append(resp.Results, result)
	}
	return resp, nil
}
