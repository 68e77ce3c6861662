package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Group is the group commands.
type Group struct {
	List     GroupList     `cmd:"" help:"List the consumer groups."`
	Describe GroupDescribe `cmd:"" help:"Show a group's members, offsets and lag."`
	Reset    GroupReset    `cmd:"" name:"reset-offsets" help:"Move a group without members to other offsets."`
	Delete   GroupDelete   `cmd:"" help:"Delete groups with their offsets."`
}

// GroupList is `millrace group list`.
type GroupList struct {
	Format string `short:"f" help:"Output format: ${enum}." enum:"table,csv,tsv,json,ndjson,markdown" default:"table" placeholder:"FORMAT"`
	Kafka
}

func (*GroupList) Help() string {
	return `Example:
  millrace group list`
}

func (c *GroupList) Run(ctx context.Context, s *IO) error {
	cl, err := c.Client(ctx, s)
	if err != nil {
		return err
	}
	defer cl.Close()
	resp, err := kmsg.NewPtrListGroupsRequest().RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return err
	}
	slices.SortFunc(resp.Groups, func(a, b kmsg.ListGroupsResponseGroup) int { return cmp.Compare(a.Group, b.Group) })
	var rows [][]string
	for _, g := range resp.Groups {
		rows = append(rows, []string{g.Group, g.GroupState, g.ProtocolType})
	}
	if len(rows) == 0 {
		c.hintWhenClosed(ctx, cl, s)
	}
	return printRows(s, c.Format, []Column{{"group", TextColumn}, {"state", TextColumn}, {"protocol", TextColumn}}, rows)
}

// GroupDescribe is `millrace group describe`.
type GroupDescribe struct {
	Name   string `arg:"" help:"Name of the group."`
	Format string `short:"f" help:"Output format: ${enum}." enum:"table,csv,tsv,json,ndjson,markdown" default:"table" placeholder:"FORMAT"`
	Kafka
}

func (*GroupDescribe) Help() string {
	return `Example:
  millrace group describe billing`
}

func (c *GroupDescribe) Run(ctx context.Context, s *IO) error {
	cl, err := c.Client(ctx, s)
	if err != nil {
		return err
	}
	defer cl.Close()
	switch kind, err := groupType(ctx, cl, c.Name); {
	case err != nil:
		return err
	case strings.EqualFold(kind, "share"):
		return c.describeShare(ctx, cl, s)
	case strings.EqualFold(kind, "consumer"):
		return c.describeConsumer(ctx, cl, s)
	}
	g, err := describeGroup(ctx, cl, c.Name)
	if err != nil {
		return err
	}
	committed, err := committedOffsets(ctx, cl, c.Name)
	if err != nil {
		return err
	}
	owners := partitionOwners{}
	for _, m := range g.Members {
		var a kmsg.ConsumerMemberAssignment
		if g.ProtocolType != "consumer" || a.ReadFrom(m.MemberAssignment) != nil {
			continue // other protocols' assignments are their own business
		}
		for _, t := range a.Topics {
			for _, p := range t.Partitions {
				owners[topicPartition{t.Topic, p}] = m.MemberID
			}
		}
	}
	protocol := ""
	if g.Protocol != "" {
		protocol = ", protocol " + g.Protocol
	}
	about := fmt.Sprintf("Group %s: %s, %s%s", g.Group, g.State, plural(int64(len(g.Members)), "member"), protocol)
	return c.printLag(ctx, cl, s, about, owners, committed)
}

type topicPartition struct {
	topic     string
	partition int32
}

// partitionOwners are the members that partitions are assigned to.
type partitionOwners map[topicPartition]string

// printLag prints what a group has committed and who reads it.
func (c *GroupDescribe) printLag(ctx context.Context, cl *kgo.Client, s *IO, about string, owners partitionOwners, committed partitionOffsets) error {
	topics := map[string][]int32{}
	note := func(topic string, p int32) {
		if !slices.Contains(topics[topic], p) {
			topics[topic] = append(topics[topic], p)
		}
	}
	for tp := range owners {
		note(tp.topic, tp.partition)
	}
	for t, ps := range committed {
		for p := range ps {
			note(t, p)
		}
	}
	ends, err := listOffsets(ctx, cl, topics, latestOffset)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, t := range slices.Sorted(maps.Keys(topics)) {
		slices.Sort(topics[t])
		for _, p := range topics[t] {
			end := ends[t][p]
			offset, lag := "", ""
			if o, ok := committed[t][p]; ok {
				offset, lag = i64(o), i64(max(end-o, 0))
			}
			rows = append(rows, []string{t, strconv.Itoa(int(p)), offset, i64(end), lag, owners[topicPartition{t, p}]})
		}
	}
	if c.Format == FormatTable {
		fmt.Fprintln(s.Out, about)
		if len(rows) == 0 {
			return nil
		}
	}
	return printRows(s, c.Format, []Column{
		{"topic", TextColumn},
		{"partition", NumberColumn},
		{"committed", NumberColumn},
		{"end", NumberColumn},
		{"lag", NumberColumn},
		{"member", TextColumn},
	}, rows)
}

