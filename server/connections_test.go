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

func TestConnectionsOfBothWiresAreRows(t *testing.T) {
	s := testkit.Server(t)
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.KafkaAddr()), kgo.SoftwareNameAndVersion("counter", "7"))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := cl.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", "app@tcp("+s.MySQLAddr()+")/kafka")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT * FROM millrace.connections ORDER BY protocol")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []string
	for rows.Next() {
		var id int64
		var protocol, user, client string
		var software, since sql.NullString
		if err := rows.Scan(&id, &protocol, &user, &client, &software, &since); err != nil {
			t.Fatal(err)
		}
		if id < 1 || !strings.HasPrefix(client, "127.0.0.1:") || !since.Valid {
			t.Errorf("%d %s %v", id, client, since)
		}
		got = append(got, protocol+" "+user+" "+software.String)
	}
	if rows.Err() != nil || len(got) != 2 || got[0] != "kafka ANONYMOUS counter 7" || got[1] != "mysql app " {
		t.Fatal(got, rows.Err())
	}
}
