package mysql

import (
	"github.com/dolthub/go-mysql-server/sql"
)

// processList shows the engine (information_schema.processlist) the threads that one session
// may see. Everything else it does is empty: threads keep their own books, and progress
// counters would cost a lock per partition for nobody.
type processList struct {
	sql.EmptyProcessList
	c *conn
}

var _ sql.ProcessList = processList{}

func (p processList) Processes() []sql.Process {
	var out []sql.Process
	for _, t := range p.c.visibleThreads() {
		command := sql.ProcessCommandSleep
		if t.command != "Sleep" {
			command = sql.ProcessCommand(t.command)
		}
		out = append(out, sql.Process{
			Connection: t.id, Host: t.host, Database: t.db, User: t.user, Command: command,
			StartedAt: t.since, Query: t.info, Kill: func() {},
		})
	}
	return out
}
