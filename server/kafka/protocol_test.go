package kafka

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"millrace/server/kafka/kafkaerr"

	"millrace/internal/recordbatch"
	"millrace/store/state"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// C55
func TestATooNewApiVersionsIsAnsweredInVersion0AndTheConnectionStays(t *testing.T) {
	e := start(t)
	r := e.raw()
	req := []byte{0, 0, 0, 0, 0, 18, 0, 127, 0, 0, 0, 7, 0, 1, 'x', 0, 1, 2, 3}
	binary.BigEndian.PutUint32(req, uint32(len(req)-4))
	r.write(req)
	id, body := r.frame()
	resp := kmsg.NewPtrApiVersionsResponse()
	if err := resp.ReadFrom(body); err != nil || id != 7 {
		t.Fatal(id, err)
	}
	if resp.ErrorCode != kafkaerr.UnsupportedVersion || len(resp.ApiKeys) != 1 || resp.ApiKeys[0].ApiKey != 18 || resp.ApiKeys[0].MaxVersion != 4 {
		t.Fatalf("%+v", resp)
	}
	again := kmsg.NewPtrApiVersionsRequest()
	again.ClientSoftwareName, again.ClientSoftwareVersion = "test", "1.0"
	again.Version = 4
	if resp := r.ask(again).(*kmsg.ApiVersionsResponse); resp.ErrorCode != 0 || len(resp.ApiKeys) < 10 {
		t.Fatalf("%+v", resp)
	}
	again.ClientSoftwareName = "-x"
	if resp := r.ask(again).(*kmsg.ApiVersionsResponse); resp.ErrorCode != kafkaerr.InvalidRequest {
		t.Fatalf("%+v", resp)
	}
}

func TestWhatIsAdvertisedIsWhatKafkaAdvertises(t *testing.T) {
	e := start(t)
	want := map[int16][2]int16{
		0: {0, 13}, 1: {4, 18}, 2: {1, 11}, 3: {0, 13}, 8: {2, 10}, 9: {1, 10}, 10: {0, 6}, 11: {0, 9},
		12: {0, 4}, 13: {0, 5}, 14: {0, 5}, 15: {0, 6}, 16: {0, 5}, 17: {0, 1}, 18: {0, 4}, 19: {2, 7}, 20: {1, 6},
		21: {0, 2}, 22: {0, 5}, 23: {2, 4}, 24: {0, 5}, 25: {0, 4}, 26: {0, 5}, 27: {1, 2}, 28: {0, 5}, 29: {1, 3}, 30: {1, 3}, 31: {1, 3}, 32: {1, 4}, 33: {0, 2}, 34: {1, 2}, 35: {1, 5}, 36: {0, 2}, 37: {0, 3}, 42: {0, 3},
		43: {0, 2}, 44: {0, 1}, 45: {0, 1}, 46: {0, 0}, 47: {0, 0}, 48: {0, 1}, 49: {0, 1}, 50: {0, 0}, 51: {0, 0}, 55: {0, 2}, 57: {0, 2}, 60: {0, 2}, 61: {0, 0}, 65: {0, 0}, 66: {0, 2}, 74: {0, 1}, 75: {0, 0},
		68: {0, 1}, 69: {0, 1}, 76: {1, 1}, 77: {1, 1}, 78: {1, 2}, 79: {1, 2}, 90: {0, 1}, 91: {0, 0}, 92: {0, 0},
	}
	resp := e.raw().ask(kmsg.NewPtrApiVersionsRequest()).(*kmsg.ApiVersionsResponse)
	for _, k := range resp.ApiKeys {
		if w, ok := want[k.ApiKey]; !ok || w != [2]int16{k.MinVersion, k.MaxVersion} {
			t.Errorf("%s: advertised %d to %d, want %v", kmsg.NameForKey(k.ApiKey), k.MinVersion, k.MaxVersion, w)
		}
		delete(want, k.ApiKey)
	}
	if len(want) != 0 {
		t.Errorf("not advertised: %v", want)
	}
}

// C57: each request names what does not exist, or is itself at fault.
func TestEveryVersionAnswersAFailingRequestInItsOwnEncoding(t *testing.T) {
	e := start(t, func(o *Options) { o.AutoCreateTopics = false })
	for _, a := range e.srv.table {
		if a == nil {
			continue
		}
		for v := a.min; v <= a.max; v++ {
			r := e.raw()
			req := kmsg.RequestForKey(a.key)
			req.SetVersion(v)
			fillFailing(req)
			if a.key == keyProduce || a.key == keyFetch || a.key == keyMetadata || a.key == keyListOffsets || a.key == keyOffsetForLeaderEpoch {
				resp := r.ask(req)
				if code := partitionCodeOf(resp); code == 0 {
					t.Errorf("%s version %d: no error code in %+v", a.name, v, resp)
				}
				continue
			}
			r.ask(req)
		}
	}
}

