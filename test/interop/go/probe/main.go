// Command probe asks a broker every API in every version it advertises, always the same,
// and prints each answer as a line of JSON. Two brokers' lines are compared by
// test_differential.py: what differs is listed and explained in differences.txt.
//
// What cannot agree (hosts, ids, times, texts) is masked, not left out.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const topic = "probe"

type broker struct {
	conn net.Conn
	in   *bufio.Reader
	next int32
	form *kmsg.RequestFormatter
}

func dial(addr string) *broker {
	c, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		fail(err)
	}
	return &broker{conn: c, in: bufio.NewReader(c), form: kmsg.NewRequestFormatter(kmsg.FormatterClientID("probe"))}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "probe:", err)
	os.Exit(1)
}

// ask returns nil when the broker hangs up instead of answering.
func (b *broker) ask(req kmsg.Request) (kmsg.Response, error) {
	b.next++
	_ = b.conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := b.conn.Write(b.form.AppendRequest(nil, req, b.next)); err != nil {
		return nil, err
	}
	var size [4]byte
	if _, err := io.ReadFull(b.in, size[:]); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(b.in, body); err != nil {
		return nil, err
	}
	body = body[4:]
	if req.IsFlexible() && req.Key() != 18 {
		body = body[1:] // no tags in the header
	}
	resp := req.ResponseKind()
	return resp, resp.ReadFrom(body)
}

// masked are the fields that differ between any two brokers.
var masked = map[string]bool{
	"Host": true, "Port": true, "NodeID": true, "BrokerID": true, "Leader": true, "LeaderID": true, "ControllerID": true, "ClusterID": true,
	"TopicID": true, "ProducerID": true, "ProducerEpoch": true, "MemberID": true, "SessionID": true, "ThrottleMillis": true, "Timestamp": true,
	"Documentation": true, "LogDir": true, "Dir": true, "Size": true, "TotalBytes": true, "UsableBytes": true, "Rack": true,
	"ErrorMessage": true, "LeaderEpoch": true, "FinalizedFeaturesEpoch": true, "StartTimestamp": true, "IncarnationID": true,
	"Replicas": true, "ISR": true, "EligibleLeaderReplicas": true, "LastKnownELR": true, "LastTimestamp": true, "AuthorizedOperations": true, "ClusterAuthorizedOperations": true,
}

// plain is v as what JSON can be made of.
func plain(name string, v reflect.Value) any {
	if masked[name] {
		return "*"
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return plain(name, v.Elem())
	case reflect.Struct:
		m := map[string]any{}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.IsExported() && f.Name != "UnknownTags" && f.Name != "Version" {
				m[f.Name] = plain(f.Name, v.Field(i))
			}
		}
		return m
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return fmt.Sprintf("%x", v.Bytes())
		}
		list := make([]any, v.Len())
		for i := range list {
			list[i] = plain(name, v.Index(i))
		}
		sort.Slice(list, func(i, j int) bool { return fmt.Sprint(list[i]) < fmt.Sprint(list[j]) })
		return list
	}
	return v.Interface()
}

