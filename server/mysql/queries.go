package mysql

import "millrace/catalog/sqltable"

// Queries lists the statements that are running, for millrace.queries. What is secret in them is left out.
func (s *Server) Queries() []sqltable.Query {
	var list []threadInfo
	s.threads.each(func(t *thread) {
		if info, _ := t.snapshot(); t.isRunning() {
			list = append(list, info)
		}
	})
	sortThreads(list)
	out := make([]sqltable.Query, 0, len(list))
	for _, t := range list {
		out = append(out, sqltable.Query{
			ID: int64(t.id), User: t.user, Client: t.host, Database: t.db, Command: t.command, Since: t.since, Text: redacted(t.info),
		})
	}
	return out
}