// fillFailing gives req a body that is well formed and must fail.
func fillFailing(req kmsg.Request) {
	id := uuid.MustParse("12345678-1234-4234-8234-123456789abc")
	switch r := req.(type) {
	case *kmsg.ProduceRequest:
		*r = *produceRequest(r.Version, "missing", id, 3, batch(1, "x"))
	case *kmsg.FetchRequest:
		*r = *fetchRequest1(r.Version, "missing", id, 3, 0)
	case *kmsg.ListOffsetsRequest:
		t := kmsg.NewListOffsetsRequestTopic()
		t.Topic = "missing"
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Timestamp = -1
		t.Partitions = append(t.Partitions, p)
		r.Topics = append(r.Topics, t)
	case *kmsg.MetadataRequest:
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr("missing")
		r.Topics = append(r.Topics, t)
	case *kmsg.OffsetForLeaderEpochRequest:
		t := kmsg.NewOffsetForLeaderEpochRequestTopic()
		t.Topic = "missing"
		t.Partitions = append(t.Partitions, kmsg.NewOffsetForLeaderEpochRequestTopicPartition())
		r.Topics = append(r.Topics, t)
	case *kmsg.InitProducerIDRequest:
		r.TransactionalID = kmsg.StringPtr("tx")
	case *kmsg.OffsetCommitRequest:
		r.Group, r.Generation, r.MemberID = "no-group", 4, "nobody"
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic, t.TopicID = "missing", id
		t.Partitions = append(t.Partitions, kmsg.NewOffsetCommitRequestTopicPartition())
		r.Topics = append(r.Topics, t)
	case *kmsg.OffsetFetchRequest:
		r.Group = "no-group"
		t := kmsg.NewOffsetFetchRequestTopic()
		t.Topic = "missing"
		t.Partitions = []int32{0}
		r.Topics = append(r.Topics, t)
		g := kmsg.NewOffsetFetchRequestGroup()
		g.Group = "no-group"
		gt := kmsg.NewOffsetFetchRequestGroupTopic()
		gt.Topic, gt.TopicID = "missing", id
		gt.Partitions = []int32{0}
		g.Topics = append(g.Topics, gt)
		r.Groups = append(r.Groups, g)
	case *kmsg.FindCoordinatorRequest:
		r.CoordinatorType = 9
		r.CoordinatorKey = "g"
		r.CoordinatorKeys = []string{"g"}
	case *kmsg.JoinGroupRequest:
		r.SessionTimeoutMillis = 1
		r.Group, r.ProtocolType = "g", "consumer"
		p := kmsg.NewJoinGroupRequestProtocol()
		p.Name = "range"
		r.Protocols = append(r.Protocols, p)
	case *kmsg.HeartbeatRequest:
		r.Group, r.MemberID = "no-group", "nobody"
	case *kmsg.LeaveGroupRequest:
		r.Group, r.MemberID = "no-group", "nobody"
		m := kmsg.NewLeaveGroupRequestMember()
		m.MemberID = "nobody"
		r.Members = append(r.Members, m)
	case *kmsg.SyncGroupRequest:
		r.Group, r.MemberID = "no-group", "nobody"
	case *kmsg.DescribeGroupsRequest:
		r.Groups = []string{"no-group"}
	case *kmsg.CreateTopicsRequest:
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = "bad/name", 1, 1
		r.Topics = append(r.Topics, t)
	case *kmsg.DeleteTopicsRequest:
		r.TopicNames = []string{"missing"}
		t := kmsg.NewDeleteTopicsRequestTopic()
		t.TopicID = id
		r.Topics = append(r.Topics, t)
	case *kmsg.DeleteRecordsRequest:
		t := kmsg.NewDeleteRecordsRequestTopic()
		t.Topic = "missing"
		t.Partitions = append(t.Partitions, kmsg.NewDeleteRecordsRequestTopicPartition())
		r.Topics = append(r.Topics, t)
	case *kmsg.DescribeConfigsRequest:
		x := kmsg.NewDescribeConfigsRequestResource()
		x.ResourceType, x.ResourceName = kmsg.ConfigResourceTypeTopic, "missing"
		r.Resources = append(r.Resources, x)
	case *kmsg.AlterConfigsRequest:
		x := kmsg.NewAlterConfigsRequestResource()
		x.ResourceType, x.ResourceName = kmsg.ConfigResourceTypeTopic, "missing"
		r.Resources = append(r.Resources, x)
	case *kmsg.IncrementalAlterConfigsRequest:
		x := kmsg.NewIncrementalAlterConfigsRequestResource()
		x.ResourceType, x.ResourceName = kmsg.ConfigResourceTypeTopic, "missing"
		r.Resources = append(r.Resources, x)
	case *kmsg.DescribeLogDirsRequest:
		t := kmsg.NewDescribeLogDirsRequestTopic()
		t.Topic, t.Partitions = "missing", []int32{0}
		r.Topics = append(r.Topics, t)
	case *kmsg.CreatePartitionsRequest:
		t := kmsg.NewCreatePartitionsRequestTopic()
		t.Topic, t.Count = "missing", 3
		r.Topics = append(r.Topics, t)
	case *kmsg.DeleteGroupsRequest:
		r.Groups = []string{"no-group"}
	case *kmsg.OffsetDeleteRequest:
		r.Group = "no-group"
	case *kmsg.DescribeTopicPartitionsRequest:
		t := kmsg.NewDescribeTopicPartitionsRequestTopic()
		t.Topic = "missing"
		r.Topics = append(r.Topics, t)
	case *kmsg.ApiVersionsRequest:
		r.ClientSoftwareName = "not ok!"
	case *kmsg.SASLHandshakeRequest:
		r.Mechanism = "NONE"
	case *kmsg.DescribeClusterRequest:
		r.EndpointType = 2
	}
}

