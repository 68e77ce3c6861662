package auth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"unicode/utf8"

	"millrace/store/state"
)

const (
	// AnyHost in an ACL: wherever the principal connects from.
	AnyHost = "*"
	// AnyName, of a literal ACL: every resource of the type.
	AnyName = "*"
	// userPrefix begins the name of every principal that there is.
	userPrefix = "User:"
	// MaxACLs bounds memory, and the time to decode them after a change.
	MaxACLs = 50_000
	// maxResourceBytes is the longest resource name in an ACL; topics have 249 at most,
	// groups and transactional ids come from clients.
	maxResourceBytes = 1 << 10

	aclKind   = "acl"
	aclFormat = 1
)

var (
	ErrBadACL = errors.New("invalid ACL")
	// ErrBadPrincipal refuses what can never log in: nobody would notice such an ACL.
	ErrBadPrincipal = errors.New("invalid principal: want User:NAME, or User:* for everyone")
	ErrTooManyACLs  = errors.New("too many ACLs")
)

// ACL allows or denies a principal one operation on what its pattern names. It is a
// value: two equal ACLs are the same one.
type ACL struct {
	Principal string // "User:ada", "User:ANONYMOUS" or "User:*"
	Host      string // an address, or AnyHost
	Operation Operation
	Deny      bool // else it allows

	Type ResourceType
	Name string // of the resource; AnyName for all of them, ClusterName for the cluster
	// Prefixed: Name is the beginning of names; else it is literal.
	Prefixed bool
}

// storedACL is an ACL's document. Its key is the hash of the rest: equal ACLs are one document.
type storedACL struct {
	Format    int    `json:"format"`
	Principal string `json:"principal"`
	Host      string `json:"host"`
	Operation string `json:"operation"`
	Deny      bool   `json:"deny,omitempty"`
	Type      string `json:"resource_type"`
	Name      string `json:"resource_name"`
	Prefixed  bool   `json:"prefixed,omitempty"`
}

func (a ACL) encode() (key string, data []byte, err error) {
	data, err = json.Marshal(storedACL{aclFormat, a.Principal, a.Host, a.Operation.String(), a.Deny, a.Type.String(), a.Name, a.Prefixed})
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16]), data, err
}

func decodeACL(data []byte) (ACL, error) {
	var s storedACL
	if err := json.Unmarshal(data, &s); err != nil {
		return ACL{}, err
	}
	op, okOp := ParseOperation(s.Operation)
	typ, okType := ParseResourceType(s.Type)
	if s.Format != aclFormat || !okOp || !okType {
		return ACL{}, fmt.Errorf("%w: format %d, operation %q, resource type %q", ErrBadACL, s.Format, s.Operation, s.Type)
	}
	return ACL{s.Principal, s.Host, op, s.Deny, typ, s.Name, s.Prefixed}, nil
}

// ParseOperation is the operation that an ACL may name, in Kafka's spelling (READ), or as
// its tools write it (Read, read); - and _ are the same or can be left out.
func ParseOperation(s string) (Operation, bool) {
	for op := Read; op < operationEnd; op++ {
		if op != Admin && sameWord(s, op.String()) {
			return op, true
		}
	}
	return 0, false
}

// ParseResourceType is ParseOperation for types.
func ParseResourceType(s string) (ResourceType, bool) {
	for t := Topic; t < resourceTypeEnd; t++ {
		if sameWord(s, t.String()) {
			return t, true
		}
	}
	return 0, false
}

var wordSeparators = strings.NewReplacer("_", "", "-", "")

func sameWord(a, b string) bool {
	return strings.EqualFold(wordSeparators.Replace(a), wordSeparators.Replace(b))
}

// check says whether the ACL can be stored.
func (a *ACL) check() error {
	name, isUser := strings.CutPrefix(a.Principal, userPrefix)
	switch {
	case !isUser || name != "*" && name != Anonymous.Name && checkName(name) != nil:
		return fmt.Errorf("%w, not %.100q", ErrBadPrincipal, a.Principal)
	case a.Host != AnyHost && net.ParseIP(a.Host) == nil:
		return fmt.Errorf("%w: host %.100q is neither an IP address nor *", ErrBadACL, a.Host)
	case a.Operation == 0 || a.Operation >= operationEnd || a.Operation == Admin:
		return fmt.Errorf("%w: unknown operation", ErrBadACL)
	case a.Type == 0 || a.Type >= resourceTypeEnd:
		return fmt.Errorf("%w: unknown resource type", ErrBadACL)
	case a.Name == "" || len(a.Name) > maxResourceBytes || !utf8.ValidString(a.Name):
		return fmt.Errorf("%w: the resource name must have 1 to %d bytes of UTF-8", ErrBadACL, maxResourceBytes)
	case a.Type == Cluster && (a.Name != ClusterName || a.Prefixed):
		return fmt.Errorf("%w: the only name for the cluster is %s, literally", ErrBadACL, ClusterName)
	}
	return nil
}

// AddACL stores an ACL; one that is there already is no error. ErrBadACL,
// ErrBadPrincipal, ErrTooManyACLs, or the store's error.
func (s *Service) AddACL(ctx context.Context, a ACL) error {
	if err := a.check(); err != nil {
		return err
	}
	if ip := net.ParseIP(a.Host); ip != nil {
		a.Host = ip.String()
	}
	key, data, err := a.encode()
	if err != nil {
		return err
	}
	s.changes.Lock()
	defer s.changes.Unlock()
	if t := s.acls(); t.has(a) {
		return nil
	} else if len(t.all) >= MaxACLs {
		return ErrTooManyACLs
	}
	if err := s.put(ctx, aclKind, key, 0, data); !errors.Is(err, state.ErrVersionMismatch) {
		return err
	}
	return nil
}

// RemoveACL removes an ACL; removed is false when it was not there.
func (s *Service) RemoveACL(ctx context.Context, a ACL) (removed bool, err error) {
	key, _, err := a.encode()
	if err != nil {
		return false, err
	}
	s.changes.Lock()
	defer s.changes.Unlock()
	return s.remove(ctx, aclKind, key)
}

// remove removes a document that is a value; the caller holds changes. removed is false when it was not there.
func (s *Service) remove(ctx context.Context, kind, key string) (removed bool, err error) {
	for range casRetries {
		d, ok := s.docs.Document(kind, key)
		if !ok {
			return false, nil
		}
		err := s.put(ctx, kind, key, d.Version, nil)
		if !errors.Is(err, state.ErrVersionMismatch) {
			return err == nil, err
		}
	}
	return false, state.ErrVersionMismatch
}

// ACLs are all ACLs, ordered by resource, then principal. The slice is the caller's.
func (s *Service) ACLs() []ACL { return slices.Clone(s.acls().all) }

// compareACLs orders by resource first, so that those of one pattern are neighbours.
func compareACLs(a, b ACL) int {
	return cmp.Or(
		cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name), compareBool(a.Prefixed, b.Prefixed),
		cmp.Compare(a.Principal, b.Principal), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Operation, b.Operation), compareBool(a.Deny, b.Deny),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}
