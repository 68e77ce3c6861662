package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Topic is the topic commands.
type Topic struct {
	Create   TopicCreate   `cmd:"" help:"Create a topic."`
	List     TopicList     `cmd:"" help:"List the topics."`
	Describe TopicDescribe `cmd:"" help:"Show a topic's partitions and configs."`
	Alter    TopicAlter    `cmd:"" help:"Change a topic's configs or add partitions."`
	Delete   TopicDelete   `cmd:"" help:"Delete topics with all their records."`
}

// TopicCreate is `millrace topic create`.
type TopicCreate struct {
	Name        string            `arg:"" help:"Name of the topic: a-z A-Z 0-9 . _ - and at most 249 of them."`
	Partitions  int32             `short:"p" help:"Number of partitions; -1 for the server's default." default:"-1" placeholder:"N"`
	Set         map[string]string `short:"s" help:"Topic config; may be given several times." mapsep:"none" placeholder:"NAME=VALUE"`
	IfNotExists bool              `help:"Be content if the topic exists."`
	Kafka
}

func (*TopicCreate) Help() string {
	return `Example:
  millrace topic create orders --partitions 6 --set retention.ms=86400000`
}

func (c *TopicCreate) Run(ctx context.Context, s *IO) error {
	cl, err := c.Client(ctx, s)
	if err != nil {
		return err
	}
	defer cl.Close()
	n, err := createTopic(ctx, cl, c.Name, c.Partitions, c.Set)
	if c.IfNotExists && errors.Is(err, kerr.TopicAlreadyExists) {
		_, err := fmt.Fprintf(s.Out, "topic %s exists already\n", c.Name)
		return err
	}
	if err != nil {
		return err
	}
	with := ""
	if n > 0 { // old brokers do not tell
		with = " with " + plural(int64(n), "partition")
	}
	_, err = fmt.Fprintf(s.Out, "topic %s created%s\n", c.Name, with)
	return err
}

// TopicList is `millrace topic list`.
type TopicList struct {
	Format string `short:"f" help:"Output format: ${enum}." enum:"table,csv,tsv,json,ndjson,markdown" default:"table" placeholder:"FORMAT"`
	Kafka
}

func (*TopicList) Help() string {
	return `Example:
  millrace topic list --format json`
}

func (c *TopicList) Run(ctx context.Context, s *IO) error {
	cl, err := c.Client(ctx, s)
	if err != nil {
		return err
	}
	defer cl.Close()
	topics, err := topicPartitions(ctx, cl, nil)
	if err != nil {
		return err
	}
	starts, err := listOffsets(ctx, cl, topics, earliestOffset)
	if err != nil {
		return err
	}
	ends, err := listOffsets(ctx, cl, topics, latestOffset)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, t := range slices.Sorted(maps.Keys(topics)) {
		n := int64(0)
		for _, p := range topics[t] {
			n += ends[t][p] - starts[t][p]
		}
		rows = append(rows, []string{t, strconv.Itoa(len(topics[t])), strconv.FormatInt(n, 10)})
	}
	if len(rows) == 0 {
		c.hintWhenClosed(ctx, cl, s)
	}
	return printRows(s, c.Format, []Column{{"topic", TextColumn}, {"partitions", NumberColumn}, {"offsets", NumberColumn}}, rows)
}

// TopicDescribe is `millrace topic describe`.
type TopicDescribe struct {
	Name   string `arg:"" help:"Name of the topic."`
	All    bool   `short:"a" help:"Show configs that stand at their defaults, too."`
	Format string `short:"f" help:"Output format: ${enum}." enum:"table,csv,tsv,json,ndjson,markdown" default:"table" placeholder:"FORMAT"`
	Kafka
}

func (*TopicDescribe) Help() string {
	return `Example:
  millrace topic describe orders --all`
}

