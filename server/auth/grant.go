package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"millrace/store/state"
)

// Pattern names resources: exactly, or by prefix when Name ends in "*"; "*" is all of
// them. For Cluster it is empty or "*".
type Pattern struct {
	Type ResourceType `json:"type"`
	Name string       `json:"name"`
}

// Grant allows one operation on the resources that Pattern names.
type Grant struct {
	Operation Operation `json:"operation"`
	Pattern   Pattern   `json:"pattern"`
}

// maxPatternBytes is above Kafka's longest topic name (249).
const maxPatternBytes = 256

func (p Pattern) matches(r Resource) bool {
	if p.Type != r.Type {
		return false
	}
	if prefix, ok := strings.CutSuffix(p.Name, "*"); ok {
		return strings.HasPrefix(r.Name, prefix)
	}
	return p.Name == r.Name
}

// implies says whether a grant of have allows want, as in Kafka.
func implies(have, want Operation) bool {
	if have == want {
		return true
	}
	switch want {
	case Describe:
		return have == Read || have == Write || have == Delete || have == Alter
	case DescribeConfigs:
		return have == AlterConfigs
	default:
		return false
	}
}

func granted(grants []Grant, op Operation, r Resource) bool {
	for _, g := range grants {
		if implies(g.Operation, op) && g.Pattern.matches(r) {
			return true
		}
	}
	return false
}

func checkGrant(g Grant) error {
	if g.Operation < Read || g.Operation > Admin || g.Pattern.Type < Topic || g.Pattern.Type > User {
		return fmt.Errorf("%w: unknown operation or resource type", ErrBadGrant)
	}
	if len(g.Pattern.Name) > maxPatternBytes || g.Pattern.Name == "" && g.Pattern.Type != Cluster {
		return fmt.Errorf("%w: resource name must have 1 to %d bytes", ErrBadGrant, maxPatternBytes)
	}
	return nil
}

// Grant allows the user (or ANONYMOUS) op on pattern; granting twice is granting once.
// ErrNoUser, ErrBadGrant, or the store's error.
func (s *Service) Grant(name string, op Operation, pattern Pattern) error {
	g := Grant{Operation: op, Pattern: pattern}
	if err := checkGrant(g); err != nil {
		return err
	}
	return s.changeGrants(name, func(grants []Grant) ([]Grant, error) {
		if slices.Contains(grants, g) {
			return grants, nil
		}
		if len(grants) >= MaxGrants {
			return nil, fmt.Errorf("%w: more than %d grants", ErrBadGrant, MaxGrants)
		}
		return append(grants, g), nil
	})
}

// Revoke takes a grant back; one that was not given is no error.
func (s *Service) Revoke(name string, op Operation, pattern Pattern) error {
	g := Grant{Operation: op, Pattern: pattern}
	return s.changeGrants(name, func(grants []Grant) ([]Grant, error) {
		return slices.DeleteFunc(grants, func(x Grant) bool { return x == g }), nil
	})
}

// Grants of a user or ANONYMOUS.
func (s *Service) Grants(name string) []Grant {
	t := s.users()
	if name == Anonymous.Name {
		return slices.Clone(t.anonymous)
	}
	if u, ok := t.byName[name]; ok {
		return slices.Clone(u.Grants)
	}
	return nil
}

func (s *Service) changeGrants(name string, fn func([]Grant) ([]Grant, error)) error {
	if name != Anonymous.Name {
		return s.change(name, func(u *user) (err error) {
			u.Grants, err = fn(u.Grants)
			return err
		})
	}
	s.changes.Lock()
	defer s.changes.Unlock()
	for range casRetries {
		var a user
		d, ok := s.docs.Document(authKind, anonymousKey)
		if ok {
			if err := json.Unmarshal(d.Data, &a); err != nil {
				return fmt.Errorf("document %s/%s: %w", authKind, anonymousKey, err)
			}
		}
		var err error
		if a.Grants, err = fn(a.Grants); err != nil {
			return err
		}
		data, err := encodeUser(&a)
		if err != nil {
			return err
		}
		err = s.put(context.Background(), authKind, anonymousKey, d.Version, data)
		if !errors.Is(err, state.ErrVersionMismatch) {
			return err
		}
	}
	return state.ErrVersionMismatch
}
