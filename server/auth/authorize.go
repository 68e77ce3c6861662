package auth

import "strings"

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
	// Admin is what only an administrator may do, or who is allowed All on the cluster. It
	// is not Kafka's, and no ACL names it.
	Admin
	// All, in an ACL only, is every operation.
	All
	ClusterAction
	IdempotentWrite
	CreateTokens
	DescribeTokens
	TwoPhaseCommit

	operationEnd
)

var operationNames = [operationEnd]string{
	Read: "READ", Write: "WRITE", Create: "CREATE", Delete: "DELETE", Alter: "ALTER", Describe: "DESCRIBE",
	AlterConfigs: "ALTER_CONFIGS", DescribeConfigs: "DESCRIBE_CONFIGS", Admin: "ADMIN", All: "ALL",
	ClusterAction: "CLUSTER_ACTION", IdempotentWrite: "IDEMPOTENT_WRITE", CreateTokens: "CREATE_TOKENS",
	DescribeTokens: "DESCRIBE_TOKENS", TwoPhaseCommit: "TWO_PHASE_COMMIT",
}

// String is Kafka's name of the operation.
func (o Operation) String() string {
	if o == 0 || o >= operationEnd {
		return "UNKNOWN"
	}
	return operationNames[o]
}

// ResourceType of a Resource.
type ResourceType uint8

const (
	Topic ResourceType = iota + 1
	Group
	Cluster
	TransactionalID
	User

	resourceTypeEnd
)

var resourceTypeNames = [resourceTypeEnd]string{
	Topic: "TOPIC", Group: "GROUP", Cluster: "CLUSTER", TransactionalID: "TRANSACTIONAL_ID", User: "USER",
}

// String is Kafka's name of the type.
func (t ResourceType) String() string {
	if t == 0 || t >= resourceTypeEnd {
		return "UNKNOWN"
	}
	return resourceTypeNames[t]
}

// ClusterName is the name of the only Cluster resource.
const ClusterName = "kafka-cluster"

// Resource is a named thing; the cluster's Name is empty or ClusterName.
type Resource struct {
	Type ResourceType
	Name string
}

// Authorize decides for both wires, and nothing else does.
//
// While no user exists, ANONYMOUS may do everything with data, may make the first user
// and ACLs, but neither administer nor change the cluster's own configuration; an ACL that
// denies still does. Afterwards an administrator may do everything, and everyone else what
// an ACL allows and none denies: default deny. An ACL about "User:*" is about ANONYMOUS, too.
func (s *Service) Authorize(p Principal, op Operation, r Resource) bool {
	if op == 0 || op >= operationEnd || r.Type == 0 || r.Type >= resourceTypeEnd {
		return false
	}
	if r.Type == Cluster {
		r.Name = ClusterName
	}
	t := s.users()
	acls := s.acls()
	if len(t.byName) == 0 {
		return p.Name == Anonymous.Name && openAllows(op, r) && acls.decide(p, op, r) != denied
	}
	if p.Name != Anonymous.Name {
		u, ok := t.byName[p.Name]
		if !ok {
			return false
		}
		if u.Administrator {
			return true
		}
	}
	return acls.decide(p, op, r) == allowed
}

// AuthorizeAny says whether p may do op on some resource of the type: what a request
// about nothing in particular needs (an idempotent producer writes to some topic).
// As in Kafka it follows the patterns, not what exists.
func (s *Service) AuthorizeAny(p Principal, op Operation, typ ResourceType) bool {
	t := s.users()
	acls := s.acls()
	if len(t.byName) == 0 {
		return p.Name == Anonymous.Name && openAllows(op, Resource{Type: typ}) && !acls.deniesAll(p, op, typ)
	}
	if p.Name != Anonymous.Name {
		u, ok := t.byName[p.Name]
		if !ok {
			return false
		}
		if u.Administrator {
			return true
		}
	}
	return acls.allowsSome(p, op, typ)
}

// AnonymousAllowed says whether a peer that does not log in can do anything at all:
// while no user exists, or when an ACL allows ANONYMOUS something.
func (s *Service) AnonymousAllowed() bool {
	return len(s.users().byName) == 0 || s.acls().anonymousAllowed
}

func openAllows(op Operation, r Resource) bool {
	switch r.Type {
	case Topic, Group, TransactionalID:
		return op >= Read && op < Admin || op == TwoPhaseCommit
	case Cluster:
		switch op {
		case Read, Write, Create, Alter, Describe, DescribeConfigs, IdempotentWrite:
			return true
		default:
			return false
		}
	case User:
		return op == Create
	default:
		return false
	}
}

// implies says whether an ACL that allows have allows want, as in Kafka.
func implies(have, want Operation) bool {
	switch {
	case have == want, have == All:
		return true
	case want == Describe:
		return have == Read || have == Write || have == Delete || have == Alter
	case want == DescribeConfigs:
		return have == AlterConfigs
	default:
		return false
	}
}

// isPrincipal says whether the ACL's principal is p.
func (a *ACL) isPrincipal(p Principal) bool {
	name := strings.TrimPrefix(a.Principal, userPrefix)
	return name == "*" || name == p.Name
}

// concerns says whether the ACL is about p, from where it is.
func (a *ACL) concerns(p Principal) bool {
	return a.isPrincipal(p) && (a.Host == AnyHost || a.Host == p.Host)
}