func partitionCodeOf(resp kmsg.Response) int16 {
	switch r := resp.(type) {
	case *kmsg.ProduceResponse:
		return r.Topics[0].Partitions[0].ErrorCode
	case *kmsg.FetchResponse:
		return r.Topics[0].Partitions[0].ErrorCode
	case *kmsg.ListOffsetsResponse:
		return r.Topics[0].Partitions[0].ErrorCode
	case *kmsg.MetadataResponse:
		return r.Topics[0].ErrorCode
	case *kmsg.OffsetForLeaderEpochResponse:
		return r.Topics[0].Partitions[0].ErrorCode
	}
	return -1
}

func TestEveryVersionProducesAndFetches(t *testing.T) {
	e := start(t)
	id := e.topic("t", 1)
	r := e.raw()
	for v := int16(3); v <= 13; v++ {
		p := onlyPart(t, r.ask(produceRequest(v, "t", id, 0, batch(int64(v), fmt.Sprint("v", v)))))
		if p.ErrorCode != 0 || p.BaseOffset != int64(v-3) || p.LogAppendTime != -1 {
			t.Fatalf("version %d: %+v", v, p)
		}
	}
	for v := int16(4); v <= 18; v++ {
		p := onlyFetched(t, r.ask(fetchRequest1(v, "t", id, 0, 4)))
		if p.ErrorCode != 0 || p.HighWatermark != 11 || p.LastStableOffset != 11 || strings.Join(values(t, p.RecordBatches), " ") != "v7 v8 v9 v10 v11 v12 v13" {
			t.Fatalf("version %d: %+v", v, p)
		}
	}
}

func TestOldProduceVersionsAreRefusedThoughAdvertised(t *testing.T) {
	e := start(t)
	id := e.topic("t", 1)
	r := e.raw()
	for v := int16(0); v < 3; v++ {
		if p := onlyPart(t, r.ask(produceRequest(v, "t", id, 0, batch(1, "x")))); p.ErrorCode != kafkaerr.UnsupportedVersion {
			t.Fatalf("version %d: %+v", v, p)
		}
	}
	if e.end(id, 0) != 0 {
		t.Fatal("something was stored")
	}
}

func TestWrongAcksAreRefused(t *testing.T) {
	e := start(t)
	id := e.topic("t", 1)
	req := produceRequest(9, "t", id, 0, batch(1, "x"))
	req.Acks = 2
	if p := onlyPart(t, e.raw().ask(req)); p.ErrorCode != kafkaerr.InvalidRequiredAcks || e.end(id, 0) != 0 {
		t.Fatalf("%+v", p)
	}
}

func TestWithoutAcksThereIsNoAnswerAndAnErrorHangsUp(t *testing.T) {
	e := start(t)
	id := e.topic("t", 1)
	r := e.raw()
	req := produceRequest(9, "t", id, 0, batch(1, "x"))
	req.Acks = 0
	r.send(req)
	// The next answer is the next request's, and it sees the record.
	if p := onlyFetched(t, r.ask(fetchRequest1(12, "t", id, 0, 0))); p.HighWatermark != 1 {
		t.Fatalf("%+v", p)
	}
	req.Topics[0].Partitions[0].Partition = 9
	r.send(req)
	r.closed()
}

func TestPipelinedRequestsAreAnsweredInOrder(t *testing.T) {
	e := start(t)
	id := e.topic("t", 1)
	r := e.raw()
	type sent struct {
		req kmsg.Request
		id  int32
	}
	var all []sent
	ask := func(req kmsg.Request) { all = append(all, sent{req, r.send(req)}) }
	produced := 0
	for i := range 300 {
		switch {
		case i%50 == 49:
			ask(produceRequest(9, "t", id, 7, batch(1, "no such partition")))
		case i%7 == 6:
			ask(fetchRequest1(12, "t", id, 0, 0))
		case i%11 == 10:
			ask(kmsg.NewPtrApiVersionsRequest())
		default:
			ask(produceRequest(9, "t", id, 0, batch(1, "x")))
		}
	}
	for _, s := range all {
		switch resp := r.recv(s.req, s.id).(type) {
		case *kmsg.ProduceResponse:
			if p := onlyPart(t, resp); p.ErrorCode == 0 {
				if p.BaseOffset != int64(produced) {
					t.Fatalf("offset %d, want %d", p.BaseOffset, produced)
				}
				produced++
			}
		case *kmsg.FetchResponse:
			// What was sent before it is there.
			if p := onlyFetched(t, resp); p.HighWatermark != int64(produced) {
				t.Fatalf("fetch sees %d of %d", p.HighWatermark, produced)
			}
		}
	}
}

func TestALongPollHoldsUpNoOtherConnectionAndAnswersInItsPlace(t *testing.T) {
	e := start(t)
	id := e.topic("t", 1)
	waiting, other := e.raw(), e.raw()
	poll := fetchRequest1(12, "t", id, 0, 0)
	poll.MaxWaitMillis = 60_000
	first := waiting.send(poll)
	behind := produceRequest(9, "t", id, 0, batch(1, "behind"))
	second := waiting.send(behind)
	if p := onlyPart(t, other.ask(produceRequest(9, "t", id, 0, batch(1, "wakes")))); p.ErrorCode != 0 || p.BaseOffset != 0 {
		t.Fatalf("%+v", p)
	}
	if p := onlyFetched(t, waiting.recv(poll, first)); values(t, p.RecordBatches)[0] != "wakes" {
		t.Fatalf("%+v", p)
	}
	if p := onlyPart(t, waiting.recv(behind, second)); p.BaseOffset != 1 {
		t.Fatalf("%+v", p)
	}
}

