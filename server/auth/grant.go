package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Pattern names resources: exactly, or by prefix when Name ends in "*"; "*" is all of
// them. For Cluster it is empty or "*". It is how SQL speaks of an ACL's resource.
type Pattern struct {
	Type ResourceType
	Name string
}

// grantACL is the ACL that a grant is.
func grantACL(name string, op Operation, p Pattern) ACL {
	a := ACL{Principal: userPrefix + name, Host: AnyHost, Operation: op, Type: p.Type, Name: p.Name}
	if prefix, ok := strings.CutSuffix(p.Name, "*"); ok && prefix != "" {
		a.Name, a.Prefixed = prefix, true
	}
	if p.Type == Cluster && (p.Name == "" || p.Name == "*") {
		a.Name, a.Prefixed = ClusterName, false
	}
	return a
}

// Grant adds the ACL that allows the user (or ANONYMOUS) op on pattern, from every host;
// granting twice is granting once. ErrNoUser, ErrBadGrant, or the store's error.
func (s *Service) Grant(name string, op Operation, pattern Pattern) error {
	a := grantACL(name, op, pattern)
	err := a.check()
	if err == nil && name != Anonymous.Name {
		if _, ok := s.users().byName[name]; !ok {
			return ErrNoUser
		}
	}
	if err == nil {
		err = s.AddACL(context.Background(), a)
	}
	if errors.Is(err, ErrBadACL) || errors.Is(err, ErrBadPrincipal) {
		return fmt.Errorf("%w: %w", ErrBadGrant, err)
	}
	return err
}

// Revoke takes a grant back; one that was not given is no error.
func (s *Service) Revoke(name string, op Operation, pattern Pattern) error {
	_, err := s.RemoveACL(context.Background(), grantACL(name, op, pattern))
	return err
}

// ACLsOf are those about a user or ANONYMOUS, "User:*" included, in ACLs' order.
func (s *Service) ACLsOf(name string) []ACL {
	var list []ACL
	for _, a := range s.acls().all {
		if a.isPrincipal(Principal{Name: name}) {
			list = append(list, a)
		}
	}
	return list
}

// ACLsFor are those about this name alone, in ACLs' order: unlike ACLsOf without those of "User:*", unless name is "*".
func (s *Service) ACLsFor(name string) []ACL {
	var list []ACL
	for _, a := range s.acls().all {
		if a.Principal == userPrefix+name {
			list = append(list, a)
		}
	}
	return list
}
