package server_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"millrace/internal/testkit"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Groups with their members, quotas, users and ACLs are rows.
func TestTheServersStateIsRows(t *testing.T) {
	s := testkit.Server(t)
	createTopic(t, s, "orders")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.KafkaAddr()), kgo.ClientID("reader"), kgo.ConsumerGroup("g"), kgo.ConsumeTopics("orders"), kgo.DisableAutoCommit(),
		kgo.InstanceID("i1"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: []byte(`{"a":1}`)}, &kgo.Record{Topic: "orders", Value: []byte(`{"a":2}`)}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	fetched := cl.PollFetches(ctx)
	if err := fetched.Err0(); err != nil {
		t.Fatal(err)
	}
	if err := cl.CommitRecords(ctx, fetched.Records()[0]); err != nil {
		t.Fatal(err)
	}
	alter := kmsg.NewPtrAlterClientQuotasRequest()
	entry, value := kmsg.NewAlterClientQuotasRequestEntry(), kmsg.NewAlterClientQuotasRequestEntryOp()
	part := kmsg.NewAlterClientQuotasRequestEntryEntity()
	part.Type, part.Name = "user", nil
	value.Key, value.Value = "producer_byte_rate", 1e9
	entry.Entity, entry.Ops = append(entry.Entity, part), append(entry.Ops, value)
	alter.Entries = append(alter.Entries, entry)
	answer, err := alter.RequestWith(ctx, cl)
	if err != nil || answer.Entries[0].ErrorCode != 0 {
		t.Fatal(answer, err)
	}
	if _, err := openSQL(t, s, "root", "").ExecContext(ctx, "CALL millrace.reset_offsets('g', 'orders', 'earliest')"); err == nil || !strings.Contains(err.Error(), "the group has members") {
		t.Error(err)
	}
	ask := func(query string) string {
		t.Helper()
		r, err := openSQL(t, s, "root", "").QueryContext(ctx, query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		defer r.Close()
		var rows []string
		for r.Next() {
			var row string
			if err := r.Scan(&row); err != nil {
				t.Fatal(err)
			}
			rows = append(rows, row)
		}
		if err := r.Err(); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		return strings.Join(rows, " / ")
	}
	for query, want := range map[string]string{
		"SELECT CONCAT_WS(',', group_id, state, protocol_type, members, assignor) FROM millrace.consumer_groups":                           "g,Stable,consumer,1,cooperative-sticky",
		"SELECT CONCAT_WS(',', group_id, instance_id, client_id, subscription, assignment, partitions) FROM millrace.group_members":        `g,i1,reader,["orders"],{"orders": [0]},1`,
		"SELECT CONCAT_WS(',', group_id, topic, `partition`, committed_offset, end_offset, `lag`) FROM millrace.consumer_lag":              "g,orders,0,1,2,1",
		"SELECT CONCAT_WS(',', user, client_id IS NULL, ip IS NULL, name, value) FROM millrace.quotas":                                     "<default>,1,1,producer_byte_rate,1000000000",
		"SELECT CONCAT_WS(',', topic, `partition`, last_sequence, transaction_start IS NULL) FROM millrace.producers WHERE topic='orders'": "orders,0,1,1",
		"SELECT COUNT(*) FROM millrace.users":                                    "0",
		"SELECT COUNT(*) FROM millrace.group_offsets":                            "1",
		"SELECT protocol FROM millrace.connections GROUP BY protocol ORDER BY 1": "kafka / mysql",
		"SELECT command FROM millrace.queries":                                   "Query",
	} {
		if got := ask(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}