func TestALongPollEndsWhenTheTopicIsDeleted(t *testing.T) {
	e := start(t)
	id := e.topic("t", 1)
	r := e.raw()
	req := fetchRequest1(13, "", id, 0, 0)
	req.MaxWaitMillis = 60_000
	n := r.send(req)
	if res, err := e.st.Commit(t.Context(), state.DeleteTopic{ID: id}); err != nil || res.(state.TopicResult).Err != nil {
		t.Fatal(err, res)
	}
	if p := onlyFetched(t, r.recv(req, n)); p.ErrorCode != kafkaerr.UnknownTopicID || p.RecordBatches == nil {
		t.Fatalf("%+v", p)
	}
}

func TestZstdBatchesAreNotGivenToClientsThatDoNotKnowThem(t *testing.T) {
	e := start(t)
	id := e.topic("t", 1)
	r := e.raw()
	b := recordbatch.Builder{Codec: recordbatch.Zstd}
	b.Append(1, nil, []byte("x"), nil)
	r.ask(produceRequest(9, "t", id, 0, b.Build()))
	for v := int16(4); v <= 18; v++ {
		p := onlyFetched(t, r.ask(fetchRequest1(v, "t", id, 0, 0)))
		if known := v >= 10; known != (p.ErrorCode == 0) || known != (len(p.RecordBatches) > 0) || !known && p.ErrorCode != kafkaerr.UnsupportedCompressionType {
			t.Errorf("version %d: %+v", v, p)
		}
	}
}

func TestFetchLimits(t *testing.T) {
	e := start(t)
	id := e.topic("t", 2)
	r := e.raw()
	big := batch(1, strings.Repeat("x", 5000))
	for p := range int32(2) {
		for range 3 {
			if got := onlyPart(t, r.ask(produceRequest(9, "t", id, p, big))); got.ErrorCode != 0 {
				t.Fatalf("%+v", got)
			}
		}
	}
	ask := func(maxBytes, partMax int32) (n [2]int) {
		req := fetchRequest1(12, "t", id, 0, 0)
		req.MaxBytes = maxBytes
		second := req.Topics[0].Partitions[0]
		second.Partition = 1
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, second)
		for i := range req.Topics[0].Partitions {
			req.Topics[0].Partitions[i].PartitionMaxBytes = partMax
		}
		for i, p := range r.ask(req).(*kmsg.FetchResponse).Topics[0].Partitions {
			if p.RecordBatches == nil {
				t.Fatal("null records")
			}
			n[i] = len(p.RecordBatches) / len(big)
		}
		return n
	}
	for _, c := range []struct {
		max, part int32
		want      [2]int
	}{
		{1 << 20, 1 << 20, [2]int{3, 3}},
		{1 << 20, int32(2 * len(big)), [2]int{2, 2}},
		{int32(4 * len(big)), 1 << 20, [2]int{3, 1}},
		{1, 1, [2]int{1, 0}}, // the first batch whatever the limits
		{0, 0, [2]int{1, 0}},
		{1 << 20, 1, [2]int{1, 0}},
	} {
		if got := ask(c.max, c.part); got != c.want {
			t.Errorf("max %d, per partition %d: batches %v, want %v", c.max, c.part, got, c.want)
		}
	}
	for offset, want := range map[int64]int16{3: 0, 4: kafkaerr.OffsetOutOfRange, -1: kafkaerr.OffsetOutOfRange} {
		if p := onlyFetched(t, r.ask(fetchRequest1(12, "t", id, 0, offset))); p.ErrorCode != want {
			t.Errorf("offset %d: code %d, want %d", offset, p.ErrorCode, want)
		}
	}
	req := fetchRequest1(12, "t", id, 0, 0)
	req.Topics[0].Partitions[0].CurrentLeaderEpoch = 1
	if p := onlyFetched(t, r.ask(req)); p.ErrorCode != kafkaerr.UnknownLeaderEpoch {
		t.Errorf("%+v", p)
	}
	if p := onlyFetched(t, r.ask(fetchRequest1(13, "", uuid.New(), 0, 0))); p.ErrorCode != kafkaerr.UnknownTopicID {
		t.Errorf("%+v", p)
	}
}

func TestMinBytesAreWaitedForOverSeveralWakeups(t *testing.T) {
	e := start(t)
	id := e.topic("t", 1)
	one := batch(1, "0123456789")
	poll, writer := e.raw(), e.raw()
	req := fetchRequest1(12, "t", id, 0, 0)
	req.MinBytes = int32(3 * len(one))
	req.MaxWaitMillis = 60_000
	n := poll.send(req)
	for range 3 {
		writer.ask(produceRequest(9, "t", id, 0, batch(1, "0123456789")))
	}
	if p := onlyFetched(t, poll.recv(req, n)); len(p.RecordBatches) != 3*len(one) {
		t.Fatalf("%d bytes", len(p.RecordBatches))
	}
}