func main() {
	if len(os.Args) != 2 {
		fail(fmt.Errorf("usage: probe HOST:PORT"))
	}
	b := dial(os.Args[1])
	prepare(b)
	known := learn(b)
	versions := kmsg.NewPtrApiVersionsRequest()
	versions.Version, versions.ClientSoftwareName, versions.ClientSoftwareVersion = 3, "probe", "1"
	resp, err := b.ask(versions)
	if err != nil {
		fail(err)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	ranges := map[int16][2]int16{}
	for _, k := range resp.(*kmsg.ApiVersionsResponse).ApiKeys {
		ranges[k.ApiKey] = [2]int16{k.MinVersion, k.MaxVersion}
		fmt.Fprintf(out, "%d %s range %d-%d\n", k.ApiKey, kmsg.NameForKey(k.ApiKey), k.MinVersion, k.MaxVersion)
		for version := k.MinVersion; version <= k.MaxVersion; version++ {
			for _, q := range questions(k.ApiKey, known) {
				if version > q.req.MaxVersion() || version < q.from {
					continue
				}
				q.req.SetVersion(version)
				line := fmt.Sprintf("%d %s v%d %s ", k.ApiKey, kmsg.NameForKey(k.ApiKey), version, q.name)
				resp, err := b.ask(q.req)
				if err != nil {
					fmt.Fprintf(out, "%shangs up\n", line)
					b = dial(os.Args[1])
					continue
				}
				text, err := json.Marshal(plain("", reflect.ValueOf(resp)))
				if err != nil {
					fail(err)
				}
				fmt.Fprintf(out, "%s%s\n", line, text)
			}
		}
	}
	s := &script{addr: os.Args[1], b: b, out: out, ranges: ranges, known: known}
	s.classicGroups()
	s.consumerGroups()
	s.shareGroups()
	s.transactions()
}

// facts are what questions have to know of the broker that is asked.
type facts struct {
	node    int32
	topicID [16]byte
	logDir  string // where the topic's partitions are
}

func learn(b *broker) facts {
	meta := kmsg.NewPtrMetadataRequest()
	meta.Version = 12
	meta.Topics = []kmsg.MetadataRequestTopic{{Topic: ptr(topic)}}
	resp, err := b.ask(meta)
	if err != nil {
		fail(err)
	}
	m := resp.(*kmsg.MetadataResponse)
	dirs := kmsg.NewPtrDescribeLogDirsRequest()
	dirs.Version = 4
	if resp, err = b.ask(dirs); err != nil {
		fail(err)
	}
	return facts{node: m.Brokers[0].NodeID, topicID: m.Topics[0].TopicID, logDir: resp.(*kmsg.DescribeLogDirsResponse).Dirs[0].Dir}
}

// prepare makes a topic of two partitions with three records in the first, and waits
// until transactions and groups are coordinated: Kafka makes topics for that.
func prepare(b *broker) {
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		find := kmsg.NewPtrFindCoordinatorRequest()
		find.CoordinatorKey, find.CoordinatorType = "probe", 1
		init := kmsg.NewPtrInitProducerIDRequest()
		init.TransactionalID, init.TransactionTimeoutMillis = kmsg.StringPtr("probe"), 1000
		find.Version, init.Version = 2, 1
		if _, err := b.ask(find); err != nil {
			fail(err)
		}
		if resp, err := b.ask(init); err == nil && resp.(*kmsg.InitProducerIDResponse).ErrorCode == 0 {
			break
		} else if time.Now().After(deadline) {
			fail(fmt.Errorf("no transaction coordinator: %v %+v", err, resp))
		}
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		find := kmsg.NewPtrFindCoordinatorRequest()
		find.Version, find.CoordinatorKey = 2, "g"
		beat := kmsg.NewPtrHeartbeatRequest()
		beat.Version, beat.Group, beat.MemberID = 1, "g", "stranger"
		if _, err := b.ask(find); err != nil {
			fail(err)
		}
		if resp, err := b.ask(beat); err == nil && resp.(*kmsg.HeartbeatResponse).ErrorCode == 25 {
			break
		} else if time.Now().After(deadline) {
			fail(fmt.Errorf("no group coordinator: %v %+v", err, resp))
		}
	}
	create := kmsg.NewPtrCreateTopicsRequest()
	create.Version, create.TimeoutMillis = 5, 10_000
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = topic, 2, 1
	create.Topics = append(create.Topics, t)
	if _, err := b.ask(create); err != nil {
		fail(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; {
		p := kmsg.NewPtrProduceRequest()
		p.Version, p.Acks, p.TimeoutMillis = 7, -1, 5000
		p.Topics = []kmsg.ProduceRequestTopic{{Topic: topic, Partitions: []kmsg.ProduceRequestTopicPartition{{Partition: 0, Records: batch()}}}}
		resp, err := b.ask(p)
		if err == nil && resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode == 0 {
			return
		}
		if time.Now().After(deadline) {
			fail(fmt.Errorf("cannot produce: %v %+v", err, resp))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func questions(key int16, known facts) []question {
	q := slices.Concat(asked(key), refused(key, known), strangers(key, known))
	for i := range q {
		q[i].name = strings.ReplaceAll(q[i].name, " ", "-")
	}
	return q
}
