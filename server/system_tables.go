package server

import (
	"maps"
	"slices"
	"strings"

	"millrace/catalog/sqltable"
	"millrace/ingest/sealer"
	"millrace/server/auth"
	"millrace/server/kafka/group"
	"millrace/server/kafka/quota"
	"millrace/server/kafka/share"
)

// systemTables feeds those tables of database millrace that tell of the servers.
func (s *Server) systemTables(groups *group.Coordinator, shares *share.Coordinator, users *auth.Service, seals *sealer.Sealer) sqltable.Options {
	return sqltable.Options{
		GroupStatus:  func(name string) (sqltable.GroupStatus, bool) { return groupStatus(groups, shares, name) },
		GroupMembers: s.groupMembers,
		Connections:  s.connections,
		ClientErrors: s.clientErrors,
		Statements:   s.statements,
		Queries: func() []sqltable.Query {
			if s.mysql == nil {
				return nil
			}
			return s.mysql.Queries()
		},
		Users:  func() []sqltable.User { return userRows(users) },
		ACLs:   func() []sqltable.ACL { return aclRows(users) },
		Quotas: s.quotas,
		Expanding: func() (sqltable.Expansion, bool) {
			topic, since, ok := seals.Working()
			return sqltable.Expansion{Topic: topic, Since: since.UnixMilli()}, ok
		},
	}
}

func (s *Server) groupMembers(name string) []sqltable.GroupMember {
	var out []sqltable.GroupMember
	for _, m := range s.kafka.GroupMembers(name) {
		out = append(out, sqltable.GroupMember(m))
	}
	return out
}

func (s *Server) quotas() []sqltable.Quota {
	part := func(p quota.Part) string {
		if p.Default {
			return "<default>"
		}
		return p.Name
	}
	var out []sqltable.Quota
	for _, q := range s.kafka.Quotas() {
		for _, name := range slices.Sorted(maps.Keys(q.Values)) {
			out = append(out, sqltable.Quota{
				User: part(q.Entity.User), ClientID: part(q.Entity.ClientID), IP: part(q.Entity.IP), Name: name, Value: q.Values[name],
			})
		}
	}
	return out
}

func userRows(users *auth.Service) []sqltable.User {
	var out []sqltable.User
	for _, name := range users.Users() {
		a, ok := users.Account(name)
		if !ok {
			continue // dropped since
		}
		scram, _ := users.SCRAMCredentials(name)
		require := strings.ToUpper(string(a.Require))
		if require == "" {
			require = "NONE"
		}
		out = append(out, sqltable.User{
			Name: name, Administrator: a.Administrator, Password: a.HasPassword, SCRAM256: scram.Rounds256, SCRAM512: scram.Rounds512,
			Require: require, Locked: a.Locked,
		})
	}
	return out
}

func aclRows(users *auth.Service) []sqltable.ACL {
	var out []sqltable.ACL
	for _, a := range users.ACLs() {
		out = append(out, sqltable.ACL{
			Principal: a.Principal, Host: a.Host, Operation: a.Operation.String(), Deny: a.Deny,
			ResourceType: a.Type.String(), Resource: a.Name, Prefixed: a.Prefixed,
		})
	}
	return out
}
