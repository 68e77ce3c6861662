package auth

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"hash"

	"millrace/store/state"
)

// What Kafka takes for the work of a SCRAM credential. We would like more, but a client
// that makes the credential itself decides.
const (
	MinSCRAMRounds = 4096
	MaxSCRAMRounds = 16384
	maxSaltBytes   = 1 << 10
)

// ErrBadCredential refuses a credential made elsewhere.
var ErrBadCredential = errors.New("invalid SCRAM credential: 4096 to 16384 rounds, a salt, and a salted password as long as the hash")

// SCRAMInfo is what may be told of a user's credentials: the rounds, 0 for none.
type SCRAMInfo struct{ Rounds256, Rounds512 int }

// SCRAMCredentials tells which credentials the user has; false when there is no such user.
func (s *Service) SCRAMCredentials(name string) (SCRAMInfo, bool) {
	u, ok := s.users().byName[name]
	if !ok {
		return SCRAMInfo{}, false
	}
	var i SCRAMInfo
	if u.SHA256.valid(sha256.New) {
		i.Rounds256 = u.SHA256.Rounds
	}
	if u.SHA512.valid(sha512.New) {
		i.Rounds512 = u.SHA512.Rounds
	}
	return i, true
}

func mechanismHash(mechanism string) (func() hash.Hash, bool) {
	switch mechanism {
	case MechanismSHA256:
		return sha256.New, true
	case MechanismSHA512:
		return sha512.New, true
	}
	return nil, false
}

func (u *user) credential(mechanism string) *credential {
	if mechanism == MechanismSHA256 {
		return &u.SHA256
	}
	return &u.SHA512
}

// PutSCRAMCredential stores a credential whose password was salted elsewhere, and makes
// the user when it is new; the first one becomes the administrator. A password that
// was set before no longer counts for the mechanism; where passwords come in clear, see verifier.
func (s *Service) PutSCRAMCredential(ctx context.Context, name, mechanism string, rounds int, salt, saltedPassword []byte) error {
	h, ok := mechanismHash(mechanism)
	if !ok || rounds < MinSCRAMRounds || rounds > MaxSCRAMRounds || len(salt) == 0 || len(salt) > maxSaltBytes || len(saltedPassword) != h().Size() {
		return ErrBadCredential
	}
	if err := checkName(name); err != nil {
		return err
	}
	c := credential{
		Salt: append([]byte(nil), salt...), Rounds: rounds,
		StoredKey: sum(h, mac(h, saltedPassword, "Client Key")), ServerKey: mac(h, saltedPassword, "Server Key"),
	}
	for range casRetries {
		err := s.change(name, func(u *user) error { *u.credential(mechanism) = c; return nil })
		if !errors.Is(err, ErrNoUser) {
			return err
		}
		u := &user{name: name}
		*u.credential(mechanism) = c
		if err := s.addUser(ctx, u); !errors.Is(err, ErrUserExists) {
			return err
		}
	}
	return state.ErrVersionMismatch
}

// ErrNoCredential: the user has none for the mechanism.
var ErrNoCredential = errors.New("no such credential")

// DropSCRAMCredential removes one credential; the last one takes the user with it, unless it
// is the last administrator; his ACLs stay, as in Kafka. ErrNoUser, ErrNoCredential, ErrLastAdministrator.
func (s *Service) DropSCRAMCredential(_ context.Context, name, mechanism string) error {
	h, ok := mechanismHash(mechanism)
	if !ok {
		return ErrBadCredential
	}
	err := s.change(name, func(u *user) error {
		if !u.credential(mechanism).valid(h) {
			return ErrNoCredential
		}
		*u.credential(mechanism) = credential{}
		if !u.hasPassword() && u.Require != RequireCertificate {
			return errLastCredential
		}
		return nil
	})
	if errors.Is(err, errLastCredential) {
		return s.dropUser(name)
	}
	return err
}

var errLastCredential = errors.New("the last credential")
