package auth

import (
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"hash"

	"github.com/xdg-go/scram"
)

// Mechanisms that SCRAM knows, as SaslHandshake names them.
const (
	MechanismSHA256 = "SCRAM-SHA-256"
	MechanismSHA512 = "SCRAM-SHA-512"
)

// SCRAM returns the server side of mechanism "SCRAM-SHA-256" or "SCRAM-SHA-512". An
// unknown user gets a conversation like any other, which fails at its proof. The
// caller still has to refuse a conversation that is not Valid, one whose AuthzID is
// neither empty nor its Username, and to wait FailureDelay before it says so.
func (s *Service) SCRAM(mechanism string) (*scram.Server, error) {
	switch mechanism {
	case MechanismSHA256:
		return scram.SHA256.NewServer(s.lookup(sha256.New, func(u *user) credential { return u.SHA256 }))
	case MechanismSHA512:
		return scram.SHA512.NewServer(s.lookup(sha512.New, func(u *user) credential { return u.SHA512 }))
	default:
		return nil, fmt.Errorf("unsupported SASL mechanism %q", mechanism)
	}
}

func (s *Service) lookup(h func() hash.Hash, pick func(*user) credential) scram.CredentialLookup {
	return func(name string) (scram.StoredCredentials, error) {
		t := s.users()
		// Made for known users too, so that both take the same time.
		c := dummyCredential(h, t.secret, name)
		if u, ok := t.byName[name]; ok && pick(u).valid(h) {
			c = pick(u)
		}
		return scram.StoredCredentials{
			KeyFactors: scram.KeyFactors{Salt: string(c.Salt), Iters: c.Rounds},
			StoredKey:  c.StoredKey,
			ServerKey:  c.ServerKey,
		}, nil
	}
}