func TestFetchSessionsTellOnlyWhatIsNew(t *testing.T) {
	e := start(t)
	id := e.topic("t", 3)
	r := e.raw()
	ask := func(session, epoch int32, offsets map[int32]int64, forget ...int32) *kmsg.FetchResponse {
		t.Helper()
		req := kmsg.NewPtrFetchRequest()
		req.Version, req.MaxBytes, req.SessionID, req.SessionEpoch = 12, 1<<20, session, epoch
		ft := kmsg.NewFetchRequestTopic()
		ft.Topic = "t"
		for p := range int32(3) {
			if o, ok := offsets[p]; ok {
				fp := kmsg.NewFetchRequestTopicPartition()
				fp.Partition, fp.FetchOffset, fp.PartitionMaxBytes, fp.CurrentLeaderEpoch = p, o, 1<<20, -1
				ft.Partitions = append(ft.Partitions, fp)
			}
		}
		if len(ft.Partitions) > 0 {
			req.Topics = append(req.Topics, ft)
		}
		if len(forget) > 0 {
			f := kmsg.NewFetchRequestForgottenTopic()
			f.Topic, f.Partitions = "t", forget
			req.ForgottenTopics = append(req.ForgottenTopics, f)
		}
		return r.ask(req).(*kmsg.FetchResponse)
	}
	parts := func(resp *kmsg.FetchResponse) string {
		var s []string
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				s = append(s, fmt.Sprintf("%d:%d", p.Partition, p.HighWatermark))
			}
		}
		return strings.Join(s, " ")
	}
	full := ask(0, 0, map[int32]int64{0: 0, 1: 0, 2: 0})
	session := full.SessionID
	if session == 0 || parts(full) != "0:0 1:0 2:0" {
		t.Fatalf("%+v", full)
	}
	if got := ask(session, 1, nil); got.ErrorCode != 0 || got.SessionID != session || parts(got) != "" {
		t.Fatalf("%+v", got)
	}
	e.raw().ask(produceRequest(9, "t", id, 1, batch(1, "x")))
	if got := ask(session, 2, nil); parts(got) != "1:1" {
		t.Fatalf("%+v", got)
	}
	if got := ask(session, 3, map[int32]int64{1: 1}); parts(got) != "" {
		t.Fatalf("%+v", got)
	}
	if got := ask(session, 3, nil); got.ErrorCode != kafkaerr.InvalidFetchSessionEpoch {
		t.Fatalf("%+v", got)
	}
	e.raw().ask(produceRequest(9, "t", id, 2, batch(1, "x")))
	if got := ask(session, 4, nil, 2); parts(got) != "" { // forgotten
		t.Fatalf("%+v", got)
	}
	if got := ask(session, 5, map[int32]int64{2: 0}); parts(got) != "2:1" {
		t.Fatalf("%+v", got)
	}
	if got := ask(session+1, 1, nil); got.ErrorCode != kafkaerr.FetchSessionIDNotFound {
		t.Fatalf("%+v", got)
	}
	if got := ask(session, -1, map[int32]int64{0: 0}); got.SessionID != 0 || parts(got) != "0:0" { // closes it
		t.Fatalf("%+v", got)
	}
	if got := ask(session, 6, nil); got.ErrorCode != kafkaerr.FetchSessionIDNotFound {
		t.Fatalf("%+v", got)
	}
}

// C53
func TestListOffsetsByTime(t *testing.T) {
	e := start(t)
	id := e.topic("t", 1)
	r := e.raw()
	var b recordbatch.Builder
	for i := range 4 {
		b.Append(int64(2+2*i), nil, []byte("x"), nil)
	}
	r.ask(produceRequest(9, "t", id, 0, b.Build()))
	of := func(topic string, v int16, ts int64) kmsg.ListOffsetsResponseTopicPartition {
		req := kmsg.NewPtrListOffsetsRequest()
		req.Version = v
		lt := kmsg.NewListOffsetsRequestTopic()
		lt.Topic = topic
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Timestamp, p.CurrentLeaderEpoch = ts, -1
		lt.Partitions = append(lt.Partitions, p)
		req.Topics = append(req.Topics, lt)
		return r.ask(req).(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0]
	}
	ask := func(v int16, ts int64) kmsg.ListOffsetsResponseTopicPartition { return of("t", v, ts) }
	for _, c := range []struct {
		ts, offset, at int64
	}{
		{0, 0, 2},
		{1, 0, 2},
		{2, 0, 2},
		{3, 1, 4},
		{5, 2, 6},
		{8, 3, 8},
		{9, -1, -1},
		{-1, 4, -1},
		{-2, 0, -1},
		{-3, 3, 8},
		{-4, 0, -1},
		{-5, -1, -1},
		{-6, -1, -1},
	} {
		got := ask(11, c.ts)
		if got.ErrorCode != 0 || got.Offset != c.offset || got.Timestamp != c.at {
			t.Errorf("time %d: code %d, offset %d, timestamp %d; want %d, %d", c.ts, got.ErrorCode, got.Offset, got.Timestamp, c.offset, c.at)
		}
	}
	for ts, v := range map[int64]int16{-3: 6, -4: 7, -5: 8, -6: 10, -7: 11} {
		if got := ask(v, ts); got.ErrorCode != kafkaerr.UnsupportedVersion {
			t.Errorf("time %d in version %d: code %d", ts, v, got.ErrorCode)
		}
		if got := of("missing", v, ts); got.ErrorCode != kafkaerr.UnsupportedVersion {
			t.Errorf("time %d in version %d, missing topic: code %d", ts, v, got.ErrorCode)
		}
	}
}

