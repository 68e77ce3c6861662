package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ACL is the ACL commands. They speak Kafka's protocol, as kafka-acls does.
type ACL struct {
	Add    ACLAdd    `cmd:"" help:"Allow or deny a user operations on a resource."`
	List   ACLList   `cmd:"" help:"List the ACLs."`
	Remove ACLRemove `cmd:"" help:"Remove ACLs."`
}

// aclResource flags say what ACLs are about.
type aclResource struct {
	Topic           string `help:"Name of a topic; * for all." placeholder:"NAME" xor:"resource"`
	Group           string `help:"Name of a consumer group; * for all." placeholder:"NAME" xor:"resource"`
	TransactionalID string `name:"transactional-id" help:"A transactional id; * for all." placeholder:"NAME" xor:"resource"`
	Cluster         bool   `help:"The cluster." xor:"resource"`
	Prefix          bool   `help:"The name is the beginning of names."`
}

func (r *aclResource) resource() (kmsg.ACLResourceType, string, bool) {
	switch {
	case r.Topic != "":
		return kmsg.ACLResourceTypeTopic, r.Topic, true
	case r.Group != "":
		return kmsg.ACLResourceTypeGroup, r.Group, true
	case r.TransactionalID != "":
		return kmsg.ACLResourceTypeTransactionalId, r.TransactionalID, true
	case r.Cluster:
		return kmsg.ACLResourceTypeCluster, "kafka-cluster", true
	}
	return kmsg.ACLResourceTypeAny, "", false
}

func principalOf(user string) string {
	if strings.HasPrefix(user, "User:") {
		return user
	}
	return "User:" + user
}

// ACLAdd is `millrace acl add`.
type ACLAdd struct {
	Principal  string   `arg:"" name:"who" help:"User the ACL is about; * for everyone, ANONYMOUS for who has not logged in."`
	Operations []string `arg:"" name:"operation" help:"READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, ALTER_CONFIGS, DESCRIBE_CONFIGS or ALL."`
	Deny       bool     `help:"Deny instead of allowing; what is denied no other ACL allows."`
	Host       string   `help:"IP address that the user connects from; * for any." default:"*" placeholder:"ADDRESS"`
	aclResource
	Kafka
}

func (*ACLAdd) Help() string {
	return `READ is SELECT in SQL, WRITE is INSERT, DESCRIBE is being shown. READ, WRITE, DELETE and ALTER imply DESCRIBE.

Examples:
  millrace acl add app READ --topic orders --user ada
  millrace acl add app READ --group 'app-' --prefix --user ada
  millrace acl add '*' DELETE --deny --topic '*' --user ada`
}

func (c *ACLAdd) Run(ctx context.Context, s *IO) error {
	typ, name, ok := c.resource()
	if !ok {
		return errors.New("say what it is about: --topic, --group, --transactional-id or --cluster")
	}
	req := kmsg.NewPtrCreateACLsRequest()
	for _, o := range c.Operations {
		op, err := kmsg.ParseACLOperation(o)
		if err != nil {
			return fmt.Errorf("operation %s: %w", o, err)
		}
		a := kmsg.NewCreateACLsRequestCreation()
		a.ResourceType, a.ResourceName, a.ResourcePatternType = typ, name, kmsg.ACLResourcePatternTypeLiteral
		if c.Prefix {
			a.ResourcePatternType = kmsg.ACLResourcePatternTypePrefixed
		}
		a.Principal, a.Host, a.Operation, a.PermissionType = principalOf(c.Principal), c.Host, op, kmsg.ACLPermissionTypeAllow
		if c.Deny {
			a.PermissionType = kmsg.ACLPermissionTypeDeny
		}
		req.Creations = append(req.Creations, a)
	}
	cl, err := c.Client(ctx, s)
	if err != nil {
		return err
	}
	defer cl.Close()
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	for i, r := range resp.Results {
		if err := kafkaError(r.ErrorCode, r.ErrorMessage); err != nil {
			return fmt.Errorf("%s: %w", c.Operations[min(i, len(c.Operations)-1)], err)
		}
	}
	return nil
}

