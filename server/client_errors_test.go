package server_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"millrace/internal/testkit"

	_ "github.com/go-sql-driver/mysql"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestWhatAKafkaClientWasRefusedIsARow(t *testing.T) {
	s := testkit.Server(t)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.KafkaAddr()), kgo.ClientID("billing"), kgo.SoftwareNameAndVersion("counter", "7"),
		kgo.AllowAutoTopicCreation(), kgo.ProducerBatchMaxBytes(8<<20), kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: make([]byte, 4<<20)}).FirstErr(); err == nil {
		t.Fatal("want it refused")
	}
	db, err := sql.Open("mysql", "app@tcp("+s.MySQLAddr()+")/kafka")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var count, code int64
	var client, software, api, topic, hint string
	var group sql.NullString
	row := db.QueryRowContext(ctx, "SELECT count, client_id, software, api, topic, group_id, code, hint FROM millrace.client_errors WHERE error = 'MESSAGE_TOO_LARGE'")
	if err := row.Scan(&count, &client, &software, &api, &topic, &group, &code, &hint); err != nil {
		t.Fatal(err)
	}
	if count < 1 || client != "billing" || software != "counter" || api != "Produce" || topic != "orders" || group.Valid || code != 10 || !strings.Contains(hint, "max.message.bytes") {
		t.Error(count, client, software, api, topic, group, code, hint)
	}
}
