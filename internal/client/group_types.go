package client

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// groupType is classic, consumer or share; "" of groups that do not exist, and from brokers
// that know one kind only.
func groupType(ctx context.Context, cl *kgo.Client, name string) (string, error) {
	resp, err := kmsg.NewPtrListGroupsRequest().RequestWith(ctx, cl)
	if err != nil {
		return "", err
	}
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return "", err
	}
	for _, g := range resp.Groups {
		if g.Group == name {
			return g.GroupType, nil
		}
	}
	return "", nil
}

// describeConsumer describes a group of the new consumer protocol.
func (c *GroupDescribe) describeConsumer(ctx context.Context, cl *kgo.Client, s *IO) error {
	req := kmsg.NewPtrConsumerGroupDescribeRequest()
	req.Groups = []string{c.Name}
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	if len(resp.Groups) != 1 {
		return fmt.Errorf("group %s: %d answers", c.Name, len(resp.Groups))
	}
	g := resp.Groups[0]
	if err := kafkaError(g.ErrorCode, g.ErrorMessage); err != nil {
		return fmt.Errorf("group %s: %w", c.Name, err)
	}
	committed, err := committedOffsets(ctx, cl, c.Name)
	if err != nil {
		return err
	}
	owners := partitionOwners{}
	for _, m := range g.Members {
		for _, t := range m.Assignment.TopicPartitions {
			for _, p := range t.Partitions {
				owners[topicPartition{t.Topic, p}] = m.MemberID
			}
		}
	}
	assignor := ""
	if g.AssignorName != "" {
		assignor = ", assignor " + g.AssignorName
	}
	about := fmt.Sprintf("Group %s: %s, %s%s, of the new consumer protocol", c.Name, g.State, plural(int64(len(g.Members)), "member"), assignor)
	return c.printLag(ctx, cl, s, about, owners, committed)
}

// describeShare describes a share group: it has no committed offsets but share partitions, each with the
// offset below which everything is done, and members may have partitions in common.
func (c *GroupDescribe) describeShare(ctx context.Context, cl *kgo.Client, s *IO) error {
	req := kmsg.NewPtrShareGroupDescribeRequest()
	req.GroupIDs = []string{c.Name}
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	oreq := kmsg.NewPtrDescribeShareGroupOffsetsRequest()
	asked := kmsg.NewDescribeShareGroupOffsetsRequestGroup()
	asked.GroupID, asked.Topics = c.Name, nil // all
	oreq.Groups = append(oreq.Groups, asked)
	offsets, err := oreq.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	if len(resp.Groups) != 1 || len(offsets.Groups) != 1 {
		return fmt.Errorf("group %s: %d and %d answers", c.Name, len(resp.Groups), len(offsets.Groups))
	}
	g, o := resp.Groups[0], offsets.Groups[0]
	if err := cmp.Or(kafkaError(g.ErrorCode, g.ErrorMessage), kafkaError(o.ErrorCode, o.ErrorMessage)); err != nil {
		return fmt.Errorf("group %s: %w", c.Name, err)
	}
	members := map[topicPartition][]string{}
	starts, lags := map[topicPartition]int64{}, map[topicPartition]int64{}
	for _, m := range g.Members {
		for _, t := range m.Assignment.TopicPartitions {
			for _, p := range t.Partitions {
				tp := topicPartition{t.Topic, p}
				members[tp] = append(members[tp], m.MemberID)
				starts[tp], lags[tp] = -1, -1
			}
		}
	}
	for _, t := range o.Topics {
		for _, p := range t.Partitions {
			if err := kafkaError(p.ErrorCode, p.ErrorMessage); err != nil {
				return fmt.Errorf("group %s, topic %s partition %d: %w", c.Name, t.Topic, p.Partition, err)
			}
			tp := topicPartition{t.Topic, p.Partition}
			starts[tp], lags[tp] = p.StartOffset, p.Lag
		}
	}
	all := make([]topicPartition, 0, len(starts))
	for tp := range starts {
		all = append(all, tp)
	}
	slices.SortFunc(all, func(a, b topicPartition) int {
		return cmp.Or(cmp.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition))
	})
	known := func(n int64) string {
		if n < 0 {
			return ""
		}
		return i64(n)
	}
	var rows [][]string
	for _, tp := range all {
		slices.Sort(members[tp])
		rows = append(rows, []string{tp.topic, strconv.Itoa(int(tp.partition)), known(starts[tp]), known(lags[tp]), strings.Join(members[tp], " ")})
	}
	if c.Format == FormatTable {
		fmt.Fprintf(s.Out, "Share group %s: %s, %s\n", c.Name, g.GroupState, plural(int64(len(g.Members)), "member"))
		if len(rows) == 0 {
			return nil
		}
	}
	return printRows(s, c.Format, []Column{
		{"topic", TextColumn},
		{"partition", NumberColumn},
		{"start", NumberColumn},
		{"lag", NumberColumn},
		{"members", TextColumn},
	}, rows)
}