func TestMetadataNamesTopicsInEveryWay(t *testing.T) {
	e := start(t)
	id := e.topic("a", 3)
	e.topic("b", 1)
	r := e.raw()
	ask := func(v int16, topics []kmsg.MetadataRequestTopic, create bool) *kmsg.MetadataResponse {
		req := kmsg.NewPtrMetadataRequest()
		req.Version, req.Topics, req.AllowAutoTopicCreation = v, topics, create
		return r.ask(req).(*kmsg.MetadataResponse)
	}
	named := func(names ...string) []kmsg.MetadataRequestTopic {
		l := []kmsg.MetadataRequestTopic{}
		for _, n := range names {
			t := kmsg.NewMetadataRequestTopic()
			t.Topic = kmsg.StringPtr(n)
			l = append(l, t)
		}
		return l
	}
	for v := int16(0); v <= 13; v++ {
		all := ask(v, nil, false)
		if v == 0 {
			all = ask(v, named(), false)
		}
		if len(all.Topics) != 2 || len(all.Brokers) != 1 || all.Brokers[0].NodeID != 1 || (v >= 1 && all.ControllerID != 1) {
			t.Fatalf("version %d: %+v", v, all)
		}
		if v >= 1 && len(ask(v, named(), false).Topics) != 0 {
			t.Errorf("version %d: an empty list is no topics", v)
		}
		got := ask(v, named("a"), false).Topics[0]
		if got.ErrorCode != 0 || len(got.Partitions) != 3 || (v >= 10 && got.TopicID != id) {
			t.Errorf("version %d: %+v", v, got)
		}
		if v >= 4 {
			if got := ask(v, named("nope"), false).Topics[0]; got.ErrorCode != kafkaerr.UnknownTopicOrPartition {
				t.Errorf("version %d: %+v", v, got)
			}
		}
	}
	byID := kmsg.NewMetadataRequestTopic()
	byID.TopicID = id
	if got := ask(12, []kmsg.MetadataRequestTopic{byID}, false).Topics[0]; got.Topic == nil || *got.Topic != "a" {
		t.Errorf("%+v", got)
	}
	byID.TopicID = uuid.New()
	if got := ask(12, []kmsg.MetadataRequestTopic{byID}, false).Topics[0]; got.ErrorCode != kafkaerr.UnknownTopicID {
		t.Errorf("%+v", got)
	}
	made := ask(9, named("new"), true).Topics[0]
	if made.ErrorCode != 0 || len(made.Partitions) != 1 || made.Partitions[0].Leader != 1 {
		t.Errorf("%+v", made)
	}
	if p := onlyPart(t, r.ask(produceRequest(9, "new", uuid.UUID{}, 0, batch(1, "at once")))); p.ErrorCode != 0 {
		t.Errorf("%+v", p)
	}
	if got := ask(9, named("bad/name"), true).Topics[0]; got.ErrorCode != kafkaerr.InvalidTopic {
		t.Errorf("%+v", got)
	}
}

// C51
func TestIdempotentProducersAreStoredOnceAlsoAcrossARestart(t *testing.T) {
	e := start(t)
	id := e.topic("t", 1)
	init := e.raw().ask(kmsg.NewPtrInitProducerIDRequest()).(*kmsg.InitProducerIDResponse)
	if init.ErrorCode != 0 || init.ProducerEpoch != 0 {
		t.Fatalf("%+v", init)
	}
	seq := func(n int32) []byte {
		var b recordbatch.Builder
		b.SetProducer(init.ProducerID, init.ProducerEpoch, n)
		b.Append(1, nil, fmt.Appendf(nil, "s%d", n), nil)
		return b.Build()
	}
	r := e.raw()
	send := func(n int32) kmsg.ProduceResponseTopicPartition {
		return onlyPart(t, r.ask(produceRequest(9, "t", id, 0, seq(n))))
	}
	for range 2 {
		for n := range int32(5) {
			if p := send(n); p.ErrorCode != 0 || p.BaseOffset != int64(n) {
				t.Fatalf("sequence %d: %+v", n, p)
			}
		}
	}
	e.close()
	e.open()
	r = e.raw()
	for n := range int32(5) {
		if p := send(n); p.ErrorCode != 0 || p.BaseOffset != int64(n) {
			t.Fatalf("after the restart, sequence %d: %+v", n, p)
		}
	}
	if p := send(7); p.ErrorCode != kafkaerr.OutOfOrderSequenceNumber {
		t.Fatalf("%+v", p)
	}
	// Five in flight, the first sent again behind them.
	type sent struct {
		req kmsg.Request
		id  int32
		seq int32
	}
	var flight []sent
	for _, n := range []int32{5, 6, 7, 8, 9, 5} {
		req := produceRequest(9, "t", id, 0, seq(n))
		flight = append(flight, sent{req, r.send(req), n})
	}
	for _, s := range flight {
		if p := onlyPart(t, r.recv(s.req, s.id)); p.ErrorCode != 0 || p.BaseOffset != int64(s.seq) {
			t.Fatalf("sequence %d: %+v", s.seq, p)
		}
	}
	p := onlyFetched(t, r.ask(fetchRequest1(12, "t", id, 0, 0)))
	if got := strings.Join(values(t, p.RecordBatches), " "); got != "s0 s1 s2 s3 s4 s5 s6 s7 s8 s9" {
		t.Fatal(got)
	}
}

