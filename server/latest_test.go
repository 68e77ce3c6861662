package server_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"millrace/internal/testkit"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Kafka Streams' table of one key: 3, then 2, then a tombstone. The topic keeps what was produced; its latest rows
// are what a table would have, compacted or not.
func TestTheLatestRowFollowsAKeyUntilItsTombstone(t *testing.T) {
	s := testkit.Server(t)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.KafkaAddr()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	db, err := sql.Open("mysql", "app@tcp("+s.MySQLAddr()+")/kafka")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, topic := range []string{"ages", "ages-compacted"} {
		create := kmsg.NewPtrCreateTopicsRequest()
		rt := kmsg.NewCreateTopicsRequestTopic()
		rt.Topic, rt.NumPartitions, rt.ReplicationFactor = topic, 3, 1
		if topic != "ages" {
			rt.Configs = []kmsg.CreateTopicsRequestTopicConfig{{Name: "cleanup.policy", Value: kmsg.StringPtr("compact")}}
		}
		create.Topics = append(create.Topics, rt)
		if resp, err := create.RequestWith(ctx, cl); err != nil || resp.Topics[0].ErrorCode != 0 {
			t.Fatal(resp, err)
		}
		latest, err := db.PrepareContext(ctx, "SELECT _value FROM `"+topic+"$latest` WHERE _key = ?")
		if err != nil {
			t.Fatal(err)
		}
		defer latest.Close()
		compact := func() {
			if topic == "ages" {
				return
			}
			if _, err := db.ExecContext(ctx, "CALL millrace.compact('"+topic+"')"); err != nil {
				t.Fatal(err)
			}
		}
		want := func(want string, rows int) {
			t.Helper()
			var got string
			err := latest.QueryRowContext(ctx, "tommy").Scan(&got)
			if errors.Is(err, sql.ErrNoRows) {
				err = nil
			}
			var n int
			if e := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM `"+topic+"$latest`").Scan(&n); err != nil || e != nil || got != want || n != rows {
				t.Errorf("%s: %q, %d rows, want %q and %d; %v, %v", topic, got, n, want, rows, err, e)
			}
		}
		produce := func(key string, value []byte) {
			if err := cl.ProduceSync(ctx, &kgo.Record{Topic: topic, Key: []byte(key), Value: value}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		want("", 0)
		produce("ann", []byte("7"))
		produce("tommy", []byte("3"))
		want("3", 2)
		produce("tommy", []byte("2"))
		want("2", 2)
		compact()
		want("2", 2)
		var all int
		if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM `"+topic+"$latest` WHERE _value = '3'").Scan(&all); err != nil || all != 0 {
			t.Error("the older row came back", all, err)
		}
		produce("tommy", nil)
		want("", 1)
		compact()
		want("", 1)
	}
}
