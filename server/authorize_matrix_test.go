package server_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"millrace/internal/testkit"
	"millrace/server/auth"
	"millrace/store/state"

	"github.com/go-sql-driver/mysql"
	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

const matrixPassword = "a-long-password"

// mayDo is Kafka's rule, said once more without the server's: what one ACL denies is
// denied, else what one allows is allowed.
func mayDo(acls []auth.ACL, user string, op auth.Operation, typ auth.ResourceType, name string) bool {
	may := false
	for _, a := range acls {
		if a.Principal != "User:"+user && a.Principal != "User:*" || a.Host != "*" && a.Host != "127.0.0.1" || a.Type != typ {
			continue
		}
		if named := a.Name == "*" || a.Name == name; a.Prefixed && !strings.HasPrefix(name, a.Name) || !a.Prefixed && !named {
			continue
		}
		same := a.Operation == op || a.Operation == auth.All
		if a.Deny {
			if same {
				return false
			}
			continue
		}
		implied := false
		switch op {
		case auth.Describe:
			implied = a.Operation == auth.Read || a.Operation == auth.Write || a.Operation == auth.Delete || a.Operation == auth.Alter
		case auth.DescribeConfigs:
			implied = a.Operation == auth.AlterConfigs
		default:
		}
		may = may || same || implied
	}
	return may
}

// topicActions ask about all topics at once and tell, for each, the code that decided.
var topicActions = []struct {
	name string
	op   auth.Operation
	ask  func(ask func(kmsg.Request) kmsg.Response, topics []string) []int16
}{
	{"Metadata", auth.Describe, func(ask func(kmsg.Request) kmsg.Response, topics []string) (codes []int16) {
		req := kmsg.NewPtrMetadataRequest()
		for _, t := range topics {
			req.Topics = append(req.Topics, kmsg.MetadataRequestTopic{Topic: kmsg.StringPtr(t)})
		}
		for _, t := range ask(req).(*kmsg.MetadataResponse).Topics {
			codes = append(codes, t.ErrorCode)
		}
		return codes
	}},
	{"ListOffsets", auth.Describe, func(ask func(kmsg.Request) kmsg.Response, topics []string) (codes []int16) {
		req := kmsg.NewPtrListOffsetsRequest()
		for _, t := range topics {
			p := kmsg.NewListOffsetsRequestTopicPartition()
			p.Timestamp = -1
			req.Topics = append(req.Topics, kmsg.ListOffsetsRequestTopic{Topic: t, Partitions: []kmsg.ListOffsetsRequestTopicPartition{p}})
		}
		for _, t := range ask(req).(*kmsg.ListOffsetsResponse).Topics {
			codes = append(codes, t.Partitions[0].ErrorCode)
		}
		return codes
	}},
	{"Fetch", auth.Read, func(ask func(kmsg.Request) kmsg.Response, topics []string) (codes []int16) {
		req := kmsg.NewPtrFetchRequest()
		req.MaxBytes, req.SessionEpoch = 1<<20, -1
		for _, t := range topics {
			p := kmsg.NewFetchRequestTopicPartition()
			p.PartitionMaxBytes = 1000
			req.Topics = append(req.Topics, kmsg.FetchRequestTopic{Topic: t, Partitions: []kmsg.FetchRequestTopicPartition{p}})
		}
		for _, t := range ask(req).(*kmsg.FetchResponse).Topics {
			codes = append(codes, t.Partitions[0].ErrorCode)
		}
		return codes
	}},
	{"Produce", auth.Write, func(ask func(kmsg.Request) kmsg.Response, topics []string) (codes []int16) {
		req := kmsg.NewPtrProduceRequest() // of nothing: it is refused, but for another reason
		req.Acks = -1
		for _, t := range topics {
			req.Topics = append(req.Topics, kmsg.ProduceRequestTopic{Topic: t, Partitions: []kmsg.ProduceRequestTopicPartition{{}}})
		}
		for _, t := range ask(req).(*kmsg.ProduceResponse).Topics {
			codes = append(codes, t.Partitions[0].ErrorCode)
		}
		return codes
	}},
	{"DeleteRecords", auth.Delete, func(ask func(kmsg.Request) kmsg.Response, topics []string) (codes []int16) {
		req := kmsg.NewPtrDeleteRecordsRequest()
		for _, t := range topics {
			req.Topics = append(req.Topics, kmsg.DeleteRecordsRequestTopic{Topic: t, Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{}}})
		}
		for _, t := range ask(req).(*kmsg.DeleteRecordsResponse).Topics {
			codes = append(codes, t.Partitions[0].ErrorCode)
		}
		return codes
	}},
	{"DescribeConfigs", auth.DescribeConfigs, func(ask func(kmsg.Request) kmsg.Response, topics []string) (codes []int16) {
		req := kmsg.NewPtrDescribeConfigsRequest()
		for _, t := range topics {
			req.Resources = append(req.Resources, kmsg.DescribeConfigsRequestResource{ResourceType: 2, ResourceName: t})
		}
		for _, r := range ask(req).(*kmsg.DescribeConfigsResponse).Resources {
			codes = append(codes, r.ErrorCode)
		}
		return codes
	}},
	{"IncrementalAlterConfigs", auth.AlterConfigs, func(ask func(kmsg.Request) kmsg.Response, topics []string) (codes []int16) {
		req := kmsg.NewPtrIncrementalAlterConfigsRequest()
		req.ValidateOnly = true
		for _, t := range topics {
			req.Resources = append(req.Resources, kmsg.IncrementalAlterConfigsRequestResource{ResourceType: 2, ResourceName: t})
		}
		for _, r := range ask(req).(*kmsg.IncrementalAlterConfigsResponse).Resources {
			codes = append(codes, r.ErrorCode)
		}
		return codes
	}},
	{"CreatePartitions", auth.Alter, func(ask func(kmsg.Request) kmsg.Response, topics []string) (codes []int16) {
		req := kmsg.NewPtrCreatePartitionsRequest()
		req.ValidateOnly = true
		for _, t := range topics {
			req.Topics = append(req.Topics, kmsg.CreatePartitionsRequestTopic{Topic: t, Count: 2})
		}
		for _, t := range ask(req).(*kmsg.CreatePartitionsResponse).Topics {
			codes = append(codes, t.ErrorCode)
		}
		return codes
	}},
}

