package sqltable

import (
	"github.com/dolthub/go-mysql-server/sql"
)

// User is a row of millrace.users.
type User struct {
	Name          string
	Administrator bool
	Password      bool // has one
	SCRAM256      int  // iterations; 0: no such credential
	SCRAM512      int
	Require       string // what a login needs beside that, in the words of REQUIRE; "NONE"
	Locked        bool
}

// ACL is a row of millrace.acls.
type ACL struct {
	Principal, Host, Operation string
	Deny                       bool
	ResourceType, Resource     string
	Prefixed                   bool
}

// Quota is a row of millrace.quotas. Of the entity's parts "" is none, "<default>" the default.
type Quota struct {
	User, ClientID, IP string
	Name               string
	Value              float64
}

func usersTable() systemDef {
	return systemDef{
		name: "users", doc: "Users of both wires.",
		columns: []systemColumn{
			required("name", sysText, ""),
			required("administrator", sysBool, ""),
			required("password", sysBool, "has one"),
			optional("scram_sha_256", sysInt, "iterations of the credential"),
			optional("scram_sha_512", sysInt, ""),
			required("require", sysText, "what a login needs beside that: `NONE`, `SSL`, `X509` …"),
			required("locked", sysBool, ""),
		},
		rows: func(p *Provider, _ *sql.Context) ([]sql.Row, error) {
			if p.opts.Users == nil {
				return nil, nil
			}
			rounds := func(n int) any {
				if n == 0 {
					return nil
				}
				return int32(n)
			}
			var rows []sql.Row
			for _, u := range p.opts.Users() {
				rows = append(rows, sql.Row{u.Name, yes(u.Administrator), yes(u.Password), rounds(u.SCRAM256), rounds(u.SCRAM512), u.Require, yes(u.Locked)})
			}
			return rows, nil
		},
	}
}

func aclsTable() systemDef {
	return systemDef{
		name: "acls", doc: "Access control entries: `millrace acl`, Kafka's ACLs and GRANT are the same.",
		columns: []systemColumn{
			required("principal", sysText, ""),
			required("host", sysText, ""),
			required("operation", sysText, ""),
			required("permission", sysText, "`allow` or `deny`"),
			required("resource_type", sysText, ""),
			required("resource_name", sysText, ""),
			required("pattern_type", sysText, "`literal` or `prefixed`"),
		},
		rows: func(p *Provider, _ *sql.Context) ([]sql.Row, error) {
			if p.opts.ACLs == nil {
				return nil, nil
			}
			var rows []sql.Row
			for _, a := range p.opts.ACLs() {
				permission, pattern := "allow", "literal"
				if a.Deny {
					permission = "deny"
				}
				if a.Prefixed {
					pattern = "prefixed"
				}
				rows = append(rows, sql.Row{valid(a.Principal), a.Host, a.Operation, permission, a.ResourceType, valid(a.Resource), pattern})
			}
			return rows, nil
		},
	}
}

func quotasTable() systemDef {
	return systemDef{
		name: "quotas", doc: "Quotas of users, client ids and addresses.",
		columns: []systemColumn{
			optional("user", sysText, "`<default>`: of all that have none of their own; NULL: whoever it is"),
			optional("client_id", sysText, ""),
			optional("ip", sysText, ""),
			required("name", sysText, ""),
			required("value", sysFloat, ""),
		},
		rows: func(p *Provider, _ *sql.Context) ([]sql.Row, error) {
			if p.opts.Quotas == nil {
				return nil, nil
			}
			var rows []sql.Row
			for _, q := range p.opts.Quotas() {
				rows = append(rows, sql.Row{orNull(q.User), orNull(q.ClientID), orNull(q.IP), q.Name, q.Value})
			}
			return rows, nil
		},
	}
}
