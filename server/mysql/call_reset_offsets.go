package mysql

import (
	"fmt"
	"strconv"
	"strings"

	"millrace/catalog/sqltable"
	"millrace/server/auth"
	"millrace/server/mysql/rowrecord"
	"millrace/server/mysql/sqlerr"
	"millrace/store"
	"millrace/store/state"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// resetOffsets carries out CALL millrace.reset_offsets('group', 'topic', where[, partition]): where is 'earliest', 'latest',
// an offset, or a time, from whose first record on the group will read. The group must have no members, as for
// kafka-consumer-groups. The rows are the offsets that were committed, with a note where that is not what was asked for.
func (c *conn) resetOffsets(ctx *sql.Context, params []sqlparser.Expr, bindings map[string]sql.Expression) (*answer, error) {
	if len(params) < 3 || len(params) > 4 {
		return nil, sqlerr.New(1318, "42000", "Incorrect number of arguments for PROCEDURE millrace.reset_offsets; expected 3 or 4, got %d", len(params))
	}
	bad := func(what string) (*answer, error) {
		return nil, sqlerr.New(1210, "HY000", "Incorrect arguments to millrace.reset_offsets: %s", what)
	}
	if c.s.o.CommitOffsets == nil {
		return nil, sqlerr.Unsupported("millrace.reset_offsets without a group coordinator")
	}
	group, ok1 := text(params[0], bindings)
	name, ok2 := text(params[1], bindings)
	if !ok1 || !ok2 || group == "" {
		return bad("the names of a group and a topic are needed")
	}
	if !c.sess.allowed(auth.Read, auth.Resource{Type: auth.Group, Name: group}) {
		return nil, sqlerr.New(1142, "42000", "READ denied to user '%s' for group '%s'", c.sess.Client().User, sqlerr.Clip(group))
	}
	if !mayRead(ctx, sqltable.KafkaDatabase, name) {
		return nil, errDenied(c.sess, "SELECT", name)
	}
	topic, ok := c.s.o.Store.Topics().ByName(name)
	if !ok || strings.HasPrefix(name, "__") {
		return nil, sqlerr.NoTable(sqltable.KafkaDatabase, name)
	}
	only := int64(-1)
	if len(params) == 4 {
		if only, ok = integer(params[3], bindings); !ok || only < 0 || only >= int64(topic.Partitions) {
			return bad("there is no such partition")
		}
	}
	where, isText := text(params[2], bindings)
	offset, isNumber := integer(params[2], bindings)
	if isText {
		if n, err := strconv.ParseInt(where, 10, 64); err == nil {
			offset, isNumber = n, true
		}
	}
	if !isText && !isNumber {
		return bad("'earliest', 'latest', an offset or a time is needed")
	}
	at := int64(0)
	if !isNumber && !strings.EqualFold(where, "earliest") && !strings.EqualFold(where, "latest") {
		var err error
		if at, err = rowrecord.InstantMillis(ctx, where); err != nil {
			return nil, err
		}
	}
	var commits []state.OffsetCommit
	var out []sql.Row
	for p := range topic.Partitions {
		if only >= 0 && int64(p) != only {
			continue
		}
		tp := state.TopicPartition{Topic: topic.ID, Partition: p}
		b, err := c.s.o.Store.Bounds(tp)
		if err != nil {
			return nil, err
		}
		to, note := b.End, any(nil)
		switch {
		case isNumber && offset < b.LogStart: // as Kafka's tool does
			to, note = b.LogStart, fmt.Sprintf("offset %d is before the first one", offset)
		case isNumber && offset > b.End:
			note = fmt.Sprintf("offset %d is beyond the end", offset)
		case isNumber:
			to = offset
		case strings.EqualFold(where, "earliest"):
			to = b.LogStart
		case strings.EqualFold(where, "latest"):
		default:
			first, _, found, err := c.s.o.Store.OffsetForTime(tp, at, store.ReadUncommitted)
			if err != nil {
				return nil, err
			}
			if found {
				to = first
			} else {
				note = "no record of that time or a later one: the end"
			}
		}
		commits = append(commits, state.OffsetCommit{TopicPartition: tp, Offset: to, LeaderEpoch: -1, ExpireAt: -1})
		out = append(out, sql.Row{group, name, p, to, note})
	}
	if err := c.s.o.CommitOffsets(ctx, group, commits); err != nil {
		return bad(err.Error())
	}
	note := textColumn("note")
	note.Nullable = true
	return rows(sql.Schema{textColumn("group_id"), textColumn("topic"), {Name: "partition", Type: types.Int32}, {Name: "offset", Type: types.Int64}, note}, out), nil
}
