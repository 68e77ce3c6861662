// Command franz has the commands of clients/_kit.py with franz-go.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	if err := run(ctx, os.Args[1], os.Args[2], os.Args[3], os.Args[4:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, command, bootstrap, topic string, args []string) error {
	opts := []kgo.Opt{kgo.SeedBrokers(bootstrap)}
	if command == "consume" {
		opts = append(opts, kgo.ConsumerGroup(args[0]), kgo.ConsumeTopics(topic),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
			kgo.OnPartitionsAssigned(func(_ context.Context, cl *kgo.Client, added map[string][]int32) {
				fmt.Println("ASSIGNED", strings.Trim(strings.ReplaceAll(fmt.Sprint(added[topic]), " ", ","), "[]"))
			}))
	}
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		return err
	}
	defer cl.Close()
	switch command {
	case "create":
		n, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		r, err := kadm.NewClient(cl).CreateTopic(ctx, int32(n), -1, nil, topic)
		if err != nil {
			return err
		}
		return r.Err
	case "produce":
		first, _ := strconv.Atoi(args[0])
		count, _ := strconv.Atoi(args[1])
		var rs []*kgo.Record
		for i := first; i < first+count; i++ {
			rs = append(rs, &kgo.Record{Topic: topic, Key: fmt.Appendf(nil, "k%d", i%10), Value: fmt.Appendf(nil, `{"n":%d}`, i)})
		}
		return cl.ProduceSync(ctx, rs...).FirstErr()
	case "consume":
		for {
			fs := cl.PollFetches(ctx)
			if ctx.Err() != nil {
				return cl.CommitUncommittedOffsets(context.Background())
			}
			fs.EachRecord(func(r *kgo.Record) { fmt.Println("RECORD", r.Partition, r.Offset, string(r.Value)) })
		}
	}
	return fmt.Errorf("unknown command %q", command)
}
