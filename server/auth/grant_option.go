package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"millrace/store/state"
)

// A grant option lets who holds it pass on, for what its pattern names, the rights that he has there
// himself. Kafka has no such thing, so it is a document beside the ACLs and never widens one.

const (
	grantOptionKind   = "grant_option"
	grantOptionFormat = 1
)

// ACLPattern names resources: one, or with Prefixed all whose names begin with Name; AnyName, literally, is all.
type ACLPattern struct {
	Type     ResourceType
	Name     string
	Prefixed bool
}

// Pattern is what the ACL is about.
func (a ACL) Pattern() ACLPattern { return ACLPattern{a.Type, a.Name, a.Prefixed} }

// covers says whether every resource that q names is named by p.
func (p ACLPattern) covers(q ACLPattern) bool {
	switch {
	case p.Type != q.Type:
		return false
	case p.Name == AnyName && !p.Prefixed:
		return true
	case p.Prefixed:
		return (q.Prefixed || q.Name != AnyName) && strings.HasPrefix(q.Name, p.Name)
	default:
		return !q.Prefixed && p.Name == q.Name
	}
}

// overlaps says whether some resource could be named by both.
func (p ACLPattern) overlaps(q ACLPattern) bool {
	return p.covers(q) || q.covers(p)
}

type storedGrantOption struct {
	Format   int    `json:"format"`
	User     string `json:"user"`
	Type     string `json:"resource_type"`
	Name     string `json:"resource_name"`
	Prefixed bool   `json:"prefixed,omitempty"`
}

func encodeGrantOption(user string, p ACLPattern) (key string, data []byte, err error) {
	data, err = json.Marshal(storedGrantOption{grantOptionFormat, user, p.Type.String(), p.Name, p.Prefixed})
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16]), data, err
}

// grantOptionTable is all of them at one state of the documents.
type grantOptionTable struct {
	version uint64
	byUser  map[string][]ACLPattern
}

func (t *grantOptionTable) of(user string) []ACLPattern { return t.byUser[user] }

// grantOptions returns the decoded documents, anew if one changed since. One that cannot be read gives nobody anything.
func (s *Service) grantOptions() *grantOptionTable {
	version := s.docs.DocumentsVersion(grantOptionKind)
	if t := s.grantOptionTable.Load(); t != nil && t.version == version {
		return t
	}
	t := &grantOptionTable{version: version, byUser: map[string][]ACLPattern{}}
	for _, d := range s.docs.Documents(grantOptionKind) {
		var o storedGrantOption
		if json.Unmarshal(d.Data, &o) != nil || o.Format != grantOptionFormat {
			continue
		}
		if typ, ok := ParseResourceType(o.Type); ok {
			t.byUser[o.User] = append(t.byUser[o.User], ACLPattern{typ, o.Name, o.Prefixed})
		}
	}
	s.grantOptionTable.Store(t)
	return t
}

// GrantOptions are the patterns for which the user may pass on what he may do. The slice is the caller's.
func (s *Service) GrantOptions(name string) []ACLPattern {
	return slices.Clone(s.grantOptions().of(name))
}

// AddGrantOption lets the user pass on his rights on what p names. ErrNoUser, ErrTooManyACLs, or the store's error.
func (s *Service) AddGrantOption(ctx context.Context, name string, p ACLPattern) error {
	if _, ok := s.users().byName[name]; !ok {
		return ErrNoUser
	}
	key, data, err := encodeGrantOption(name, p)
	if err != nil {
		return err
	}
	s.changes.Lock()
	defer s.changes.Unlock()
	t := s.grantOptions()
	if slices.Contains(t.of(name), p) {
		return nil
	}
	if len(t.byUser[name]) >= maxGrantOptions {
		return ErrTooManyACLs
	}
	if err := s.put(ctx, grantOptionKind, key, 0, data); !errors.Is(err, state.ErrVersionMismatch) {
		return err
	}
	return nil
}

// maxGrantOptions of one user; with MaxUsers it bounds memory.
const maxGrantOptions = 1_000

// RemoveGrantOption takes it back; removed is false when there was none.
func (s *Service) RemoveGrantOption(ctx context.Context, name string, p ACLPattern) (removed bool, err error) {
	key, _, err := encodeGrantOption(name, p)
	if err != nil {
		return false, err
	}
	s.changes.Lock()
	defer s.changes.Unlock()
	return s.remove(ctx, grantOptionKind, key)
}

// MayGrant says whether p may give others op on what pattern names: as who may change the cluster's
// ACLs, as in Kafka, or as who holds the grant option there and may himself do op on all of it.
func (s *Service) MayGrant(p Principal, op Operation, pattern ACLPattern) bool {
	if s.Authorize(p, Alter, Resource{Type: Cluster}) {
		return true
	}
	if _, ok := s.users().byName[p.Name]; !ok {
		return false
	}
	for _, o := range s.grantOptions().of(p.Name) {
		if o.covers(pattern) {
			return s.acls().allowsAll(p, op, pattern)
		}
	}
	return false
}

// allowsAll says whether one ACL allows p op on all that pattern names, and none denies it on a part.
func (t *aclTable) allowsAll(p Principal, op Operation, pattern ACLPattern) bool {
	if t.damaged {
		return false
	}
	allowed := false
	for i := range t.all {
		a := &t.all[i]
		switch {
		case !a.concerns(p):
		case a.Deny:
			if (a.Operation == op || a.Operation == All || op == All) && a.Pattern().overlaps(pattern) {
				return false
			}
		case implies(a.Operation, op) && a.Pattern().covers(pattern):
			allowed = true
		}
	}
	return allowed
}

// MayPassOn says whether p may give others, for what pattern names, the right to grant.
func (s *Service) MayPassOn(p Principal, pattern ACLPattern) bool {
	if s.Authorize(p, Alter, Resource{Type: Cluster}) {
		return true
	}
	if _, ok := s.users().byName[p.Name]; !ok {
		return false
	}
	return slices.ContainsFunc(s.grantOptions().of(p.Name), func(o ACLPattern) bool { return o.covers(pattern) })
}
