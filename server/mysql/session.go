package mysql

import (
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"millrace/catalog/sqltable"
	"millrace/server/auth"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
)

// session is the engine's session together with who it belongs to.
type session struct {
	*sql.BaseSession
	principal auth.Principal
	remote    string // IP address of the client, for ACLs
	server    *Server
	zone      atomic.Pointer[namedZone] // the last one asked for
	variables map[string]int            // bytes of the user variables
	kept      int                       // their sum
}

// namedZone is a time zone and the value of time_zone that means it.
type namedZone struct {
	name string
	loc  *time.Location
}

// Zone is the zone of the session's time_zone, looked up once for as long as that stays.
// Safe for concurrent use.
func (s *session) Zone(ctx *sql.Context) (*time.Location, error) {
	v, err := s.GetSessionVariable(ctx, "time_zone")
	if err != nil {
		return nil, err
	}
	name, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("time_zone is not text but %T", v)
	}
	if z := s.zone.Load(); z != nil && z.name == name {
		return z.loc, nil
	}
	loc, err := sqltable.ParseZone(name)
	if err != nil {
		return nil, err
	}
	s.zone.Store(&namedZone{name, loc})
	return loc, nil
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
	p := s.principal
	p.Host = s.remote
	return s.server.o.Auth.Authorize(p, op, r)
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

// maxWarnings are kept of a statement, as many as MySQL's max_error_count; a scan may meet one
// at every row.
const maxWarnings = 1024

// Warn keeps a warning for SHOW WARNINGS.
func (s *session) Warn(w *sql.Warning) {
	if s.WarningCount() < maxWarnings {
		s.BaseSession.Warn(w)
	}
}

// maxVariableBytes is what a session's user variables may hold, names included.
const maxVariableBytes = 16 << 20

// SetUserVariable bounds what a session keeps; the engine knows no end.
func (s *session) SetUserVariable(ctx *sql.Context, name string, value any, typ sql.Type) error {
	key := strings.ToLower(name)
	size := 64 + len(name)
	switch v := value.(type) {
	case string:
		size += len(v)
	case []byte:
		size += len(v)
	case sqltable.JSONText:
		size += len(v)
	}
	if s.kept-s.variables[key]+size > maxVariableBytes {
		return sqlerr.New(1038, "HY001", "The user variables of this session would hold more than %d bytes", maxVariableBytes)
	}
	if err := s.BaseSession.SetUserVariable(ctx, name, value, typ); err != nil {
		return err
	}
	if s.variables == nil {
		s.variables = make(map[string]int)
	}
	s.kept += size - s.variables[key]
	s.variables[key] = size
	return nil
}

// hostOf is address without its port.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
