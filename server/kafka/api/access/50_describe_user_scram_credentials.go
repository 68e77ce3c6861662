package access

import (
	"context"

	"millrace/server/auth"
	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Kafka's numbers of the SCRAM mechanisms.
const (
	scramSHA256 = 1
	scramSHA512 = 2
)

var scramMechanisms = map[int8]string{scramSHA256: auth.MechanismSHA256, scramSHA512: auth.MechanismSHA512}

// DescribeUserSCRAMCredentials serves DescribeUserScramCredentials 0, about the users that
// log in on both wires.
func (h *Handlers) DescribeUserSCRAMCredentials(_ context.Context, r *api.Request) (kmsg.Response, error) {
	req := r.Body.(*kmsg.DescribeUserSCRAMCredentialsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeUserSCRAMCredentialsResponse)
	if !h.Allowed(r, auth.Describe, api.ClusterResource) {
		resp.ErrorCode = kafkaerr.ClusterAuthorizationFailed
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
		names = h.Auth.Users()
	}
	for _, name := range names {
		result := kmsg.NewDescribeUserSCRAMCredentialsResponseResult()
		result.User = name
		info, known := h.Auth.SCRAMCredentials(name)
		if times[name] > 1 {
			result.ErrorCode, result.ErrorMessage = h.Fault(kafkaerr.Faultf(kafkaerr.DuplicateResource, "Cannot describe SCRAM credentials for the same user twice in a single request: %s", name))
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
			result.ErrorCode, result.ErrorMessage = h.Fault(kafkaerr.Faultf(kafkaerr.ResourceNotFound, "Attempt to describe a user credential that does not exist: %s", name))
		}
		resp.Results = append(resp.Results, result)
	}
	return resp, nil
}
