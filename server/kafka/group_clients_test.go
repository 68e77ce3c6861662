package kafka

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"millrace/server/kafka/api"
	"millrace/server/kafka/kafkaerr"

	"millrace/store/state"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// reading polls cl until done says that enough was seen, or the test's patience ends.
type reading struct {
	mu   sync.Mutex
	seen map[string]int // "partition/offset" -> times
}

func newReading() *reading { return &reading{seen: map[string]int{}} }

func (r *reading) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.seen)
}

func (r *reading) poll(ctx context.Context, cl *kgo.Client) int {
	fetches := cl.PollFetches(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	fetches.EachRecord(func(rec *kgo.Record) {
		r.seen[fmt.Sprintf("%d/%d", rec.Partition, rec.Offset)]++
		n++
	})
	return n
}

func consumerOpts(extra ...kgo.Opt) []kgo.Opt {
	return append([]kgo.Opt{
		kgo.ConsumerGroup("readers"), kgo.ConsumeTopics("t"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(), kgo.FetchMaxWait(250 * time.Millisecond), kgo.SessionTimeout(10 * time.Second), kgo.HeartbeatInterval(200 * time.Millisecond),
	}, extra...)
}

func TestTwoConsumersShareATopicAndTheOneLeftTakesOver(t *testing.T) {
	for name, opt := range map[string]kgo.Opt{
		"eager":       kgo.Balancers(kgo.RangeBalancer()),
		"cooperative": kgo.Balancers(kgo.CooperativeStickyBalancer()),
	} {
		t.Run(name, func(t *testing.T) {
			a := start(t)
			a.create("t", 4)
			a.produce("t", 4, 400)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			r := newReading()
			progress := make(chan struct{}, 1)
			tell := func() {
				select {
				case progress <- struct{}{}:
				default:
				}
			}
			assigned := kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) { tell() })
			one, two := a.client(consumerOpts(opt, assigned)...), a.client(consumerOpts(opt, assigned)...)
			var wg sync.WaitGroup
			both, stopBoth := context.WithCancel(ctx)
			for _, cl := range []*kgo.Client{one, two} {
				wg.Go(func() {
					for both.Err() == nil {
						if r.poll(both, cl) > 0 {
							_ = cl.CommitUncommittedOffsets(ctx)
							tell()
						}
					}
				})
			}
			// Both have partitions at some time, and everything is read.
			for r.count() < 400 || len(a.members("readers")) != 2 || a.state("readers") != "Stable" {
				select {
				case <-progress:
				case <-ctx.Done():
					t.Fatalf("%d records, %v", r.count(), a.members("readers"))
				}
			}
			stopBoth()
			wg.Wait()
			two.Close() // leaves
			a.produce("t", 4, 400)
			for r.count() < 800 {
				if ctx.Err() != nil {
					t.Fatalf("%d records", r.count())
				}
				if r.poll(ctx, one) > 0 {
					if err := one.CommitUncommittedOffsets(ctx); err != nil {
						t.Error(err)
					}
				}
			}
			if lag := a.lag("readers", "t"); lag != 0 {
				t.Errorf("lag %d", lag)
			}
		})
	}
}

func (e *env) members(name string) []string {
	d, _ := e.groups.Describe(name)
	var ids []string
	for _, m := range d.Members {
		ids = append(ids, m.ID)
	}
	return ids
}

func (e *env) state(name string) string {
	d, ok := e.groups.Describe(name)
	if !ok {
		return "none"
	}
	return d.State.String()
}

// lag is what the group has not committed of the topic.
func (e *env) lag(name, topic string) int64 {
	tp, ok := e.st.Topics().ByName(topic)
	if !ok {
		e.t.Fatalf("no topic %s", topic)
	}
	committed := e.groups.Committed(name)
	var lag int64
	for p := range tp.Partitions {
		key := partitionOf(tp, p)
		b, err := e.st.Bounds(key)
		if err != nil {
			e.t.Fatal(err)
		}
		lag += b.End - committed[key].Offset
	}
	return lag
}

