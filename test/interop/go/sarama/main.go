// Command sarama has the commands of clients/_kit.py with IBM/sarama.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/IBM/sarama"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	if err := run(ctx, os.Args[1], []string{os.Args[2]}, os.Args[3], os.Args[4:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, command string, brokers []string, topic string, args []string) error {
	cfg := sarama.NewConfig()
	cfg.Producer.Return.Successes = true // the sync producer asks for it
	cfg.Consumer.Offsets.Initial = sarama.OffsetOldest
	if codec := os.Getenv("COMPRESSION"); codec != "" {
		if err := cfg.Producer.Compression.UnmarshalText([]byte(codec)); err != nil {
			return err
		}
	}
	if version := os.Getenv("KAFKA_VERSION"); version != "" {
		v, err := sarama.ParseKafkaVersion(version)
		if err != nil {
			return err
		}
		cfg.Version = v
	}
	switch command {
	case "create":
		n, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		admin, err := sarama.NewClusterAdmin(brokers, cfg)
		if err != nil {
			return err
		}
		defer admin.Close()
		return admin.CreateTopic(topic, &sarama.TopicDetail{NumPartitions: int32(n), ReplicationFactor: 1}, false)
	case "produce":
		first, _ := strconv.Atoi(args[0])
		count, _ := strconv.Atoi(args[1])
		p, err := sarama.NewSyncProducer(brokers, cfg)
		if err != nil {
			return err
		}
		defer p.Close()
		var ms []*sarama.ProducerMessage
		for i := first; i < first+count; i++ {
			ms = append(ms, &sarama.ProducerMessage{Topic: topic, Key: sarama.StringEncoder(fmt.Sprintf("k%d", i%10)), Value: sarama.StringEncoder(fmt.Sprintf(`{"n":%d}`, i))})
		}
		err = p.SendMessages(ms)
		var each sarama.ProducerErrors
		if errors.As(err, &each) {
			return each[0].Err
		}
		return err
	case "consume":
		g, err := sarama.NewConsumerGroup(brokers, args[0], cfg)
		if err != nil {
			return err
		}
		defer g.Close()
		for ctx.Err() == nil {
			if err := g.Consume(ctx, []string{topic}, handler{}); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("unknown command %q", command)
}

type handler struct{}

func (handler) Setup(s sarama.ConsumerGroupSession) error {
	for _, ps := range s.Claims() {
		fmt.Println("ASSIGNED", strings.Trim(strings.ReplaceAll(fmt.Sprint(ps), " ", ","), "[]"))
	}
	return nil
}
func (handler) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (handler) ConsumeClaim(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	for {
		select {
		case m, ok := <-c.Messages():
			if !ok {
				return nil
			}
			fmt.Println("RECORD", m.Partition, m.Offset, string(m.Value))
			s.MarkMessage(m, "")
		case <-s.Context().Done():
			return nil
		}
	}
}
