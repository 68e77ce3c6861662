package auth

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"hash"
	"time"
)

const (
	// scramRounds is the work of one password guess against stolen documents.
	// 15,000 rounds of SHA-256 take about 4 ms; a login pays that once.
	scramRounds = 15_000
	saltBytes   = 16
	// maxDerivations run at once, so that logins leave cores to the data path.
	maxDerivations = 2
)

// credential is what SCRAM stores instead of a password (RFC 5802).
type credential struct {
	Salt      []byte `json:"salt"`
	Rounds    int    `json:"rounds"`
	StoredKey []byte `json:"stored_key"`
	ServerKey []byte `json:"server_key"`
}

// verifiedHash is the fast-path verifier of a password that was checked in full.
// storedKey ties it to that very credential: after a change of the password, or
// a drop and a new user of the same name, it no longer matches.
type verifiedHash struct {
	storedKey []byte
	hash      [32]byte
}

func mac(h func() hash.Hash, key []byte, text string) []byte {
	m := hmac.New(h, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

func sum(h func() hash.Hash, b []byte) []byte {
	x := h()
	x.Write(b)
	return x.Sum(nil)
}

// keys derives SCRAM's StoredKey and ServerKey. The password is used as it is, as
// Kafka and its clients do, not after SASLprep.
func keys(h func() hash.Hash, password string, salt []byte, rounds int) (stored, server []byte, err error) {
	salted, err := pbkdf2.Key(h, password, salt, rounds, h().Size())
	if err != nil {
		return nil, nil, err
	}
	return sum(h, mac(h, salted, "Client Key")), mac(h, salted, "Server Key"), nil
}

func newCredential(h func() hash.Hash, password string) (credential, error) {
	c := credential{Salt: randomBytes(saltBytes), Rounds: scramRounds}
	var err error
	c.StoredKey, c.ServerKey, err = keys(h, password, c.Salt, c.Rounds)
	return c, err
}

func (s *Service) setCredentials(u *user, password string) error {
	s.deriving <- struct{}{}
	defer func() { <-s.deriving }()
	var err error
	if u.SHA256, err = newCredential(sha256.New, password); err != nil {
		return err
	}
	u.SHA512, err = newCredential(sha512.New, password)
	return err
}

// dummyCredential belongs to nobody: an unknown user gets the same salt for ever, the
// same rounds, and a proof that no password gives.
func dummyCredential(h func() hash.Hash, secret []byte, name string) credential {
	return credential{
		Salt:      mac(sha256.New, secret, "salt\x00"+name)[:saltBytes],
		Rounds:    scramRounds,
		StoredKey: mac(h, secret, "stored\x00"+name),
		ServerKey: mac(h, secret, "server\x00"+name),
	}
}

func (c credential) valid(h func() hash.Hash) bool {
	n := h().Size()
	return len(c.Salt) > 0 && c.Rounds >= 4096 && len(c.StoredKey) == n && len(c.ServerKey) == n
}

// verifier is the credential that a password in clear is checked against: SHA-256's,
// SHA-512's of a user who has only that; no hash for a user without any.
func (u *user) verifier() (credential, func() hash.Hash) {
	switch {
	case u.SHA256.valid(sha256.New):
		return u.SHA256, sha256.New
	case u.SHA512.valid(sha512.New):
		return u.SHA512, sha512.New
	}
	return credential{}, nil
}

// fastHash is caching_sha2_password's verifier.
func fastHash(password string) [32]byte {
	inner := sha256.Sum256([]byte(password))
	return sha256.Sum256(inner[:])
}

// CheckPassword verifies a cleartext password. A failure is ErrDenied after
// FailureDelay at least, and an unknown user costs the same work as a known one.
func (s *Service) CheckPassword(name, password string) (Principal, error) {
	start := time.Now()
	if s.checkPassword(name, password) {
		return Principal{Name: name}, nil
	}
	time.Sleep(FailureDelay - time.Since(start))
	return Principal{}, ErrDenied
}

func (s *Service) checkPassword(name, password string) bool {
	if len(name) > MaxNameBytes || len(password) > MaxPasswordBytes {
		return false // no stored user can be meant, whatever it is
	}
	t := s.users()
	u, known := t.byName[name]
	h := sha256.New
	cred := dummyCredential(h, t.secret, name)
	if known {
		if cred, h = u.verifier(); h == nil {
			known, h = false, sha256.New
			cred = dummyCredential(h, t.secret, name)
		}
	}
	fast := fastHash(password)
	if known {
		// A right password that was checked before needs no derivation. A wrong
		// one falls through to the full work.
		if v, ok := s.FastHash(name); ok && subtle.ConstantTimeCompare(v[:], fast[:]) == 1 {
			return true
		}
	}
	s.deriving <- struct{}{}
	stored, _, err := keys(h, password, cred.Salt, cred.Rounds)
	<-s.deriving
	if err != nil {
		return false
	}
	equal := subtle.ConstantTimeCompare(stored, cred.StoredKey) == 1
	if !equal || !known {
		return false
	}
	s.verified.Lock()
	s.verified.hashes[name] = verifiedHash{storedKey: cred.StoredKey, hash: fast}
	s.verified.Unlock()
	return true
}

// FastHash returns the caching_sha2_password fast-path verifier
// SHA256(SHA256(password)) if the user logged in fully since it was last changed
// (in memory only).
func (s *Service) FastHash(name string) (hash [32]byte, ok bool) {
	u, known := s.users().byName[name]
	if !known {
		return hash, false
	}
	s.verified.Lock()
	defer s.verified.Unlock()
	v, ok := s.verified.hashes[name]
	if cred, _ := u.verifier(); !ok || subtle.ConstantTimeCompare(v.storedKey, cred.StoredKey) != 1 {
		return hash, false
	}
	return v.hash, true
}

func (s *Service) forget(name string) {
	s.verified.Lock()
	defer s.verified.Unlock()
	delete(s.verified.hashes, name)
}