func (c *TopicDescribe) Run(ctx context.Context, s *IO) error {
	cl, err := c.Client(ctx, s)
	if err != nil {
		return err
	}
	defer cl.Close()
	topics, err := topicPartitions(ctx, cl, []string{c.Name})
	if err != nil {
		return err
	}
	starts, err := listOffsets(ctx, cl, topics, earliestOffset)
	if err != nil {
		return err
	}
	ends, err := listOffsets(ctx, cl, topics, latestOffset)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, p := range topics[c.Name] {
		start, end := starts[c.Name][p], ends[c.Name][p]
		rows = append(rows, []string{strconv.Itoa(int(p)), i64(start), i64(end), i64(end - start)})
	}
	err = printRows(s, c.Format, []Column{{"partition", NumberColumn}, {"start", NumberColumn}, {"end", NumberColumn}, {"offsets", NumberColumn}}, rows)
	if err != nil {
		return err
	}
	configs, err := topicConfigs(ctx, cl, c.Name)
	if err != nil {
		return err
	}
	rows = nil
	for _, tc := range configs {
		if c.All || tc.set {
			rows = append(rows, []string{tc.name, tc.value, map[bool]string{true: "topic", false: "default"}[tc.set]})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintln(s.Out)
	return printRows(s, c.Format, []Column{{"config", TextColumn}, {"value", TextColumn}, {"from", TextColumn}}, rows)
}

func i64(n int64) string { return strconv.FormatInt(n, 10) }

// TopicAlter is `millrace topic alter`.
type TopicAlter struct {
	Name       string            `arg:"" help:"Name of the topic."`
	Set        map[string]string `short:"s" help:"Set a config; may be given several times." mapsep:"none" placeholder:"NAME=VALUE"`
	Unset      []string          `short:"u" help:"Return a config to its default." placeholder:"NAME"`
	Partitions int32             `short:"p" help:"Raise the number of partitions to N. Keys then hash to other partitions than before." placeholder:"N"`
	Kafka
}

func (*TopicAlter) Help() string {
	return `Example:
  millrace topic alter orders --set cleanup.policy=compact --unset retention.ms --partitions 12`
}

func (c *TopicAlter) Run(ctx context.Context, s *IO) error {
	if len(c.Set)+len(c.Unset) == 0 && c.Partitions == 0 {
		return errors.New("nothing to change: give --set, --unset or --partitions")
	}
	cl, err := c.Client(ctx, s)
	if err != nil {
		return err
	}
	defer cl.Close()
	if len(c.Set)+len(c.Unset) > 0 {
		if err := setConfigs(ctx, cl, c.Name, c.Set, c.Unset); err != nil {
			return err
		}
	}
	if c.Partitions != 0 {
		if err := addPartitions(ctx, cl, c.Name, c.Partitions); err != nil {
			return err
		}
	}
	var done []string
	for _, k := range slices.Sorted(maps.Keys(c.Set)) {
		done = append(done, k+"="+c.Set[k])
	}
	for _, k := range c.Unset {
		done = append(done, k+" unset")
	}
	if c.Partitions != 0 {
		done = append(done, plural(int64(c.Partitions), "partition"))
	}
	_, err = fmt.Fprintf(s.Out, "topic %s altered: %s\n", c.Name, strings.Join(done, ", "))
	return err
}

// addPartitions raises a topic's number of partitions to n.
func addPartitions(ctx context.Context, cl *kgo.Client, name string, n int32) error {
	req := kmsg.NewPtrCreatePartitionsRequest()
	t := kmsg.NewCreatePartitionsRequestTopic()
	t.Topic, t.Count = name, n
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	for _, t := range resp.Topics {
		if err := kafkaError(t.ErrorCode, t.ErrorMessage); err != nil {
			return fmt.Errorf("topic %s: %w", t.Topic, err)
		}
	}
	return nil
}

// TopicDelete is `millrace topic delete`.
type TopicDelete struct {
	Names []string `arg:"" help:"Names of the topics."`
	Kafka
}

func (*TopicDelete) Help() string {
	return `Example:
  millrace topic delete orders pageviews`
}

func (c *TopicDelete) Run(ctx context.Context, s *IO) error {
	cl, err := c.Client(ctx, s)
	if err != nil {
		return err
	}
	defer cl.Close()
	req := kmsg.NewPtrDeleteTopicsRequest()
	for _, name := range c.Names {
		t := kmsg.NewDeleteTopicsRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, t)
		req.TopicNames = append(req.TopicNames, name)
	}
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	var errs []error
	for i, t := range resp.Topics {
		name := c.Names[min(i, len(c.Names)-1)]
		if t.Topic != nil {
			name = *t.Topic
		}
		if err := kafkaError(t.ErrorCode, t.ErrorMessage); err != nil {
			errs = append(errs, fmt.Errorf("topic %s: %w", name, err))
			continue
		}
		if _, err := fmt.Fprintf(s.Out, "topic %s deleted\n", name); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
