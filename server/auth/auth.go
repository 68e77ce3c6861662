// Package auth is one identity and one authorisation function for both wires.
// Users are documents in the store; passwords are kept only as SCRAM credentials.
package auth

import (
	"errors"

	"millrace/store"

	"github.com/xdg-go/scram"
)

// Principal is an authenticated (or the anonymous) identity.
type Principal struct{ Name string }

// Anonymous is everyone who has not logged in. It may do data and DDL work while no
// user exists, and nothing once one does.
var Anonymous = Principal{Name: "ANONYMOUS"}

// Operation in Kafka's terms; SQL maps READ⇔SELECT, WRITE⇔INSERT, DESCRIBE⇔visible,
// CREATE/ALTER/DELETE⇔DDL, ADMIN⇔SET GLOBAL, KILL of others, users.
type Operation uint8

const (
	Read Operation = iota + 1
	Write
	Create
	Delete
	Alter
	Describe
	AlterConfigs
	DescribeConfigs
	Admin
)

// ResourceType of a Resource.
type ResourceType uint8

const (
	Topic ResourceType = iota + 1
	Group
	Cluster
	TransactionalID
	User
)

// Resource is a named thing; Name is empty for Cluster.
type Resource struct {
	Type ResourceType
	Name string
}

var (
	ErrDenied     = errors.New("authentication failed") // same for unknown user and wrong password
	ErrUserExists = errors.New("user exists")
	ErrNoUser     = errors.New("no such user")
)

// Service is safe for concurrent use and sees changes at once.
type Service struct{}

// New reads users from st.
func New(st *store.Store) *Service { panic("todo") }

// Open is true while no user exists (development default).
func (s *Service) Open() bool { panic("todo") }

// AddUser makes a user; the first one becomes the administrator. SetPassword and
// DropUser change and remove one.
func (s *Service) AddUser(name, password string) error     { panic("todo") }
func (s *Service) SetPassword(name, password string) error { panic("todo") }
func (s *Service) DropUser(name string) error              { panic("todo") }
func (s *Service) Users() []string                         { panic("todo") }

// CheckPassword verifies a cleartext password in the same time for unknown users.
func (s *Service) CheckPassword(name, password string) (Principal, error) { panic("todo") }

// SCRAM returns the server side of mechanism "SCRAM-SHA-256" or "SCRAM-SHA-512".
func (s *Service) SCRAM(mechanism string) (*scram.Server, error) { panic("todo") }

// FastHash returns the caching_sha2_password fast-path verifier
// SHA256(SHA256(password)) if the user logged in fully since it was last changed
// (in memory only).
func (s *Service) FastHash(name string) (hash [32]byte, ok bool) { panic("todo") }

// Authorize decides for both wires. Default deny once a user exists.
func (s *Service) Authorize(p Principal, op Operation, r Resource) bool { panic("todo") }
