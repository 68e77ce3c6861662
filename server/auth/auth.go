// Package auth is one identity and one authorisation function for both wires.
// Users are documents in the store; passwords are kept only as SCRAM credentials.
package auth

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"millrace/store"
	"millrace/store/state"
)

// Principal is an authenticated (or the anonymous) identity, and where it is.
type Principal struct {
	Name string
	// Host is the address it connects from, without a port; "" unknown. ACLs can be about one.
	Host string
}

// Anonymous is everyone who has not logged in. It may do data and DDL work while no
// user exists, and nothing once one does, unless it is granted something.
var Anonymous = Principal{Name: "ANONYMOUS"}

// FailureDelay is how long a failed login takes at least, on either wire: long
// enough to slow guessing down, short enough not to annoy a person who
// mistyped. CheckPassword keeps it; who runs SCRAM keeps it at the door.
const FailureDelay = 100 * time.Millisecond

var (
	ErrDenied     = errors.New("authentication failed") // same for unknown user and wrong password
	ErrUserExists = errors.New("user exists")
	ErrNoUser     = errors.New("no such user")
	// ErrBadName and ErrBadPassword say what a name or password must be.
	ErrBadName     = errors.New("invalid user name: 1 to 64 bytes of UTF-8 without control characters, neither ANONYMOUS nor *")
	ErrBadPassword = errors.New("invalid password: 1 to 256 bytes of UTF-8 without NUL")
	// ErrLastAdministrator refuses to drop the only administrator: without one nobody
	// could repair anything, and without users the server would be open again.
	ErrLastAdministrator = errors.New("the last administrator cannot be dropped")
	// ErrTooManyUsers bounds what must be held in memory (MaxUsers).
	ErrTooManyUsers = errors.New("too many users")
	ErrBadGrant     = errors.New("invalid grant")
)

// documents is what auth needs of the store.
type documents interface {
	Document(kind, key string) (state.Document, bool)
	Documents(kind string) []state.Document
	DocumentsVersion(kind string) uint64
	Commit(ctx context.Context, intent state.Intent) (any, error)
}

// Service is safe for concurrent use and sees changes at once.
type Service struct {
	docs documents

	changes sync.Mutex // serialises changes: "first user" and "last administrator" need it

	table    atomic.Pointer[table] // decoded users; replaced when the documents changed
	aclTable atomic.Pointer[aclTable]

	grantOptionTable atomic.Pointer[grantOptionTable]

	verified struct {
		sync.Mutex
		hashes map[string]verifiedHash // by user name
	}

	// fallbackSecret makes salts for unknown users until one is stored, which
	// the first AddUser does.
	fallbackSecret []byte

	deriving chan struct{} // bounds concurrent key derivations: a login flood must not take all cores
}

// New reads users from st.
func New(st *store.Store) *Service { return newService(st) }

func newService(docs documents) *Service {
	s := &Service{
		docs:           docs,
		fallbackSecret: randomBytes(32),
		deriving:       make(chan struct{}, maxDerivations),
	}
	s.verified.hashes = make(map[string]verifiedHash)
	return s
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	if _, err := rand.Read(b); err != nil {
		panic(err) // crypto/rand never fails on supported systems
	}
	return b
}

// Open is true while no user exists (development default).
func (s *Service) Open() bool { return len(s.users().byName) == 0 }

// Users are the names of all users, in order.
func (s *Service) Users() []string {
	t := s.users()
	return append([]string(nil), t.names...)
}

// IsAdministrator says whether the user exists and is one.
func (s *Service) IsAdministrator(name string) bool {
	u, ok := s.users().byName[name]
	return ok && u.Administrator
}
