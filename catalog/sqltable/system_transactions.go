package sqltable

import (
	"slices"

	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// transactionStates are Kafka's names.
var transactionStates = map[state.TransactionStatus]string{
	state.TransactionEmpty:          "Empty",
	state.TransactionOngoing:        "Ongoing",
	state.TransactionCompleteCommit: "CompleteCommit",
	state.TransactionCompleteAbort:  "CompleteAbort",
}

func transactionsTable() systemDef {
	return systemDef{
		name: "transactions", doc: "Transactional ids, and the transactions that are open under them.",
		columns: []systemColumn{
			required("transactional_id", sysText, ""),
			required("producer_id", sysBig, ""),
			required("producer_epoch", sysInt, ""),
			required("state", sysText, ""),
			required("timeout_ms", sysBig, ""),
			optional("started_at", sysTime, "of the open transaction"),
			optional("updated_at", sysTime, ""),
			required("partitions", types.JSON, "of the open transaction: object, topic → partitions"),
			required("consumer_groups", types.JSON, "whose offsets it commits: array"),
		},
		rows: func(p *Provider, ctx *sql.Context) ([]sql.Row, error) {
			zone, err := SessionZone(ctx)
			if err != nil {
				return nil, err
			}
			topics := p.store.Topics()
			var rows []sql.Row
			for _, t := range p.store.Transactions() {
				parts := make(map[string][]int32)
				for _, tp := range t.Partitions {
					if topic, ok := topics.ByID(tp.Topic); ok {
						parts[topic.Name] = append(parts[topic.Name], tp.Partition)
					}
				}
				partitions, err := jsonCell(parts)
				if err != nil {
					return nil, err
				}
				groups, err := jsonCell(append([]string{}, t.Groups...))
				if err != nil {
					return nil, err
				}
				rows = append(rows, sql.Row{
					valid(t.TransactionalID), t.ProducerID, int32(t.ProducerEpoch), transactionStates[t.Status], int64(t.TimeoutMillis),
					wallOf(zone, t.StartedAt), wallOf(zone, t.UpdatedAt), partitions, groups,
				})
			}
			return rows, nil
		},
	}
}

func producersTable() systemDef {
	return systemDef{
		name: "producers", doc: "Idempotent and transactional producers that a partition still knows.",
		columns: []systemColumn{
			required("topic", sysText, ""),
			required("partition", sysInt, ""),
			required("producer_id", sysBig, ""),
			required("producer_epoch", sysInt, ""),
			required("last_sequence", sysInt, ""),
			optional("last_timestamp", sysTime, ""),
			optional("transaction_start", sysBig, "first offset of its open transaction here"),
		},
		topic: &topicRows{"topic", func(q topicQuery, t state.Topic, out []sql.Row) ([]sql.Row, error) {
			zone, err := SessionZone(q.ctx)
			if err != nil {
				return out, err
			}
			for i := range t.Partitions {
				all := q.p.store.Producers(state.TopicPartition{Topic: t.ID, Partition: i})
				rows := make([]sql.Row, 0, len(all))
				for _, p := range all {
					var start any
					if p.TxnStart >= 0 {
						start = p.TxnStart
					}
					rows = append(rows, sql.Row{t.Name, i, p.ProducerID, int32(p.ProducerEpoch), p.LastSequence, wallOf(zone, p.LastTimestamp), start})
				}
				slices.SortFunc(rows, func(a, b sql.Row) int { return int(a[2].(int64) - b[2].(int64)) })
				out = append(out, rows...)
			}
			return out, nil
		}},
	}
}