func TestATransactionTimeoutMustBePositiveAndWithinTheLimit(t *testing.T) {
	e := start(t)
	for timeout, want := range map[int32]int16{
		-1: kafkaerr.InvalidTransactionTimeout, 0: kafkaerr.InvalidTransactionTimeout, 60_000: kafkaerr.None,
		int32(DefaultOptions().MaxTransactionTimeout.Milliseconds()) + 1: kafkaerr.InvalidTransactionTimeout,
	} {
		req := kmsg.NewPtrInitProducerIDRequest()
		req.Version, req.TransactionalID, req.TransactionTimeoutMillis = 4, kmsg.StringPtr("tx"), timeout
		if got := e.raw().ask(req).(*kmsg.InitProducerIDResponse); got.ErrorCode != want || (got.ProducerID < 0) != (want != kafkaerr.None) {
			t.Errorf("%d ms: %+v", timeout, got)
		}
	}
}

func TestOffsetForLeaderEpochKnowsTheOneEpoch(t *testing.T) {
	e := start(t)
	id := e.topic("t", 1)
	r := e.raw()
	r.ask(produceRequest(9, "t", id, 0, batch(1, "x", "y")))
	ask := func(current, epoch int32) kmsg.OffsetForLeaderEpochResponseTopicPartition {
		req := kmsg.NewPtrOffsetForLeaderEpochRequest()
		req.Version = 4
		ot := kmsg.NewOffsetForLeaderEpochRequestTopic()
		ot.Topic = "t"
		p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
		p.CurrentLeaderEpoch, p.LeaderEpoch = current, epoch
		ot.Partitions = append(ot.Partitions, p)
		req.Topics = append(req.Topics, ot)
		return r.ask(req).(*kmsg.OffsetForLeaderEpochResponse).Topics[0].Partitions[0]
	}
	if p := ask(0, 0); p.ErrorCode != 0 || p.EndOffset != 2 || p.LeaderEpoch != 0 {
		t.Errorf("%+v", p)
	}
	if p := ask(-1, 5); p.ErrorCode != 0 || p.EndOffset != -1 || p.LeaderEpoch != -1 {
		t.Errorf("%+v", p)
	}
	if p := ask(3, 0); p.ErrorCode != kafkaerr.UnknownLeaderEpoch {
		t.Errorf("%+v", p)
	}
}

// C62
func TestHostileSizesAndCountsEndTheConnection(t *testing.T) {
	e := start(t)
	for name, frame := range map[string][]byte{
		"size 0x7fffffff":    {0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 9, 0, 0, 0, 1},
		"negative size":      {0xff, 0xff, 0xff, 0xff},
		"tiny size":          {0, 0, 0, 3, 1, 2, 3},
		"unknown API":        {0, 0, 0, 10, 0, 99, 0, 0, 0, 0, 0, 1, 0xff, 0xff},
		"negative API":       {0, 0, 0, 10, 0xff, 0xff, 0, 0, 0, 0, 0, 1, 0xff, 0xff},
		"unknown version":    {0, 0, 0, 10, 0, 3, 0, 99, 0, 0, 0, 1, 0xff, 0xff},
		"huge topic count":   {0, 0, 0, 28, 0, 3, 0, 1, 0, 0, 0, 1, 0, 4, 'e', 'v', 'i', 'l', 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"huge compact count": {0, 0, 0, 24, 0, 3, 0, 9, 0, 0, 0, 1, 0xff, 0xff, 0, 0xff, 0xff, 0xff, 0xff, 0x07, 0, 0, 0, 0, 0, 0, 0, 0},
		"huge produce count": {0, 0, 0, 24, 0, 0, 0, 7, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0, 1, 0, 0, 0, 9, 0x7f, 0xff, 0xff, 0xff, 0, 0},
		"huge fetch count":   {0, 0, 0, 31, 0, 1, 0, 4, 0, 0, 0, 1, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff},
		"huge tag count":     {0, 0, 0, 19, 0, 18, 0, 3, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 2, 'a', 2, 'b'},
		"long client id":     {0, 0, 0, 12, 0, 3, 0, 1, 0, 0, 0, 1, 0x7f, 0xff, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := e.raw()
			r.t = t
			r.write(frame)
			r.closed()
		})
	}
	// And the server is well.
	if resp := e.raw().ask(kmsg.NewPtrApiVersionsRequest()).(*kmsg.ApiVersionsResponse); resp.ErrorCode != 0 {
		t.Fatalf("%+v", resp)
	}
}

