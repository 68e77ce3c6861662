package mysql

import (
	"fmt"
	"strings"
	"time"

	"millrace/server/mysql/sqlerr"
	"millrace/server/mysql/wire"
)

// command carries out one command; a returned error ends the connection.
func (c *conn) command(command wire.Command, args []byte) error {
	switch command {
	case wire.ComQuery:
		return c.comQuery(string(args))
	case wire.ComPing:
		return c.wc.WriteOK(wire.OK{Status: c.status()})
	case wire.ComInitDB:
		if err := c.useDatabase(string(args)); err != nil {
			return c.writeError(c.s.base, err)
		}
		return c.wc.WriteOK(wire.OK{Status: c.status()})
	case wire.ComFieldList:
		return c.fieldList(wire.ParseFieldList(args))
	case wire.ComStatistics:
		return c.wc.WriteBytes(fmt.Sprintf("Uptime: %d  Threads: %d", int(time.Since(c.s.started).Seconds()), c.s.open.Load()))
	case wire.ComProcessKill:
		id, err := wire.ParseUint32(args)
		if err != nil {
			return c.writeError(c.s.base, sqlerr.ErrMalformed)
		}
		if err := c.kill(id, true); err != nil {
			return c.writeError(c.s.base, err)
		}
		return c.wc.WriteOK(wire.OK{Status: c.status()})
	case wire.ComSetOption:
		option, err := wire.ParseUint16(args)
		if err != nil || option > 1 {
			return c.writeError(c.s.base, sqlerr.ErrMalformed)
		}
		c.wc.SetMultiStatements(option == 0)
		return c.wc.WriteEnd(c.status(), 0)
	case wire.ComChangeUser:
		return c.changeUser(args)
	case wire.ComResetConnection:
		return c.resetConnection()
	case wire.ComStmtPrepare:
		return c.stmtPrepare(string(args))
	case wire.ComStmtExecute:
		return c.stmtExecute(args)
	case wire.ComStmtFetch:
		return c.stmtFetch(args)
	case wire.ComStmtSendLong:
		return c.stmtLongData(args)
	case wire.ComStmtClose:
		return c.stmtClose(args)
	case wire.ComStmtReset:
		return c.stmtReset(args)
	default:
		return c.writeError(c.s.base, sqlerr.New(1047, "08S01", "Unknown command"))
	}
}

// fieldList carries out COM_FIELD_LIST, which old command lines use to complete names.
func (c *conn) fieldList(table string) error {
	text := "SELECT * FROM `" + strings.ReplaceAll(table, "`", "``") + "` LIMIT 0"
	stmt, _, _, err := c.parse(text, false)
	if err != nil {
		return c.writeError(c.s.base, err)
	}
	r := c.begin(text)
	defer r.finish()
	a, err := c.execute(r.ctx, stmt, text, nil)
	if err != nil {
		return c.writeError(r.ctx, err)
	}
	defer a.close(r.ctx)
	return c.wc.WriteFieldList(columns(r.ctx, a.schema), c.status())
}