// ACLList is `millrace acl list`.
type ACLList struct {
	Who    string `help:"Those about this user only." placeholder:"NAME"`
	Format string `short:"f" help:"Output format: ${enum}." enum:"table,csv,tsv,json,ndjson,markdown" default:"table" placeholder:"FORMAT"`
	Kafka
}

func (*ACLList) Help() string {
	return `Example:
  millrace acl list --who app --user ada`
}

func (c *ACLList) Run(ctx context.Context, s *IO) error {
	cl, err := c.Client(ctx, s)
	if err != nil {
		return err
	}
	defer cl.Close()
	req := kmsg.NewPtrDescribeACLsRequest()
	req.ResourceType, req.ResourcePatternType = kmsg.ACLResourceTypeAny, kmsg.ACLResourcePatternTypeAny
	req.Operation, req.PermissionType = kmsg.ACLOperationAny, kmsg.ACLPermissionTypeAny
	if c.Who != "" {
		req.Principal = kmsg.StringPtr(principalOf(c.Who))
	}
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	if err := kafkaError(resp.ErrorCode, resp.ErrorMessage); err != nil {
		return err
	}
	var rows [][]string
	for _, r := range resp.Resources {
		for _, a := range r.ACLs {
			rows = append(rows, []string{
				a.Principal, a.Host, a.PermissionType.String(), a.Operation.String(),
				r.ResourceType.String(), r.ResourceName, r.ResourcePatternType.String(),
			})
		}
	}
	slices.SortFunc(rows, func(a, b []string) int { return slices.CompareFunc(a, b, cmp.Compare[string]) })
	return printRows(s, c.Format, []Column{
		{"principal", TextColumn},
		{"host", TextColumn},
		{"permission", TextColumn},
		{"operation", TextColumn},
		{"resource", TextColumn},
		{"name", TextColumn},
		{"pattern", TextColumn},
	}, rows)
}

// ACLRemove is `millrace acl remove`.
type ACLRemove struct {
	Principal  string   `arg:"" name:"who" help:"User the ACLs are about."`
	Operations []string `arg:"" optional:"" name:"operation" help:"Only those of these operations."`
	aclResource
	Kafka
}

func (*ACLRemove) Help() string {
	return `Removes what allows and what denies, from every host. Without a resource: all ACLs of the user.

Examples:
  millrace acl remove app READ --topic orders --user ada
  millrace acl remove app --user ada`
}

func (c *ACLRemove) Run(ctx context.Context, s *IO) error {
	f := kmsg.NewDeleteACLsRequestFilter()
	f.PermissionType, f.ResourcePatternType = kmsg.ACLPermissionTypeAny, kmsg.ACLResourcePatternTypeAny
	f.Principal = kmsg.StringPtr(principalOf(c.Principal))
	typ, name, named := c.resource()
	f.ResourceType = typ
	if named {
		f.ResourceName, f.ResourcePatternType = &name, kmsg.ACLResourcePatternTypeLiteral
		if c.Prefix {
			f.ResourcePatternType = kmsg.ACLResourcePatternTypePrefixed
		}
	}
	req := kmsg.NewPtrDeleteACLsRequest()
	for _, o := range c.Operations {
		op, err := kmsg.ParseACLOperation(o)
		if err != nil {
			return fmt.Errorf("operation %s: %w", o, err)
		}
		f.Operation = op
		req.Filters = append(req.Filters, f)
	}
	if len(c.Operations) == 0 {
		f.Operation = kmsg.ACLOperationAny
		req.Filters = append(req.Filters, f)
	}
	cl, err := c.Client(ctx, s)
	if err != nil {
		return err
	}
	defer cl.Close()
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	removed := 0
	for _, r := range resp.Results {
		if err := kafkaError(r.ErrorCode, r.ErrorMessage); err != nil {
			return err
		}
		for _, m := range r.MatchingACLs {
			if err := kafkaError(m.ErrorCode, m.ErrorMessage); err != nil {
				return err
			}
			removed++
		}
	}
	if removed == 0 {
		return errors.New("no such ACL")
	}
	_, err = fmt.Fprintf(s.Out, "%d removed\n", removed)
	return err
}