func describeGroup(ctx context.Context, cl *kgo.Client, name string) (*kmsg.DescribeGroupsResponseGroup, error) {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{name}
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return nil, err
	}
	if len(resp.Groups) != 1 {
		return nil, fmt.Errorf("group %s: %d answers", name, len(resp.Groups))
	}
	g := &resp.Groups[0]
	if err := kafkaError(g.ErrorCode, g.ErrorMessage); err != nil {
		return nil, fmt.Errorf("group %s: %w", name, err)
	}
	return g, nil
}

// GroupReset is `millrace group reset-offsets`.
type GroupReset struct {
	Name   string   `arg:"" help:"Name of the group; it is created if need be."`
	Topics []string `name:"topic" short:"t" help:"Topic to reset; may be given several times. Without it, all that the group has offsets in." placeholder:"TOPIC"`
	To     Position `help:"Where to: earliest, latest, an offset, -N before the end, a time (2026-01-31T12:00:00Z) or an age (2h)." required:"" placeholder:"POSITION"`
	DryRun bool     `short:"n" help:"Show what would be done and do nothing."`
	Format string   `short:"f" help:"Output format: ${enum}." enum:"table,csv,tsv,json,ndjson,markdown" default:"table" placeholder:"FORMAT"`
	Kafka
}

func (*GroupReset) Help() string {
	return `Example:
  millrace group reset-offsets billing --topic orders --to 2h --dry-run`
}

func (c *GroupReset) Run(ctx context.Context, s *IO) error {
	cl, err := c.Client(ctx, s)
	if err != nil {
		return err
	}
	defer cl.Close()
	// A server that does not know the group says so or calls it dead; both are fine here.
	if g, err := describeGroup(ctx, cl, c.Name); err == nil && len(g.Members) > 0 {
		return fmt.Errorf("group %s has %d members: stop them first", c.Name, len(g.Members))
	}
	before, err := committedOffsets(ctx, cl, c.Name)
	if err != nil {
		return err
	}
	topics := c.Topics
	if len(topics) == 0 {
		if topics = slices.Sorted(maps.Keys(before)); len(topics) == 0 {
			return fmt.Errorf("group %s has no offsets: name the topics with --topic", c.Name)
		}
	}
	partitions, err := topicPartitions(ctx, cl, topics)
	if err != nil {
		return err
	}
	place, err := c.To.in(ctx, cl, partitions, time.Now())
	if err != nil {
		return err
	}
	to := place.offsets
	for _, n := range place.notes {
		fmt.Fprintln(s.Err, n)
	}
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = c.Name, -1
	names, err := topicNames(ctx, cl)
	if err != nil {
		return err
	}
	ids := map[string][16]byte{}
	for id, name := range names {
		ids[name] = id
	}
	var rows [][]string
	for _, t := range slices.Sorted(maps.Keys(to)) {
		rt := kmsg.NewOffsetCommitRequestTopic()
		rt.Topic, rt.TopicID = t, ids[t]
		for _, p := range slices.Sorted(maps.Keys(to[t])) {
			rp := kmsg.NewOffsetCommitRequestTopicPartition()
			rp.Partition, rp.Offset = p, to[t][p]
			rt.Partitions = append(rt.Partitions, rp)
			old := ""
			if o, ok := before[t][p]; ok {
				old = i64(o)
			}
			rows = append(rows, []string{t, strconv.Itoa(int(p)), old, i64(rp.Offset)})
		}
		req.Topics = append(req.Topics, rt)
	}
	if !c.DryRun {
		resp, err := req.RequestWith(ctx, cl)
		if err != nil {
			return err
		}
		var errs []error
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
					errs = append(errs, fmt.Errorf("topic %s partition %d: %w", t.Topic, p.Partition, err))
				}
			}
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return printRows(s, c.Format, []Column{
		{"topic", TextColumn},
		{"partition", NumberColumn},
		{"before", NumberColumn},
		{"after", NumberColumn},
	}, rows)
}

// GroupDelete is `millrace group delete`.
type GroupDelete struct {
	Names []string `arg:"" help:"Names of the groups."`
	Kafka
}

func (*GroupDelete) Help() string {
	return `Example:
  millrace group delete billing`
}

func (c *GroupDelete) Run(ctx context.Context, s *IO) error {
	cl, err := c.Client(ctx, s)
	if err != nil {
		return err
	}
	defer cl.Close()
	req := kmsg.NewPtrDeleteGroupsRequest()
	req.Groups = c.Names
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	var errs []error
	for _, g := range resp.Groups {
		if err := kerr.ErrorForCode(g.ErrorCode); err != nil {
			errs = append(errs, fmt.Errorf("group %s: %w", g.Group, err))
		}
	}
	return errors.Join(errs...)
}
