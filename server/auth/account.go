package auth

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
)

// Requirement is what a user's connections must have, besides the password.
type Requirement string

const (
	// RequireNothing lets the listener decide.
	RequireNothing Requirement = ""
	// RequireTLS refuses connections without TLS.
	RequireTLS Requirement = "ssl"
	// RequireCertificate refuses connections without a verified client certificate that names
	// the user. One who has no password logs in by it alone.
	RequireCertificate Requirement = "x509"
)

func (r Requirement) known() bool {
	return r == RequireNothing || r == RequireTLS || r == RequireCertificate
}

var (
	// ErrLocked refuses a login with the right password: the account is locked.
	ErrLocked = errors.New("the account is locked")
	// ErrTransport refuses a login with the right password over a connection that the user must not use.
	ErrTransport = errors.New("the account requires TLS or a client certificate")
	// ErrNoWayIn refuses an account that could never log in.
	ErrNoWayIn = errors.New("a user needs a password, or to be required to have a certificate")
)

// Transport is what a login came over.
type Transport struct {
	TLS         bool
	Certificate string // CertificateName of the connection
}

// Account is what there is to say of a user beside his rights.
type Account struct {
	Administrator bool
	HasPassword   bool
	Require       Requirement
	Locked        bool
}

// Change is what is to become of an account; what is nil stays.
type Change struct {
	Password *string
	Require  *Requirement
	Locked   *bool
}

// Admit says whether a user who has proved who he is may log in over t: nil, ErrLocked,
// ErrTransport, or ErrDenied for one that does not exist.
func (s *Service) Admit(name string, t Transport) error {
	u, ok := s.users().byName[name]
	switch {
	case !ok:
		return ErrDenied
	case u.Locked:
		return ErrLocked
	case u.Require == RequireTLS && !t.TLS,
		u.Require == RequireCertificate && t.Certificate != name,
		!u.Require.known():
		return ErrTransport
	}
	return nil
}

// AdmitCertificate says whether the certificate alone is a login as name, as Admit does. It is
// for whom it names, whether or not a certificate is required of him.
func (s *Service) AdmitCertificate(name string, t Transport) error {
	if name == "" || t.Certificate != name {
		return ErrDenied
	}
	return s.Admit(name, t)
}

// Account describes a user.
func (s *Service) Account(name string) (Account, bool) {
	u, ok := s.users().byName[name]
	if !ok {
		return Account{}, false
	}
	return Account{Administrator: u.Administrator, HasPassword: u.hasPassword(), Require: u.Require, Locked: u.Locked}, true
}

func (u *user) hasPassword() bool { return u.SHA256.valid(sha256.New) || u.SHA512.valid(sha512.New) }

// CreateAccount makes a user; the first one becomes the administrator. ErrNoWayIn, and what AddUser returns.
func (s *Service) CreateAccount(ctx context.Context, name string, c Change) error {
	if err := checkName(name); err != nil {
		return err
	}
	if _, ok := s.users().byName[name]; ok {
		return ErrUserExists // before the work of the password
	}
	u := &user{name: name}
	if err := s.apply(u, c); err != nil {
		return err
	}
	return s.addUser(ctx, u)
}

// AlterAccount changes a user. ErrNoUser, ErrNoWayIn, ErrBadPassword, or the store's error. The last
// administrator cannot be locked: ErrLastAdministrator.
func (s *Service) AlterAccount(name string, c Change) error {
	return s.change(name, func(u *user) error {
		if c.Locked != nil && *c.Locked && u.Administrator && countAdministrators(s.users()) == 1 {
			return ErrLastAdministrator
		}
		return s.apply(u, c)
	})
}

func (s *Service) apply(u *user, c Change) error {
	if c.Require != nil {
		if !c.Require.known() {
			return fmt.Errorf("unknown requirement %q", *c.Require)
		}
		u.Require = *c.Require
	}
	if c.Locked != nil {
		u.Locked = *c.Locked
	}
	if c.Password != nil {
		if err := checkPassword(*c.Password); err != nil {
			return err
		}
		if err := s.setCredentials(u, *c.Password); err != nil {
			return err
		}
	}
	if !u.hasPassword() && u.Require != RequireCertificate {
		return ErrNoWayIn
	}
	return nil
}

// SetAdministrator makes a user an administrator, or no longer one. ErrNoUser, ErrLastAdministrator, or
// the store's error.
func (s *Service) SetAdministrator(name string, administrator bool) error {
	return s.change(name, func(u *user) error {
		if u.Administrator && !administrator && countAdministrators(s.users()) == 1 {
			return ErrLastAdministrator
		}
		u.Administrator = administrator
		return nil
	})
}

// RenameUser gives a user, and what he was granted or denied, another name: first the new one is
// made, then the old one is dropped, so that a crash leaves both. ErrNoUser, ErrUserExists, ErrBadName, or
// the store's error.
func (s *Service) RenameUser(ctx context.Context, from, to string) error {
	if err := checkName(to); err != nil {
		return err
	}
	old, ok := s.users().byName[from]
	if !ok {
		return ErrNoUser
	}
	u := *old
	u.name, u.version = to, 0
	if err := s.addUser(ctx, &u); err != nil {
		return err
	}
	if old.Administrator {
		if err := s.SetAdministrator(to, true); err != nil {
			return err
		}
	}
	for _, a := range s.acls().all {
		if a.Principal != userPrefix+from {
			continue
		}
		a.Principal = userPrefix + to
		if err := s.AddACL(ctx, a); err != nil {
			return err
		}
	}
	for _, o := range s.grantOptions().of(from) {
		if err := s.AddGrantOption(ctx, to, o); err != nil {
			return err
		}
	}
	return s.DropUser(from)
}
