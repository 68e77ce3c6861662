package sqltable

import (
	"bytes"
	"encoding/json"

	"millrace/blobexpand/jsonval"
	"millrace/internal/topicconfig"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

func topicsTable() systemDef {
	return systemDef{
		name: "topics", doc: "All topics, internal ones (`__…`) too.",
		columns: []systemColumn{
			required("name", sysText, ""),
			required("id", sysText, ""),
			required("partitions", sysInt, ""),
			optional("created_at", sysTime, ""),
			required("configs", types.JSON, "those that were set, see `configs`"),
			required("records", sysBig, "offsets between the first and the last record of each partition; compaction and transactions leave gaps"),
			required("size_bytes", sysBig, "of the record batches, compressed as they were sent"),
		},
		topic: &topicRows{"name", func(q topicQuery, t state.Topic, out []sql.Row) ([]sql.Row, error) {
			zone, err := SessionZone(q.ctx)
			if err != nil {
				return out, err
			}
			configs := t.Configs
			if configs == nil {
				configs = map[string]string{}
			}
			j, err := jsonCell(configs)
			if err != nil {
				return out, err
			}
			records, size := int64(0), int64(0)
			snap := q.p.statement(q.ctx).Snapshot()
			for i := range t.Partitions {
				tp := state.TopicPartition{Topic: t.ID, Partition: i}
				b, err := snap.Bounds(tp)
				if err != nil {
					return out, err
				}
				records += b.End - b.LogStart
				if q.needs("size_bytes") {
					size += q.p.store.SizeBytes(tp)
				}
			}
			return append(out, sql.Row{t.Name, t.ID.String(), t.Partitions, wallOf(zone, t.CreatedAt), j, records, size}), nil
		}},
	}
}

// jsonCell is v as a JSON cell, in MySQL's text; paths in declarations keep their >.
func jsonCell(v any) (JSONText, error) {
	var j bytes.Buffer
	e := json.NewEncoder(&j)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return JSONText(jsonval.Value(bytes.TrimSpace(j.Bytes())).AppendNormal(nil)), nil
}

func partitionsTable() systemDef {
	return systemDef{
		name: "partitions", doc: "All partitions with their offsets and sizes.",
		columns: []systemColumn{
			required("topic", sysText, ""),
			required("partition", sysInt, ""),
			required("log_start", sysBig, "first offset that exists"),
			required("last_stable", sysBig, "below it every transaction is decided"),
			required("end_offset", sysBig, "one past the last record"),
			required("size_bytes", sysBig, "of the record batches"),
			optional("expansion_lag", sysBig, "records whose columns are in no file yet (queries expand them, or find them in memory); NULL before the topic was first asked for in columns"),
		},
		topic: &topicRows{"topic", func(q topicQuery, t state.Topic, out []sql.Row) ([]sql.Row, error) {
			snap := q.p.statement(q.ctx).Snapshot()
			for i := range t.Partitions {
				tp := state.TopicPartition{Topic: t.ID, Partition: i}
				b, err := snap.Bounds(tp)
				if err != nil {
					return out, err
				}
				size := int64(0)
				if q.needs("size_bytes") {
					size = q.p.store.SizeBytes(tp)
				}
				var lag any
				if q.p.opts.Columns != nil && q.needs("expansion_lag") {
					if rows, known := q.p.opts.Columns.InFiles(tp, b); known {
						lag = max(0, b.End-b.LogStart-rows)
					}
				}
				out = append(out, sql.Row{t.Name, i, b.LogStart, b.LastStable, b.End, size, lag})
			}
			return out, nil
		}},
	}
}

func configsTable() systemDef {
	return systemDef{
		name: "configs", doc: "Every config of every topic with its value; [topic-configs.md](topic-configs.md) says what they do.",
		columns: []systemColumn{
			required("topic", sysText, ""),
			required("name", sysText, ""),
			required("value", sysLong, ""),
			required("is_default", sysBool, "it was not set for this topic"),
			required("default_value", sysLong, ""),
		},
		topic: &topicRows{"topic", func(_ topicQuery, t state.Topic, out []sql.Row) ([]sql.Row, error) {
			for _, d := range topicconfig.Definitions() {
				value, set := t.Configs[d.Name]
				if !set {
					value = d.Default
				}
				out = append(out, sql.Row{t.Name, d.Name, value, yes(!set), d.Default})
			}
			return out, nil
		}},
	}
}
