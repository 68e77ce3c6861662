package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"millrace/internal/testkit"
	"millrace/server"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestImportingIntoATopicThatExistsIsNoClientError(t *testing.T) {
	r := running{t, testkit.Server(t)}
	file := filepath.Join(t.TempDir(), "one.ndjson")
	if err := os.WriteFile(file, []byte(`{"at":"2001-02-03"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.must("", "topic", "create", "t")
	if out := r.must("", "import", file, "-t", "t"); !strings.HasPrefix(out, "1 record imported into t in ") {
		t.Fatal(out)
	}
	r.must("", "gen", "orders", "-t", "t", "-n", "1", "-r", "0")
	r.expect("n\n0\n", "", "sql", "-f", "csv", "SELECT COUNT(*) AS n FROM millrace.client_errors")
	const warning = "warning: 1 record of 1 is older than retention.ms of t (7 days; the oldest is of 2001-02-03) and will be deleted soon"
	if out := r.must("", "import", file, "-t", "t", "--timestamp", "at"); !strings.Contains(out, warning) {
		t.Fatal(out)
	}
	r.must("", "topic", "alter", "t", "--set", "retention.ms=-1")
	if out := r.must("", "import", file, "-t", "t", "--timestamp", "at"); strings.Contains(out, "warning") {
		t.Fatal(out)
	}
}

func TestProducingToNoTopicSaysHowToMakeIt(t *testing.T) {
	r := running{t, testkit.Server(t, func(o *server.Options) { o.KafkaWire.AutoCreateTopics = false })}
	out, ok := r.do("x\n", "produce", "nosuch")
	if ok || !strings.Contains(out, "auto-create is off") || !strings.Contains(out, "millrace topic create nosuch") {
		t.Fatal(ok, out)
	}
}

func TestSQLShowsTextOfSeveralLinesAsLines(t *testing.T) {
	r := running{t, testkit.Server(t)}
	r.must("", "sql", "CREATE TABLE t (a INT AS (_value->>'$.b'))")
	for _, query := range []string{`SHOW CREATE TABLE t\G`, `SHOW CREATE TABLE t`, `EXPLAIN FORMAT=JSON SELECT * FROM t WHERE a > 1\G`, `EXPLAIN FORMAT=JSON SELECT * FROM t WHERE a > 1`} {
		out := r.must("", "sql", query)
		if strings.Contains(out, `\n`) || strings.Contains(out, `\u003e`) || strings.Count(out, "\n") < 8 {
			t.Errorf("%s:\n%s", query, out)
		}
	}
	// A stored value does not get lines of its own in a table.
	r.must(`{"b":"x\ny"}`+"\n", "produce", "u")
	if out := r.must("", "sql", "SELECT b FROM u"); !strings.Contains(out, `x\ny`) {
		t.Error(out)
	}
	if out := r.must("", "sql", "-f", "tsv", "SELECT configs FROM millrace.topics WHERE name = 't'"); !strings.Contains(out, "_value->>") {
		t.Error(out)
	}
}

func TestGroupDescribeKnowsShareAndConsumerGroups(t *testing.T) {
	r := running{t, testkit.Server(t)}
	r.must("", "topic", "create", "t")
	cl, err := kgo.NewClient(kgo.SeedBrokers(r.s.KafkaAddr()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	share := kmsg.NewPtrShareGroupHeartbeatRequest()
	share.GroupID, share.MemberID, share.MemberEpoch, share.SubscribedTopicNames = "s", "AAAAAAAAAAAAAAAAAAAAAQ", 0, []string{"t"}
	if resp, err := share.RequestWith(context.Background(), cl); err != nil || resp.ErrorCode != 0 {
		t.Fatal(resp, err)
	}
	consumer := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	consumer.Group, consumer.MemberID, consumer.MemberEpoch, consumer.RebalanceTimeoutMillis = "c", "AAAAAAAAAAAAAAAAAAAAAg", 0, 60000
	consumer.SubscribedTopicNames, consumer.Topics = []string{"t"}, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	if resp, err := consumer.RequestWith(context.Background(), cl); err != nil || resp.ErrorCode != 0 {
		t.Fatal(resp, err)
	}
	for group, want := range map[string]string{
		"s": `^Share group s: Stable, 1 member\n[^t]*topic[^t]*partition[^t]*start.*lag.*members(.*\n)+.* t .*AAAAAAAAAAAAAAAAAAAAAQ`,
		"c": `^Group c: Stable, 1 member, assignor uniform, of the new consumer protocol\n(.*\n)+.* t .*AAAAAAAAAAAAAAAAAAAAAg`,
	} {
		if out := r.must("", "group", "describe", group); !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s:\n%s", group, out)
		}
	}
	r.expect("group_id,state,protocol_type,members\nc,Stable,consumer,1\ns,Stable,share,1\n", "", "sql", "-f", "csv",
		"SELECT group_id, state, protocol_type, members FROM millrace.groups ORDER BY group_id")
	r.expect("n\n0\n", "", "sql", "-f", "csv", "SELECT COUNT(*) AS n FROM millrace.client_errors")
}