// C63
func TestDecompressionBombsAreRefusedAndNothingIsStored(t *testing.T) {
	e := start(t)
	id := e.topic("t", 1)
	r := e.raw()
	zeros := make([]byte, 100<<20)
	for _, codec := range []int{recordbatch.Gzip, recordbatch.LZ4, recordbatch.Zstd} {
		b := recordbatch.Builder{Codec: codec}
		n := 65 << 20 // the limit is 64 MiB
		if codec == recordbatch.Zstd {
			n = len(zeros)
		}
		b.Append(1, nil, zeros[:n], nil)
		raw := b.Build()
		p := onlyPart(t, r.ask(produceRequest(9, "t", id, 0, raw)))
		if p.ErrorCode != kafkaerr.MessageTooLarge && p.ErrorCode != kafkaerr.InvalidRecord {
			t.Errorf("%s: %d bytes: %+v", recordbatch.CodecName(codec), len(raw), p)
		}
	}
	if e.end(id, 0) != 0 {
		t.Fatal("the log grew")
	}
}

func TestIdleConnectionsThatNeverAskedAreClosed(t *testing.T) {
	e := start(t, func(o *Options) { o.LoginTimeout = time.Millisecond })
	e.raw().closed()
}

func TestMoreConnectionsThanAllowedAreRefused(t *testing.T) {
	e := start(t, func(o *Options) { o.MaxConnections = 2 })
	a, b := e.raw(), e.raw()
	a.ask(kmsg.NewPtrApiVersionsRequest())
	b.ask(kmsg.NewPtrApiVersionsRequest())
	e.raw().closed()
	a.ask(kmsg.NewPtrApiVersionsRequest())
}

func TestAllOrNothingRefusesTheWholeRequest(t *testing.T) {
	for _, strict := range []bool{false, true} {
		e := start(t, func(o *Options) { o.ProduceAllOrNothing = strict })
		id := e.topic("t", 2)
		bad := batch(1, "bad")
		bad[len(bad)-1] ^= 1
		req := produceRequest(9, "t", id, 0, batch(1, "good"))
		second := req.Topics[0].Partitions[0]
		second.Partition, second.Records = 1, bad
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, second)
		parts := e.raw().ask(req).(*kmsg.ProduceResponse).Topics[0].Partitions
		good := int16(0)
		stored := int64(1)
		if strict {
			good, stored = kafkaerr.InvalidRecord, 0
		}
		if parts[0].ErrorCode != good || parts[1].ErrorCode != kafkaerr.CorruptMessage || e.end(id, 0) != stored || e.end(id, 1) != 0 {
			t.Errorf("strict %v: %+v", strict, parts)
		}
		// The same where the trouble is seen before the batches are.
		req = produceRequest(9, "t", id, 0, batch(1, "good"))
		second.Partition, second.Records = 7, batch(1, "good")
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, second)
		parts = e.raw().ask(req).(*kmsg.ProduceResponse).Topics[0].Partitions
		if parts[0].ErrorCode != good || parts[1].ErrorCode != kafkaerr.UnknownTopicOrPartition || e.end(id, 0) != 2*stored {
			t.Errorf("strict %v: %+v", strict, parts)
		}
	}
}

func TestARequestInPiecesIsReadWhole(t *testing.T) {
	e := start(t)
	id := e.topic("t", 1, "max.message.bytes", "9000000")
	value := strings.Repeat("0123456789abcdef", 200_000) // beyond the first steps of reading
	r := e.raw()
	frame := kmsg.NewRequestFormatter().AppendRequest(nil, produceRequest(9, "t", id, 0, batch(1, value)), 1)
	for len(frame) > 0 {
		n := min(len(frame), 70_001)
		r.write(frame[:n])
		frame = frame[n:]
	}
	if p := onlyPart(t, r.recv(produceRequest(9, "t", id, 0, nil), 1)); p.ErrorCode != 0 {
		t.Fatalf("%+v", p)
	}
	req := fetchRequest1(12, "t", id, 0, 0)
	if p := onlyFetched(t, r.ask(req)); values(t, p.RecordBatches)[0] != value {
		t.Fatal("another value came back")
	}
}

func TestRequestsOverTheLimitAreNotRead(t *testing.T) {
	e := start(t, func(o *Options) { o.MaxRequestBytes = 1000 })
	r := e.raw()
	r.write(kmsg.NewRequestFormatter().AppendRequest(nil, produceRequest(9, "t", uuid.UUID{}, 0, make([]byte, 2000)), 1))
	r.closed()
}

// accepted waits until a request of that key was read.
func (e *env) accepted(key int16) {
	e.t.Helper()
	reg := prometheus.NewRegistry()
	reg.MustRegister(e.srv.table[key].requests)
	for {
		families, err := reg.Gather()
		if err != nil {
			e.t.Fatal(err)
		}
		if families[0].Metric[0].GetCounter().GetValue() > 0 {
			return
		}
		runtime.Gosched()
	}
}

func TestCloseAnswersWhatWasAccepted(t *testing.T) {
	e := start(t)
	id := e.topic("t", 1)
	r := e.raw()
	poll := fetchRequest1(12, "t", id, 0, 0)
	poll.MaxWaitMillis = math.MaxInt32
	r.ask(kmsg.NewPtrApiVersionsRequest())
	n := r.send(poll)
	e.accepted(keyFetch)
	r2 := e.raw()
	r2.ask(kmsg.NewPtrApiVersionsRequest())
	done := make(chan struct{})
	go func() { defer close(done); e.close() }()
	if p := onlyFetched(t, r.recv(poll, n)); p.ErrorCode != 0 {
		t.Fatalf("%+v", p)
	}
	r.closed()
	r2.closed()
	<-done
}