func TestRestartedStaticConsumerKeepsItsPartitions(t *testing.T) {
	a := start(t)
	a.create("t", 2)
	a.produce("t", 2, 20)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	read := func(cl *kgo.Client, r *reading, n int) {
		for r.count() < n && ctx.Err() == nil {
			r.poll(ctx, cl)
		}
		if err := cl.CommitUncommittedOffsets(ctx); err != nil {
			t.Error(err)
		}
	}
	r := newReading()
	cl := a.client(consumerOpts(kgo.InstanceID("one"))...)
	read(cl, r, 20)
	before, _ := a.groups.Describe("readers")
	cl.Close() // a static member does not leave
	a.produce("t", 2, 20)
	cl = a.client(consumerOpts(kgo.InstanceID("one"))...)
	read(cl, r, 40)
	after, _ := a.groups.Describe("readers")
	if after.Generation != before.Generation || len(after.Members) != 1 || after.Members[0].ID == before.Members[0].ID {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
}

func TestConsumerReadsWithinItsFirstSeconds(t *testing.T) {
	a := start(t)
	a.create("t", 1)
	a.produce("t", 1, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	r := newReading()
	cl := a.client(consumerOpts()...)
	for r.count() == 0 && ctx.Err() == nil {
		r.poll(ctx, cl)
	}
	if r.count() != 1 {
		t.Error("nothing was read in 5 s")
	}
}

func TestGroupGoesOnAfterARestartOfTheServer(t *testing.T) {
	a := start(t)
	a.create("t", 2)
	a.produce("t", 2, 20)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r := newReading()
	cl := a.client(consumerOpts(kgo.InstanceID("one"))...)
	for r.count() < 20 && ctx.Err() == nil {
		r.poll(ctx, cl)
	}
	if err := cl.CommitUncommittedOffsets(ctx); err != nil {
		t.Fatal(err)
	}
	cl.Close()
	before, _ := a.groups.Describe("readers")
	a.close()

	a.open()
	after, ok := a.groups.Describe("readers")
	if !ok || after.Generation != before.Generation || len(after.Members) != 1 || after.State != before.State {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
	if lag := a.lag("readers", "t"); lag != 0 {
		t.Errorf("lag %d", lag)
	}
	a.produce("t", 2, 2)
	r = newReading()
	cl = a.client(consumerOpts(kgo.InstanceID("one"))...)
	for r.count() < 2 && ctx.Err() == nil {
		r.poll(ctx, cl)
	}
	if r.count() != 2 {
		t.Errorf("read %d records anew", r.count())
	}
}

func TestOffsetsByNameAndByID(t *testing.T) {
	a := start(t)
	topic := a.create("t", 2)
	c := a.raw()
	commit := func(version int16, partition int32, offset int64) int16 {
		metadata := fmt.Sprint("v", version)
		req := kmsg.NewPtrOffsetCommitRequest()
		req.Group, req.Generation, req.RetentionTimeMillis = "g", -1, -1
		req.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "t", TopicID: topic.ID, Partitions: []kmsg.OffsetCommitRequestTopicPartition{
			{Partition: partition, Offset: offset, LeaderEpoch: 0, Metadata: &metadata},
		}}}
		return c.ask(versioned(req, version)).(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode
	}
	for version := int16(2); version <= 10; version++ {
		if code := commit(version, 0, int64(version)); code != kafkaerr.None {
			t.Errorf("commit v%d: %d", version, code)
		}
		if code := commit(version, 2, 1); code != kafkaerr.UnknownTopicOrPartition {
			t.Errorf("commit v%d of partition 2: %d", version, code)
		}
		for fetch := int16(1); fetch <= 10; fetch++ {
			for _, all := range []bool{false, true} {
				if all && fetch < 2 {
					continue
				}
				req := kmsg.NewPtrOffsetFetchRequest()
				req.Group, req.RequireStable = "g", true
				group := kmsg.NewOffsetFetchRequestGroup()
				group.Group = "g"
				if !all {
					req.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "t", Partitions: []int32{0, 1}}}
					group.Topics = []kmsg.OffsetFetchRequestGroupTopic{{Topic: "t", TopicID: topic.ID, Partitions: []int32{0, 1}}}
				}
				other := kmsg.NewOffsetFetchRequestGroup()
				other.Group = "other"
				req.Groups = []kmsg.OffsetFetchRequestGroup{group, other}
				resp := c.ask(versioned(req, fetch)).(*kmsg.OffsetFetchResponse)
				var got []int64
				var metadata string
				for _, p := range v7Partitions(resp) {
					got, metadata = append(got, p.Offset), metadata+api.Deref(p.Metadata)
				}
				if fetch >= 8 {
					if len(resp.Groups) != 2 || len(resp.Groups[1].Topics) != 0 || resp.Groups[1].ErrorCode != kafkaerr.None {
						t.Errorf("fetch v%d: %+v", fetch, resp.Groups)
					}
					for _, p := range resp.Groups[0].Topics[0].Partitions {
						got, metadata = append(got, p.Offset), metadata+api.Deref(p.Metadata)
					}
				}
				want := []int64{int64(version), -1}
				if all {
					want = want[:1]
				}
				if !slices.Equal(got, want) || metadata != fmt.Sprint("v", version) {
					t.Errorf("commit v%d, fetch v%d, all %v: %v %q", version, fetch, all, got, metadata)
				}
			}
		}
	}
	// The committed offset of a deleted topic is gone, and a new topic has none.
	del := kmsg.NewPtrDeleteTopicsRequest()
	del.TopicNames = []string{"t"}
	c.ask(versioned(del, 5))
	a.create("t", 2)
	if got := a.groups.Committed("g"); len(got) != 0 {
		t.Errorf("left %v", got)
	}
}

