package mysql

import "millrace/catalog/sqltable"

// Connections lists the open connections of this wire, for millrace.connections.
func (s *Server) Connections() []sqltable.Connection {
	var out []sqltable.Connection
	s.threads.each(func(t *thread) {
		info, _ := t.snapshot()
		out = append(out, sqltable.Connection{
			ID: int64(info.id), Protocol: "mysql", User: info.user, Client: info.host, Since: t.connected.UnixMilli(),
		})
	})
	return out
}