// The kafka.* tables and the topics' requests follow the same ACLs, whatever they are.
func TestBothWiresDecideAsTheACLsSay(t *testing.T) {
	s := testkit.Server(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	users := auth.New(s.Store)
	var topics, names, groups []string
	for i := range 30 {
		name := fmt.Sprintf("%s_%d", []string{"orders", "order", "billing"}[i%3], i/3)
		if _, err := s.Store.Commit(ctx, state.CreateTopic{ID: uuid.New(), Name: name, Partitions: 1}); err != nil {
			t.Fatal(err)
		}
		topics = append(topics, name)
	}
	for i := range 10 {
		groups = append(groups, fmt.Sprintf("group-%d", i))
	}
	for _, name := range []string{"admin", "ada", "bob", "carol", "dan", "eve", "fay", "gil", "hal"} {
		if err := users.AddUser(name, matrixPassword); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	const seed = 1
	r := rand.New(rand.NewPCG(seed, seed))
	operations := []auth.Operation{auth.Read, auth.Write, auth.Delete, auth.Alter, auth.Describe, auth.DescribeConfigs, auth.AlterConfigs, auth.All}
	pick := func(of []string) string { return of[r.IntN(len(of))] }
	var acls []auth.ACL
	for range 100 {
		a := auth.ACL{
			Principal: "User:" + pick(append(names[1:8:8], "*")), Host: pick([]string{"*", "*", "127.0.0.1", "10.1.2.3"}),
			Operation: operations[r.IntN(len(operations))], Deny: r.IntN(4) == 0, Type: auth.Topic, Name: pick(topics),
		}
		if a.Principal == "User:*" && r.IntN(3) > 0 {
			a.Principal = "User:ada"
		}
		switch r.IntN(8) {
		case 0:
			a.Name, a.Prefixed = pick([]string{"ord", "orders", "orders_", "bill", "x"}), true
		case 1:
			if r.IntN(4) == 0 {
				a.Name = "*"
			}
		case 2, 3:
			a.Type, a.Name = auth.Group, pick(groups)
		}
		if err := users.AddACL(ctx, a); err != nil {
			t.Fatal(err)
		}
		acls = append(acls, a)
	}

	cells, allowed, wrong := 0, 0, 0
	cell := func(user, action, object string, op auth.Operation, typ auth.ResourceType, got bool) {
		want := user == "admin" || mayDo(acls, user, op, typ, object)
		if action == "SELECT" && user != "admin" { // what is hidden cannot be named in SQL
			want = want && mayDo(acls, user, auth.Describe, typ, object)
		}
		if cells++; want {
			allowed++
		}
		if got != want {
			if wrong++; wrong < 20 {
				t.Errorf("%s, %s (%v) of %s: allowed %v, the ACLs say %v", user, action, op, object, got, want)
			}
		}
	}
	const topicDenied, groupDenied = 29, 30
	for _, user := range names {
		versions := kversion.V3_0_0() // topics by name
		cl, err := kgo.NewClient(kgo.SeedBrokers(s.KafkaAddr()), kgo.MaxVersions(versions),
			kgo.SASL(scram.Auth{User: user, Pass: matrixPassword}.AsSha256Mechanism()))
		if err != nil {
			t.Fatal(err)
		}
		ask := func(req kmsg.Request) kmsg.Response {
			t.Helper()
			resp, err := cl.SeedBrokers()[0].Request(ctx, req)
			if err != nil {
				t.Fatal(user, err)
			}
			return resp
		}
		for _, a := range topicActions {
			codes := a.ask(ask, topics)
			if len(codes) != len(topics) {
				t.Fatalf("%s: %d answers", a.name, len(codes))
			}
			for i, code := range codes {
				cell(user, a.name, topics[i], a.op, auth.Topic, code != topicDenied)
			}
		}
		for _, g := range groups {
			fetch := kmsg.NewPtrOffsetFetchRequest()
			fetch.Group, fetch.Groups = g, []kmsg.OffsetFetchRequestGroup{{Group: g}}
			fetched := ask(fetch).(*kmsg.OffsetFetchResponse)
			code := fetched.ErrorCode
			if len(fetched.Groups) > 0 {
				code = fetched.Groups[0].ErrorCode
			}
			cell(user, "OffsetFetch", g, auth.Describe, auth.Group, code != groupDenied)
			beat := kmsg.NewPtrHeartbeatRequest()
			beat.Group, beat.MemberID = g, "m"
			cell(user, "Heartbeat", g, auth.Read, auth.Group, ask(beat).(*kmsg.HeartbeatResponse).ErrorCode != groupDenied)
			drop := kmsg.NewPtrDeleteGroupsRequest()
			drop.Groups = []string{g}
			cell(user, "DeleteGroups", g, auth.Delete, auth.Group, ask(drop).(*kmsg.DeleteGroupsResponse).Groups[0].ErrorCode != groupDenied)
		}
		cl.Close()

		db, err := sql.Open("mysql", user+":"+matrixPassword+"@tcp("+s.MySQLAddr()+")/kafka?tls=skip-verify")
		if err != nil {
			t.Fatal(err)
		}
		shown := map[string]bool{}
		rows, err := db.QueryContext(ctx, "SHOW TABLES FROM kafka")
		if err != nil {
			t.Fatal(user, err)
		}
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				t.Fatal(err)
			}
			shown[name] = true
		}
		rows.Close()
		for _, topic := range topics {
			cell(user, "SHOW TABLES", topic, auth.Describe, auth.Topic, shown[topic])
			var n int
			err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM `"+topic+"`").Scan(&n)
			var refused *mysql.MySQLError
			if err != nil && !errors.As(err, &refused) {
				t.Fatal(err)
			}
			cell(user, "SELECT", topic, auth.Read, auth.Topic, err == nil)
		}
		db.Close()
	}
	if cells < 2000 || allowed < cells/5 || allowed > cells*4/5 {
		t.Errorf("%d cells, %d of them allowed: too few of one kind", cells, allowed)
	}
	t.Logf("%d cells, %d allowed, %d wrong", cells, allowed, wrong)
}
