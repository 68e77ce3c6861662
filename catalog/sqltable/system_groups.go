package sqltable

import (
	"cmp"
	"slices"
	"strings"

	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// GroupStatus is what a coordinator knows of a group and the store does not.
type GroupStatus struct {
	State        string
	ProtocolType string
	Protocol     string // how partitions are assigned; "" unknown
	Members      int
	Generation   int32
}

// GroupMember is a row of millrace.group_members.
type GroupMember struct {
	ID, InstanceID, ClientID, ClientHost string
	Topics                               []string // subscribed to, where it is known
	Assignment                           []state.TopicPartition
}

func consumerGroupsTable() systemDef {
	return systemDef{
		name: "consumer_groups", formerly: "groups", doc: "Consumer groups of all protocols, and share groups.",
		columns: []systemColumn{
			required("group_id", sysText, ""),
			optional("state", sysText, ""),
			optional("protocol_type", sysText, ""),
			optional("members", sysBig, ""),
			optional("generation", sysBig, "or epoch"),
			optional("assignor", sysText, "how partitions are assigned"),
		},
		rows: func(p *Provider, _ *sql.Context) ([]sql.Row, error) {
			var rows []sql.Row
			p.store.Groups(func(group string, _ []byte) {
				row := sql.Row{group, nil, nil, nil, nil, nil}
				if p.opts.GroupStatus != nil {
					if g, ok := p.opts.GroupStatus(group); ok {
						row = sql.Row{group, g.State, g.ProtocolType, int64(g.Members), int64(g.Generation), orNull(g.Protocol)}
					}
				}
				rows = append(rows, row)
			})
			return rows, nil
		},
	}
}

func groupMembersTable() systemDef {
	return systemDef{
		name: "group_members", doc: "Members of groups, and what they have been assigned.",
		columns: []systemColumn{
			required("group_id", sysText, ""),
			required("member_id", sysText, ""),
			optional("instance_id", sysText, "of static members"),
			required("client_id", sysText, ""),
			required("client_host", sysText, ""),
			required("subscription", types.JSON, "names of topics, where the group's protocol tells"),
			required("assignment", types.JSON, "object: topic → partitions"),
			required("partitions", sysBig, "how many are assigned"),
		},
		rows: func(p *Provider, ctx *sql.Context) ([]sql.Row, error) {
			if p.opts.GroupMembers == nil {
				return nil, nil
			}
			topics := p.statement(ctx).Snapshot().Topics()
			var rows []sql.Row
			var failed error
			p.store.Groups(func(group string, _ []byte) {
				for _, m := range p.opts.GroupMembers(group) {
					assigned := make(map[string][]int32)
					for _, tp := range m.Assignment {
						if t, ok := topics.ByID(tp.Topic); ok {
							assigned[t.Name] = append(assigned[t.Name], tp.Partition)
						}
					}
					for _, list := range assigned {
						slices.Sort(list)
					}
					j, err := jsonCell(assigned)
					if err != nil {
						failed = err
						return
					}
					subscription, err := jsonCell(append([]string{}, m.Topics...))
					if err != nil {
						failed = err
						return
					}
					rows = append(rows, sql.Row{
						group, valid(m.ID), orNull(m.InstanceID), valid(m.ClientID), valid(m.ClientHost), subscription, j, int64(len(m.Assignment)),
					})
				}
			})
			return rows, failed
		},
	}
}

func consumerLagTable() systemDef {
	return systemDef{
		name: "consumer_lag", formerly: "group_offsets", doc: "Committed offsets of groups, and how far behind they are.",
		columns: []systemColumn{
			required("group_id", sysText, ""),
			required("topic", sysText, ""),
			required("partition", sysInt, ""),
			required("committed_offset", sysBig, "the next record to read"),
			required("end_offset", sysBig, ""),
			required("lag", sysBig, "records that are still to read"),
			optional("committed_at", sysTime, ""),
			required("metadata", sysLong, ""),
		},
		rows: consumerLagRows,
	}
}

func consumerLagRows(p *Provider, ctx *sql.Context) ([]sql.Row, error) {
	zone, err := SessionZone(ctx)
	if err != nil {
		return nil, err
	}
	snap := p.statement(ctx).Snapshot()
	var groups []string
	p.store.Groups(func(group string, _ []byte) { groups = append(groups, group) })
	var rows []sql.Row
	for _, group := range groups {
		offsets, _ := p.store.CommittedOffsets(group)
		from := len(rows)
		for tp, o := range offsets {
			topic, ok := snap.Topics().ByID(tp.Topic)
			if !ok {
				continue
			}
			b, err := snap.Bounds(tp)
			if err != nil {
				continue // the partition is newer than the snapshot
			}
			rows = append(rows, sql.Row{
				group, topic.Name, tp.Partition, o.Offset, b.End, max(0, b.End-max(o.Offset, b.LogStart)),
				wallOf(zone, o.CommitTime), valid(o.Metadata),
			})
		}
		slices.SortFunc(rows[from:], func(a, b sql.Row) int {
			return cmp.Or(strings.Compare(a[1].(string), b[1].(string)), cmp.Compare(a[2].(int32), b[2].(int32)))
		})
	}
	return rows, nil
}
