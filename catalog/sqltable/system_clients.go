package sqltable

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
)

// Query is a row of millrace.queries.
type Query struct {
	ID             int64
	User, Client   string
	Database, Text string
	Command        string // Query, Execute, …
	Since          time.Time
}

func connectionsTable() systemDef {
	return systemDef{
		name: "connections", doc: "Open connections of both wires.",
		columns: []systemColumn{
			required("id", sysBig, "on the MySQL wire the id that KILL takes"),
			required("protocol", sysText, "`kafka` or `mysql`"),
			required("user", sysText, ""),
			required("client", sysText, "address"),
			required("software", sysText, "what the client says it is"),
			required("since", sysTime, ""),
		},
		rows: func(p *Provider, ctx *sql.Context) ([]sql.Row, error) {
			if p.opts.Connections == nil {
				return nil, nil
			}
			zone, err := SessionZone(ctx)
			if err != nil {
				return nil, err
			}
			var rows []sql.Row
			for _, c := range p.opts.Connections() {
				rows = append(rows, sql.Row{c.ID, c.Protocol, valid(c.User), c.Client, valid(c.Software), wallOf(zone, c.Since)})
			}
			return rows, nil
		},
	}
}

func queriesTable() systemDef {
	return systemDef{
		name: "queries", doc: "Statements that are running, this one among them.",
		columns: []systemColumn{
			required("id", sysBig, "of the connection; `KILL QUERY id` ends the statement"),
			required("user", sysText, ""),
			required("client", sysText, "address"),
			optional("database", sysText, ""),
			required("command", sysText, ""),
			required("started", sysTime, ""),
			required("seconds", sysFloat, ""),
			required("statement", sysLong, "without literals, which may be secret; SHOW PROCESSLIST has them for whoever runs it"),
		},
		rows: func(p *Provider, ctx *sql.Context) ([]sql.Row, error) {
			if p.opts.Queries == nil {
				return nil, nil
			}
			zone, err := SessionZone(ctx)
			if err != nil {
				return nil, err
			}
			var rows []sql.Row
			for _, q := range p.opts.Queries() {
				rows = append(rows, sql.Row{
					q.ID, valid(q.User), q.Client, orNull(q.Database), q.Command, wallOf(zone, q.Since.UnixMilli()), time.Since(q.Since).Seconds(), valid(q.Text),
				})
			}
			return rows, nil
		},
	}
}

func statementsTable() systemDef {
	return systemDef{
		name: "statements", doc: "Statements that were executed, summed up by their text without literals; the latest 1,000.",
		columns: []systemColumn{
			required("digest", varchar(64, sql.Collation_utf8mb4_0900_bin), ""),
			required("statement", sysLong, "without literals"),
			required("count", sysBig, ""),
			required("errors", sysBig, ""),
			required("total_ms", sysFloat, ""),
			required("max_ms", sysFloat, ""),
			required("rows_sent", sysBig, ""),
			required("rows_scanned", sysBig, "in columns"),
			required("fallbacks", sysBig, "how many were not wholly carried out in columns"),
			optional("fallback_reason", sysLong, "the last one"),
			required("last_seen", sysTime, ""),
		},
		rows: func(p *Provider, ctx *sql.Context) ([]sql.Row, error) {
			if p.opts.Statements == nil {
				return nil, nil
			}
			zone, err := SessionZone(ctx)
			if err != nil {
				return nil, err
			}
			ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
			var rows []sql.Row
			for _, s := range p.opts.Statements() {
				rows = append(rows, sql.Row{
					s.Digest, s.Text, s.Count, s.Errors, ms(s.Total), ms(s.Max), s.RowsSent, s.RowsScanned, s.Fallbacks, orNull(s.Reason), wallOf(zone, s.LastSeen),
				})
			}
			return rows, nil
		},
	}
}

func clientErrorsTable() systemDef {
	return systemDef{
		name: "client_errors", doc: "What Kafka clients were refused, and what to do about it.",
		columns: []systemColumn{
			required("last_seen", sysTime, ""),
			required("first_seen", sysTime, ""),
			required("count", sysBig, ""),
			required("client_id", sysText, ""),
			required("software", sysText, ""),
			required("address", sysText, ""),
			required("principal", sysText, ""),
			optional("api", sysText, ""),
			optional("version", sysInt, ""),
			optional("topic", sysText, ""),
			optional("group_id", sysText, ""),
			optional("transactional_id", sysText, ""),
			optional("code", sysInt, "Kafka's; NULL: the connection ended without an answer"),
			required("error", sysText, ""),
			optional("message", sysLong, ""),
			optional("hint", sysLong, "what to do about it"),
		},
		rows: clientErrorRows,
	}
}

func clientErrorRows(p *Provider, ctx *sql.Context) ([]sql.Row, error) {
	if p.opts.ClientErrors == nil {
		return nil, nil
	}
	zone, err := SessionZone(ctx)
	if err != nil {
		return nil, err
	}
	var rows []sql.Row
	for _, e := range p.opts.ClientErrors() {
		var version, code any
		if e.API != "" {
			version = int32(e.Version)
		}
		if e.Code != 0 {
			code = int32(e.Code)
		}
		rows = append(rows, sql.Row{
			wallOf(zone, e.Last), wallOf(zone, e.First), e.Count,
			valid(e.ClientID), e.Software, e.Address, e.Principal,
			orNull(e.API), version, orNull(e.Topic), orNull(e.Group), orNull(e.TransactionalID), code, e.Error,
			orNull(e.Message), orNull(e.Hint),
		})
	}
	return rows, nil
}
