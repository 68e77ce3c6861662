package auth

import (
	"slices"
	"strings"
)

// aclTable is all ACLs at one state of the documents, arranged so that a decision
// looks only at those whose pattern names the resource.
type aclTable struct {
	version uint64
	all     []ACL // sorted by compareACLs
	literal map[Resource][]ACL
	prefix  map[Resource][]ACL
	lengths [resourceTypeEnd][]int // of the prefixes, each once
	// damaged: a document cannot be read. It may have been one that denies, so nobody but
	// administrators is allowed anything.
	damaged          bool
	anonymousAllowed bool
}

// acls returns the decoded documents, anew if one changed since.
func (s *Service) acls() *aclTable {
	version := s.docs.DocumentsVersion(aclKind)
	if t := s.aclTable.Load(); t != nil && t.version == version {
		return t
	}
	t := &aclTable{version: version, literal: map[Resource][]ACL{}, prefix: map[Resource][]ACL{}}
	for _, d := range s.docs.Documents(aclKind) {
		a, err := decodeACL(d.Data)
		if err != nil {
			t.damaged = true
			continue
		}
		t.all = append(t.all, a)
	}
	slices.SortFunc(t.all, compareACLs)
	for _, a := range t.all {
		r := Resource{a.Type, a.Name}
		if a.Prefixed {
			t.prefix[r] = append(t.prefix[r], a)
			if !slices.Contains(t.lengths[a.Type], len(a.Name)) {
				t.lengths[a.Type] = append(t.lengths[a.Type], len(a.Name))
			}
		} else {
			t.literal[r] = append(t.literal[r], a)
		}
		t.anonymousAllowed = t.anonymousAllowed || !a.Deny && a.isPrincipal(Anonymous)
	}
	t.anonymousAllowed = t.anonymousAllowed && !t.damaged
	s.aclTable.Store(t)
	return t
}

func (t *aclTable) has(a ACL) bool {
	_, found := slices.BinarySearchFunc(t.all, a, compareACLs)
	return found
}

// decision of the ACLs alone.
type decision uint8

const (
	unmentioned decision = iota
	allowed
	denied
)

// decide is Kafka's rule: one ACL that denies wins over all that allow. What is denied is
// the operation itself: denying READ leaves DESCRIBE.
func (t *aclTable) decide(p Principal, op Operation, r Resource) decision {
	if t.damaged {
		return denied
	}
	if len(t.all) == 0 {
		return unmentioned
	}
	d := decideList(t.literal[r], p, op, unmentioned)
	if r.Name != AnyName && d != denied {
		d = decideList(t.literal[Resource{r.Type, AnyName}], p, op, d)
	}
	for _, n := range t.lengths[r.Type] {
		if d == denied {
			break
		}
		if n <= len(r.Name) {
			d = decideList(t.prefix[Resource{r.Type, r.Name[:n]}], p, op, d)
		}
	}
	return d
}

func decideList(list []ACL, p Principal, op Operation, d decision) decision {
	for i := range list {
		a := &list[i]
		if !a.concerns(p) {
			continue
		}
		if a.Deny {
			if a.Operation == op || a.Operation == All {
				return denied
			}
			continue
		}
		if implies(a.Operation, op) {
			d = allowed
		}
	}
	return d
}

// deniesAll says whether an ACL denies op on every resource of the type.
func (t *aclTable) deniesAll(p Principal, op Operation, typ ResourceType) bool {
	return t.damaged || decideList(t.literal[Resource{typ, AnyName}], p, op, unmentioned) == denied
}

// allowsSome says whether some pattern allows op, and none that covers this pattern denies it.
func (t *aclTable) allowsSome(p Principal, op Operation, typ ResourceType) bool {
	if t.deniesAll(p, op, typ) {
		return false
	}
	for i := range t.all {
		a := &t.all[i]
		if a.Type != typ || a.Deny || !a.concerns(p) || !implies(a.Operation, op) {
			continue
		}
		if a.Name == AnyName && !a.Prefixed || !t.deniesPattern(p, op, a) {
			return true
		}
	}
	return false
}

// deniesPattern says whether what the pattern of a names is denied altogether.
func (t *aclTable) deniesPattern(p Principal, op Operation, a *ACL) bool {
	denies := func(list []ACL) bool { return decideList(list, p, op, unmentioned) == denied }
	if !a.Prefixed && denies(t.literal[Resource{a.Type, a.Name}]) {
		return true
	}
	for _, n := range t.lengths[a.Type] {
		if n <= len(a.Name) && denies(t.prefix[Resource{a.Type, a.Name[:n]}]) {
			return true
		}
	}
	return false
}

// PatternMatch says how ACLFilter compares patterns.
type PatternMatch uint8

const (
	// MatchAny takes patterns of either kind whose name is the filter's.
	MatchAny PatternMatch = iota
	// MatchNamed takes every pattern that names the filter's resource.
	MatchNamed
	MatchLiteral
	MatchPrefixed
)

// ACLFilter picks ACLs; zero values pick all.
type ACLFilter struct {
	Principal, Host string
	Operation       Operation
	Permission      Permission
	Type            ResourceType
	Name            *string // nil: any
	Pattern         PatternMatch
}

// Permission of a filter.
type Permission uint8

const (
	AnyPermission Permission = iota
	OnlyAllow
	OnlyDeny
)

// Matches says whether the filter picks a.
func (f *ACLFilter) Matches(a ACL) bool {
	if f.Principal != "" && f.Principal != a.Principal || f.Host != "" && f.Host != a.Host ||
		f.Operation != 0 && f.Operation != a.Operation ||
		f.Permission == OnlyAllow && a.Deny || f.Permission == OnlyDeny && !a.Deny ||
		f.Type != 0 && f.Type != a.Type ||
		f.Pattern == MatchLiteral && a.Prefixed || f.Pattern == MatchPrefixed && !a.Prefixed {
		return false
	}
	if f.Name == nil {
		return true
	}
	if f.Pattern != MatchNamed {
		return *f.Name == a.Name
	}
	if a.Prefixed {
		return strings.HasPrefix(*f.Name, a.Name)
	}
	return *f.Name == a.Name || a.Name == AnyName
}
