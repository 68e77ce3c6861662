package auth

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

// Authorize decides for both wires. Default deny once a user exists.
//
// While none exists, ANONYMOUS may do everything with data, and may make the first
// user, but neither administer nor change the cluster's own configuration.
// Afterwards the administrator may do everything and everyone else what was granted;
// a grant implies what Kafka says it does (READ, WRITE, DELETE and ALTER imply
// DESCRIBE; ALTER_CONFIGS implies DESCRIBE_CONFIGS).
func (s *Service) Authorize(p Principal, op Operation, r Resource) bool {
	t := s.users()
	if len(t.byName) == 0 {
		return p == Anonymous && openAllows(op, r)
	}
	if p == Anonymous {
		return granted(t.anonymous, op, r)
	}
	u, ok := t.byName[p.Name]
	if !ok {
		return false
	}
	return u.Administrator || granted(u.Grants, op, r)
}

// AnonymousAllowed says whether a peer that does not log in can do anything at all:
// while no user exists, or when ANONYMOUS was granted something.
func (s *Service) AnonymousAllowed() bool {
	t := s.users()
	return len(t.byName) == 0 || len(t.anonymous) > 0
}

func openAllows(op Operation, r Resource) bool {
	switch r.Type {
	case Topic, Group, TransactionalID:
		return op >= Read && op < Admin
	case Cluster:
		return op == Read || op == Write || op == Create || op == Describe || op == DescribeConfigs
	case User:
		return op == Create
	default:
		return false
	}
}
