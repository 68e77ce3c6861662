package kafka

import (
	"cmp"
	"slices"
	"time"
)

// Connection is an open connection as system tables show it.
type Connection struct {
	ID       int64 // ascending in the order of accepting; never reused
	Listener string
	User     string // who logged in; ANONYMOUS when nobody did
	Client   string // address, host:port
	Software string // name and version as the client tells them; "" unknown
	Since    time.Time
}

// Connections lists the open connections in the order of their ids.
func (s *Server) Connections() []Connection {
	var list []Connection
	s.eachConn(func(c *conn) { list = append(list, *c.shown.Load()) })
	slices.SortFunc(list, func(a, b Connection) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// show changes what Connections tells of c. On the connection's own goroutine.
func (c *conn) show(change func(*Connection)) {
	next := *c.shown.Load()
	change(&next)
	c.shown.Store(&next)
}
