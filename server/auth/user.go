package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"millrace/store/state"
)

// Document kinds. A user is {"user", name}; ("auth", "secret") salts unknown users, so
// that it does not count as one.
const (
	userKind  = "user"
	authKind  = "auth"
	secretKey = "secret"

	// userFormat is what is written unless a user has something that a server which only knows this
	// format would overlook: then it is userFormatRequire, with which he cannot log in there.
	userFormat        = 1
	userFormatRequire = 2
	casRetries        = 10 // each one means that another writer won; this process serialises its own
)

// user is a stored user document.
type user struct {
	Format        int        `json:"format"`
	Administrator bool       `json:"administrator,omitempty"`
	SHA256        credential `json:"scram_sha_256"`
	SHA512        credential `json:"scram_sha_512"`
	// Since format 2.
	Require Requirement `json:"require,omitempty"`
	Locked  bool        `json:"locked,omitempty"`

	name    string
	version uint64
}

// table is all users, decoded, at one state of the documents.
type table struct {
	userVersion uint64
	authVersion uint64
	byName      map[string]*user
	names       []string
	secret      []byte
}

// users returns the decoded documents, anew if one changed since. A document that
// cannot be decoded stays a user nobody can log in as: it must neither open the
// server nor take it down.
func (s *Service) users() *table {
	uv, av := s.docs.DocumentsVersion(userKind), s.docs.DocumentsVersion(authKind)
	if t := s.table.Load(); t != nil && t.userVersion == uv && t.authVersion == av {
		return t
	}
	// The versions were read before the documents, so a change in between only
	// makes the next call decode again.
	t := &table{userVersion: uv, authVersion: av, byName: make(map[string]*user), secret: s.fallbackSecret}
	for _, d := range s.docs.Documents(userKind) {
		u := &user{}
		if err := json.Unmarshal(d.Data, u); err != nil || u.Format != userFormat && u.Format != userFormatRequire {
			u = &user{}
		}
		u.name, u.version = d.Key, d.Version
		t.byName[d.Key] = u
		t.names = append(t.names, d.Key)
	}
	if d, ok := s.docs.Document(authKind, secretKey); ok && len(d.Data) > 0 {
		t.secret = d.Data
	}
	s.table.Store(t)
	return t
}

func (s *Service) put(ctx context.Context, kind, key string, expect uint64, data []byte) error {
	res, err := s.docs.Commit(ctx, state.PutDocument{Kind: kind, Key: key, ExpectVersion: expect, Data: data})
	if err != nil {
		return fmt.Errorf("store %s %q: %w", kind, key, err)
	}
	r, ok := res.(state.DocumentResult)
	if !ok {
		return fmt.Errorf("store %s %q: unexpected answer %T", kind, key, res)
	}
	return r.Err
}

func encodeUser(u *user) ([]byte, error) {
	u.Format = userFormat
	if u.Require != RequireNothing || u.Locked {
		u.Format = userFormatRequire
	}
	return json.Marshal(u)
}

// AddUser makes a user; the first one becomes the administrator. ErrUserExists,
// ErrBadName, ErrBadPassword, ErrTooManyUsers, or the store's error.
func (s *Service) AddUser(name, password string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := checkPassword(password); err != nil {
		return err
	}
	u := &user{name: name}
	if err := s.setCredentials(u, password); err != nil {
		return err
	}
	return s.addUser(context.Background(), u)
}

// addUser stores a new user, the first one as the administrator.
func (s *Service) addUser(ctx context.Context, u *user) error {
	s.changes.Lock()
	defer s.changes.Unlock()
	t := s.users()
	if _, ok := t.byName[u.name]; ok {
		return ErrUserExists
	}
	if len(t.byName) >= MaxUsers {
		return ErrTooManyUsers
	}
	if _, ok := s.docs.Document(authKind, secretKey); !ok {
		// Before the first user, so that salts of unknown names never change.
		if err := s.put(ctx, authKind, secretKey, 0, randomBytes(32)); err != nil && !errors.Is(err, state.ErrVersionMismatch) {
			return err
		}
	}
	u.Administrator = len(t.byName) == 0
	data, err := encodeUser(u)
	if err != nil {
		return err
	}
	err = s.put(ctx, userKind, u.name, 0, data)
	if errors.Is(err, state.ErrVersionMismatch) {
		return ErrUserExists
	}
	return err
}

// SetPassword changes a user's password. ErrNoUser, ErrBadPassword, or the store's error.
func (s *Service) SetPassword(name, password string) error {
	if err := checkPassword(password); err != nil {
		return err
	}
	return s.change(name, func(u *user) error { return s.setCredentials(u, password) })
}

// change applies fn to the user's document, again if another writer came between.
func (s *Service) change(name string, fn func(u *user) error) error {
	s.changes.Lock()
	defer s.changes.Unlock()
	for range casRetries {
		old, ok := s.users().byName[name]
		if !ok {
			return ErrNoUser
		}
		u := *old
		if err := fn(&u); err != nil {
			return err
		}
		data, err := encodeUser(&u)
		if err != nil {
			return err
		}
		err = s.put(context.Background(), userKind, name, u.version, data)
		if !errors.Is(err, state.ErrVersionMismatch) {
			return err
		}
	}
	return state.ErrVersionMismatch
}

// DropUser removes a user, and then what the user alone was granted or denied, so that who is given the
// name later has nothing of it. ErrNoUser, ErrLastAdministrator, or the store's error.
func (s *Service) DropUser(name string) error {
	if err := s.dropUser(name); err != nil {
		return err
	}
	ctx := context.Background()
	for _, a := range s.acls().all {
		if a.Principal == userPrefix+name {
			if _, err := s.RemoveACL(ctx, a); err != nil {
				return err
			}
		}
	}
	for _, o := range s.grantOptions().of(name) {
		if _, err := s.RemoveGrantOption(ctx, name, o); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) dropUser(name string) error {
	s.changes.Lock()
	defer s.changes.Unlock()
	for range casRetries {
		t := s.users()
		u, ok := t.byName[name]
		if !ok {
			return ErrNoUser
		}
		if u.Administrator && countAdministrators(t) == 1 {
			return ErrLastAdministrator
		}
		err := s.put(context.Background(), userKind, name, u.version, nil)
		if errors.Is(err, state.ErrVersionMismatch) {
			continue
		}
		if err == nil {
			s.forget(name)
		}
		return err
	}
	return state.ErrVersionMismatch
}

func countAdministrators(t *table) int {
	n := 0
	for _, u := range t.byName {
		if u.Administrator {
			n++
		}
	}
	return n
}
