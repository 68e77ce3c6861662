package mysql

import (
	"millrace/server/auth"

	"github.com/dolthub/go-mysql-server/sql"
)

// session is the engine's session together with who it belongs to.
type session struct {
	*sql.BaseSession
	principal auth.Principal
	server    *Server
}

// defaultDatabase is used by who names none: there is one that matters.
const defaultDatabase = "kafka"

func newSession(s *Server, id uint32, principal auth.Principal, user, address string) *session {
	base := sql.NewBaseSessionWithClientServer(s.listener.Addr().String(), sql.Client{User: user, Address: address}, id)
	sess := &session{BaseSession: base, principal: principal, server: s}
	sess.SetConnectionId(id)
	sess.SetCurrentDatabase(defaultDatabase)
	sess.SetLogger(quietLogger())
	return sess
}

// allowed asks the one authorisation function.
func (s *session) allowed(op auth.Operation, r auth.Resource) bool {
	return s.server.o.Auth.Authorize(s.principal, op, r)
}

func (s *session) isAdmin() bool { return s.allowed(auth.Admin, auth.Resource{Type: auth.Cluster}) }

// sessionOf returns the session behind an engine context, or nil for the engine's own.
func sessionOf(ctx *sql.Context) *session {
	s, _ := ctx.Session.(*session)
	return s
}

// GetPrivilegeSet says that the engine's own privileges are known, and that there are none: some
// tables of information_schema have no rows, rather than no answer, then.
func (s *session) GetPrivilegeSet() (sql.PrivilegeSet, uint64) { return nil, 1 }
