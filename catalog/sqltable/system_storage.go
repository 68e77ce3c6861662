package sqltable

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

func segmentsTable() systemDef {
	return systemDef{
		name: "segments", doc: "Files of sealed records. One holds all topics of a range of the log, or compacted copies of partitions.",
		columns: []systemColumn{
			required("id", types.Uint64, ""),
			required("kind", sysText, "`log` or `compacted`"),
			required("first_lsn", types.Uint64, ""),
			required("last_lsn", types.Uint64, ""),
			optional("created_at", sysTime, ""),
			required("partitions", sysBig, "that have records in it"),
			required("batches", sysBig, ""),
			required("data_bytes", sysBig, "of the record batches"),
			required("size_bytes", sysBig, "of the file"),
			required("damaged", sysBool, "it could not be read"),
		},
		rows: func(p *Provider, ctx *sql.Context) ([]sql.Row, error) {
			zone, err := SessionZone(ctx)
			if err != nil {
				return nil, err
			}
			var rows []sql.Row
			for _, s := range p.store.Segments() {
				kind := "log"
				if s.Compacted {
					kind = "compacted"
				}
				rows = append(rows, sql.Row{
					s.ID, kind, uint64(s.FirstLSN), uint64(s.LastLSN), wallOf(zone, s.Created), int64(s.Partitions), s.Batches, s.DataBytes, s.SizeBytes, yes(s.Damaged),
				})
			}
			return rows, nil
		},
	}
}

func storageTable() systemDef {
	return systemDef{
		name: "storage", doc: "One row about the store.",
		columns: []systemColumn{
			required("last_lsn", types.Uint64, ""),
			required("log_bytes", sysBig, "not sealed yet"),
			required("segment_bytes", sysBig, ""),
			required("segments", sysBig, ""),
			required("disk_total", sysBig, ""),
			required("disk_free", sysBig, ""),
			required("healthy", sysBool, "false while nothing can be written"),
		},
		rows: func(p *Provider, _ *sql.Context) ([]sql.Row, error) {
			s := p.store.Stats()
			return []sql.Row{{
				uint64(s.LastLSN), s.LogBytes, s.SegmentBytes, int64(s.Segments), s.DiskTotal, s.DiskFree, yes(s.Healthy),
			}}, nil
		},
	}
}