func TestGroupsAreListedDescribedAndDeleted(t *testing.T) {
	a := start(t)
	a.create("t", 1)
	a.produce("t", 1, 1)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cl := a.client(consumerOpts(kgo.ClientID("c"))...)
	r := newReading()
	for r.count() == 0 && ctx.Err() == nil {
		r.poll(ctx, cl)
	}
	if err := cl.CommitUncommittedOffsets(ctx); err != nil {
		t.Fatal(err)
	}
	c := a.raw()
	list := func(states, types []string) []kmsg.ListGroupsResponseGroup {
		req := kmsg.NewPtrListGroupsRequest()
		req.StatesFilter, req.TypesFilter = states, types
		return c.ask(versioned(req, 5)).(*kmsg.ListGroupsResponse).Groups
	}
	if got := list(nil, nil); len(got) != 1 || got[0].Group != "readers" || got[0].GroupState != "Stable" || got[0].ProtocolType != "consumer" || got[0].GroupType != "classic" {
		t.Errorf("got %+v", got)
	}
	if len(list([]string{"Empty"}, nil)) != 0 || len(list([]string{"stable"}, []string{"Classic"})) != 1 || len(list(nil, []string{"consumer"})) != 0 {
		t.Error("filters do not work")
	}
	describe := kmsg.NewPtrDescribeGroupsRequest()
	describe.Groups, describe.IncludeAuthorizedOperations = []string{"readers"}, true
	d := c.ask(versioned(describe, 6)).(*kmsg.DescribeGroupsResponse).Groups[0]
	if d.State != "Stable" || len(d.Members) != 1 || d.Members[0].ClientID != "c" || d.Members[0].ClientHost != "/127.0.0.1" || len(d.Members[0].MemberAssignment) == 0 || d.AuthorizedOperations <= 0 {
		t.Errorf("got %+v", d)
	}
	deleteGroup := func() int16 {
		req := kmsg.NewPtrDeleteGroupsRequest()
		req.Groups = []string{"readers"}
		return c.ask(versioned(req, 2)).(*kmsg.DeleteGroupsResponse).Groups[0].ErrorCode
	}
	if code := deleteGroup(); code != kafkaerr.NonEmptyGroup {
		t.Errorf("deleting a group with members: %d", code)
	}
	offsetDelete := kmsg.NewPtrOffsetDeleteRequest()
	offsetDelete.Group = "readers"
	offsetDelete.Topics = []kmsg.OffsetDeleteRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 0}}}}
	if code := c.ask(offsetDelete).(*kmsg.OffsetDeleteResponse).Topics[0].Partitions[0].ErrorCode; code != kafkaerr.GroupSubscribedToTopic {
		t.Errorf("deleting an offset in use: %d", code)
	}
	cl.Close()
	if code := deleteGroup(); code != kafkaerr.None {
		t.Errorf("deleting an empty group: %d", code)
	}
	if len(list(nil, nil)) != 0 {
		t.Error("the group is still there")
	}
}

func TestFindCoordinatorNamesThisNode(t *testing.T) {
	a := start(t)
	c := a.raw()
	if len(a.st.Topics().All()) != 0 {
		t.Error("there are topics before anyone asked for a coordinator")
	}
	for version := int16(0); version <= 6; version++ {
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.CoordinatorKey, req.CoordinatorKeys = "g", []string{"g", "h"}
		resp := c.ask(versioned(req, version)).(*kmsg.FindCoordinatorResponse)
		host, port := resp.Host, resp.Port
		if version >= 4 {
			if len(resp.Coordinators) != 2 {
				t.Fatalf("v%d: %+v", version, resp)
			}
			host, port = resp.Coordinators[1].Host, resp.Coordinators[1].Port
		}
		if fmt.Sprintf("%s:%d", host, port) != a.addr {
			t.Errorf("v%d: %s:%d", version, host, port)
		}
		if _, ok := a.st.Topics().ByName("__consumer_offsets"); !ok {
			t.Errorf("v%d: no %s", version, "__consumer_offsets")
		}
	}
}

func v7Partitions(resp *kmsg.OffsetFetchResponse) []kmsg.OffsetFetchResponseTopicPartition {
	var all []kmsg.OffsetFetchResponseTopicPartition
	for _, t := range resp.Topics {
		all = append(all, t.Partitions...)
	}
	return all
}

func partitionOf(t state.Topic, p int32) state.TopicPartition {
	return state.TopicPartition{Topic: t.ID, Partition: p}
}
