package group

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"millrace/store/state"

	"github.com/google/uuid"
)

func wantErr(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) || (want == nil && got != nil) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestNewcomerMustComeBackWithItsID(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		required := func(r *JoinRequest) { r.RequireMemberID = true }
		first := h.join("", required).get()
		wantErr(t, first.Err, ErrMemberIDRequired)
		if first.MemberID != "client-1" || first.Generation != -1 {
			t.Fatalf("got %+v", first)
		}
		again := h.join(first.MemberID, required)
		if again.done() {
			t.Fatal("answered before the initial delay was over")
		}
		time.Sleep(200 * time.Millisecond)
		r := again.get()
		if r.Err != nil || r.Generation != 1 || r.Leader != r.MemberID || len(r.Members) != 1 || r.Protocol != "range" || r.ProtocolType != "consumer" {
			t.Errorf("got %+v", r)
		}
	})
}

func TestPendingMemberThatStaysAwayIsForgottenWithItsGroup(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		h.join("", func(r *JoinRequest) { r.RequireMemberID = true }).get()
		if len(h.c.all()) != 1 {
			t.Fatal("no group")
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if len(h.c.all()) != 0 {
			t.Error("the group is still there")
		}
		wantErr(t, h.join("client-1").get().Err, ErrUnknownMember)
	})
}

func TestMembersThatComeDuringTheInitialDelayShareOneGeneration(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		a := h.join("")
		time.Sleep(150 * time.Millisecond)
		b := h.join("")
		time.Sleep(150 * time.Millisecond)
		if a.done() {
			t.Fatal("the delay was not extended for the newcomer")
		}
		time.Sleep(150 * time.Millisecond)
		if ra, rb := a.get(), b.get(); ra.Generation != 1 || rb.Generation != 1 || len(ra.Members) != 2 || len(rb.Members) != 0 || rb.Leader != ra.MemberID {
			t.Errorf("got %+v and %+v", ra, rb)
		}
	})
}

func TestAPendingMemberThatExpiresDoesNotCutTheInitialDelayShort(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		h.join("", func(r *JoinRequest) { r.RequireMemberID = true }).get() // its session: 10 s
		time.Sleep(10*time.Second - 50*time.Millisecond)
		a := h.join("")
		time.Sleep(100 * time.Millisecond)
		if a.done() {
			t.Fatal("joined after 100 ms")
		}
		b := h.join("")
		time.Sleep(400 * time.Millisecond)
		if ra, rb := a.get(), b.get(); ra.Generation != 1 || rb.Generation != 1 {
			t.Errorf("generations %d and %d", ra.Generation, rb.Generation)
		}
	})
}

func TestInitialDelayIsBoundedHoweverManyCome(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		first := h.join("")
		for range 40 {
			time.Sleep(100 * time.Millisecond)
			if first.done() {
				break
			}
			h.join("")
		}
		if r := first.get(); r.Err != nil || len(r.Members) < 29 || len(r.Members) > 31 {
			t.Errorf("got %d members, %v", len(r.Members), r.Err)
		}
	})
}

func TestFollowersWaitForTheLeaderAndOnlyTheLeaderAssigns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		joins := []*future[JoinResponse]{h.join(""), h.join("")}
		time.Sleep(time.Second)
		leader, follower := joins[0].get().MemberID, joins[1].get().MemberID
		f := h.sync(follower, 1, Assignment{follower, []byte("everything")})
		if f.done() {
			t.Fatal("a follower's assignment was taken")
		}
		l := h.sync(leader, 1, Assignment{leader, []byte("L")}, Assignment{follower, []byte("F")})
		if string(l.get().Assignment) != "L" || string(f.get().Assignment) != "F" || h.state() != Stable {
			t.Errorf("got %+v, %+v, %v", l.get(), f.get(), h.state())
		}
		// A follower may fetch its assignment again.
		if r := h.sync(follower, 1).get(); string(r.Assignment) != "F" {
			t.Errorf("got %+v", r)
		}
	})
}

func TestMembersTheLeaderLeavesOutHaveAnEmptyAssignment(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		joins := []*future[JoinResponse]{h.join(""), h.join("")}
		time.Sleep(time.Second)
		f := h.sync(joins[1].get().MemberID, 1)
		h.sync(joins[0].get().MemberID, 1, Assignment{"stranger", []byte("x")})
		if r := f.get(); r.Err != nil || len(r.Assignment) != 0 {
			t.Errorf("got %+v", r)
		}
	})
}

// TestGenerations is cases.md C58.
func TestGenerations(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		tp := h.st.topic("orders", 6)
		ids := h.stable(3)
		wantErr(t, h.commit(ids[1], 1, tp, 5).get().err, nil)

		errs, err := h.c.Leave("g", []Leaving{{MemberID: ids[2]}})
		if err != nil || errs[0] != nil {
			t.Fatal(errs, err)
		}
		// Joining: heartbeats ask to re-join; a sync of the old generation must, too.
		wantErr(t, h.heartbeat(ids[0], 1), ErrRebalanceInProgress)
		wantErr(t, h.sync(ids[1], 1).get().Err, ErrRebalanceInProgress)
		// The owners of the old generation may still commit what they did (Kafka does
		// the same: consumers commit as they give up their partitions).
		wantErr(t, h.commit(ids[1], 1, tp, 6).get().err, nil)

		joins := []*future[JoinResponse]{h.join(ids[0]), h.join(ids[1])}
		for _, j := range joins {
			if r := j.get(); r.Generation != 2 {
				t.Fatalf("got %+v", r)
			}
		}
		// Joined, not assigned: nobody owns anything.
		wantErr(t, h.commit(ids[1], 1, tp, 7).get().err, ErrRebalanceInProgress)
		wantErr(t, h.commit(ids[1], 2, tp, 7).get().err, ErrRebalanceInProgress)
		wantErr(t, h.heartbeat(ids[1], 1), ErrIllegalGeneration)

		h.finish(joins)
		wantErr(t, h.commit(ids[1], 1, tp, 8).get().err, ErrIllegalGeneration)
		wantErr(t, h.sync(ids[1], 1).get().Err, ErrIllegalGeneration)
		wantErr(t, h.heartbeat(ids[1], 1), ErrIllegalGeneration)
		wantErr(t, h.heartbeat(ids[1], 2), nil)
		wantErr(t, h.commit(ids[2], 2, tp, 8).get().err, ErrUnknownMember)
		if got := h.c.Committed("g")[tp].Offset; got != 6 {
			t.Errorf("committed offset is %d", got)
		}
		if d, _ := h.c.Describe("g"); d.Generation != 2 || len(d.Members) != 2 {
			t.Errorf("got %+v", d)
		}
	})
}

func TestSilentMemberIsExpiredAndTheOthersRebalance(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		ids := h.stable(2)
		for range 5 {
			time.Sleep(3 * time.Second)
			_ = h.heartbeat(ids[0], 1)
		}
		wantErr(t, h.heartbeat(ids[0], 1), ErrRebalanceInProgress)
		wantErr(t, h.heartbeat(ids[1], 1), ErrUnknownMember)
		r := h.join(ids[0]).get()
		if r.Err != nil || r.Generation != 2 || len(r.Members) != 1 {
			t.Errorf("got %+v", r)
		}
	})
}

func TestCommitsKeepTheSession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		tp := h.st.topic("orders", 1)
		ids := h.stable(1)
		for i := range 5 {
			time.Sleep(8 * time.Second)
			wantErr(t, h.commit(ids[0], 1, tp, int64(i)).get().err, nil)
		}
	})
}

func TestWhoDoesNotRejoinInTimeIsOut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		ids := h.stable(2)
		newcomer := h.join("")
		rejoin := h.join(ids[0])
		for range 10 { // ids[1] heartbeats, but never re-joins
			time.Sleep(3 * time.Second)
			_ = h.heartbeat(ids[1], 1)
		}
		synctest.Wait()
		if r := rejoin.get(); r.Err != nil || r.Generation != 2 || len(r.Members) != 2 {
			t.Errorf("got %+v", r)
		}
		newcomer.get()
		wantErr(t, h.heartbeat(ids[1], 1), ErrUnknownMember)
	})
}

func TestLeaderThatDoesNotRejoinIsReplaced(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		ids := h.stable(2)
		_, _ = h.c.Leave("g", []Leaving{{MemberID: ids[0]}})
		if r := h.join(ids[1]).get(); r.Leader != ids[1] || len(r.Members) != 1 {
			t.Errorf("got %+v", r)
		}
	})
}

func TestWhoDoesNotSyncInTimeIsOut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		joins := []*future[JoinResponse]{h.join(""), h.join("")}
		time.Sleep(time.Second)
		leader, other := joins[0].get().MemberID, joins[1].get().MemberID
		h.sync(leader, 1).get()
		for range 11 {
			time.Sleep(3 * time.Second)
			_ = h.heartbeat(leader, 1)
			_ = h.heartbeat(other, 1)
		}
		wantErr(t, h.heartbeat(other, 1), ErrUnknownMember)
		wantErr(t, h.heartbeat(leader, 1), ErrRebalanceInProgress)
	})
}

func TestJoinOfAStableGroup(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		ids := h.stable(2)
		// A follower whose answer was lost gets it again, without a rebalance.
		if r := h.join(ids[1]).get(); r.Err != nil || r.Generation != 1 || len(r.Members) != 0 {
			t.Errorf("got %+v", r)
		}
		if h.state() != Stable {
			t.Fatal(h.state())
		}
		// A follower with new metadata, and the leader at any time, rebalance.
		f := h.join(ids[1], withProtocols("range", "sticky"))
		if f.done() || h.state() != PreparingRebalance {
			t.Fatal(h.state())
		}
		l := h.join(ids[0])
		if l.get().Generation != 2 || f.get().Generation != 2 {
			t.Errorf("got %+v, %+v", l.get(), f.get())
		}
		h.finish([]*future[JoinResponse]{l, f})
		if h.join(ids[0]).done() || h.state() != PreparingRebalance {
			t.Error("the leader's join did not rebalance")
		}
	})
}

func TestLostJoinAnswerIsGivenAgainWhileAssigning(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		j := h.join("")
		time.Sleep(time.Second)
		id := j.get().MemberID
		if r := h.join(id).get(); r.Generation != 1 || len(r.Members) != 1 || h.state() != CompletingRebalance {
			t.Errorf("got %+v", r)
		}
	})
}

func TestRepeatedJoinReplacesTheOneThatWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		ids := h.stable(2)
		first := h.join(ids[0])
		second := h.join(ids[0])
		wantErr(t, first.get().Err, ErrRebalanceInProgress)
		h.join(ids[1])
		wantErr(t, second.get().Err, nil)
	})
}

func TestProtocolIsChosenByVotes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		a := h.join("", withProtocols("range", "sticky", "only-a"))
		h.join("", withProtocols("sticky", "range"))
		h.join("", withProtocols("sticky", "range"))
		time.Sleep(time.Second)
		if r := a.get(); r.Protocol != "sticky" {
			t.Errorf("got %s", r.Protocol)
		}
	})
}

func TestIncompatibleMembersAreRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		h.stable(1)
		for name, o := range map[string]joinOption{
			"no common protocol": withProtocols("sticky"),
			"no protocol":        withProtocols(),
			"another type":       func(r *JoinRequest) { r.ProtocolType = "connect" },
		} {
			if r := h.join("", o).get(); !errors.Is(r.Err, ErrInconsistentProtocol) {
				t.Errorf("%s: got %v", name, r.Err)
			}
		}
		if h.state() != Stable {
			t.Error("the group was disturbed")
		}
		wantErr(t, h.join("", func(r *JoinRequest) { r.Group = "h"; r.ProtocolType = "" }).get().Err, ErrInconsistentProtocol)
		if len(h.c.all()) != 1 {
			t.Error("a refused join left a group behind")
		}
	})
}

func TestBadRequestsAreRefusedByTheirFault(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		wantErr(t, h.join("", func(r *JoinRequest) { r.Group = "" }).get().Err, ErrInvalidGroupID)
		wantErr(t, h.join("", sessions(time.Second, 0)).get().Err, ErrInvalidSessionTimeout)
		wantErr(t, h.join("", sessions(time.Hour, 0)).get().Err, ErrInvalidSessionTimeout)
		wantErr(t, h.join("stranger").get().Err, ErrUnknownMember)
		wantErr(t, h.sync("stranger", 1).get().Err, ErrUnknownMember)
		wantErr(t, h.heartbeat("stranger", 1), ErrUnknownMember)
		wantErr(t, h.c.Heartbeat(HeartbeatRequest{}), ErrInvalidGroupID)
		_, err := h.c.Leave("", nil)
		wantErr(t, err, ErrInvalidGroupID)
		errs, err := h.c.Leave("nope", []Leaving{{MemberID: "m"}})
		if err != nil || !errors.Is(errs[0], ErrUnknownMember) {
			t.Error(errs, err)
		}
		ids := h.stable(1)
		f := &future[SyncResponse]{t: t}
		h.c.Sync(SyncRequest{Group: "g", MemberID: ids[0], Generation: 1, ProtocolType: "connect"}, f.set)
		wantErr(t, f.get().Err, ErrInconsistentProtocol)
	})
}

func TestRestartedStaticMemberKeepsItsAssignmentWithoutRebalance(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		joins := []*future[JoinResponse]{h.join("", instance("one")), h.join("", instance("two"))}
		time.Sleep(time.Second)
		ids := h.finish(joins)
		r := h.join("", instance("two")).get()
		if r.Err != nil || r.Generation != 1 || r.MemberID == ids[1] || r.Leader != ids[0] || r.SkipAssignment || h.state() != Stable {
			t.Fatalf("got %+v in %v", r, h.state())
		}
		if s := h.sync(r.MemberID, 1).get(); string(s.Assignment) != "a1" {
			t.Errorf("got %+v", s)
		}
		hb := func(id string) error {
			return h.c.Heartbeat(HeartbeatRequest{Group: "g", MemberID: id, InstanceID: "two", Generation: 1})
		}
		wantErr(t, hb(ids[1]), ErrFencedInstance)
		wantErr(t, hb(r.MemberID), nil)
		wantErr(t, h.join(ids[1], instance("two")).get().Err, ErrFencedInstance)
		wantErr(t, h.join(r.MemberID, instance("three")).get().Err, ErrUnknownMember)
	})
}

func TestReturningStaticLeaderSkipsTheAssignment(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		joins := []*future[JoinResponse]{h.join("", instance("one")), h.join("", instance("two"))}
		time.Sleep(time.Second)
		ids := h.finish(joins)
		r := h.join("", instance("one")).get()
		if !r.SkipAssignment || r.Leader != r.MemberID || len(r.Members) != 2 {
			t.Errorf("v9: got %+v", r)
		}
		// An older client must not believe that it leads.
		r2 := h.join("", instance("one"), func(r *JoinRequest) { r.SkipAssignment = false }).get()
		if r2.SkipAssignment || r2.Leader != r.MemberID || r2.Leader == r2.MemberID || len(r2.Members) != 0 {
			t.Errorf("v8: got %+v", r2)
		}
		_ = ids
	})
}

func TestStaticMemberReplacedWhileItsFormerSelfWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		joins := []*future[JoinResponse]{h.join("", instance("one")), h.join("", instance("two"))}
		time.Sleep(time.Second)
		ids := h.finish(joins)
		h.join(ids[0], instance("one")) // the leader rebalances
		old := h.join(ids[1], instance("two"))
		_ = old
		// Both re-joined: the group is assigning. The replacement forces another round.
		replaced := h.join("", instance("two"))
		if replaced.done() || h.state() != PreparingRebalance {
			t.Fatalf("in %v", h.state())
		}
		l := h.join(ids[0], instance("one"))
		if l.get().Generation != 3 || replaced.get().Generation != 3 {
			t.Errorf("got %+v", l.get())
		}
	})
}

func TestStaticReplacementThatIsNotStoredIsTakenBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		j := h.join("", instance("one"))
		time.Sleep(time.Second)
		ids := h.finish([]*future[JoinResponse]{j})
		h.st.setFailure(errors.New("disk on fire"))
		wantErr(t, h.join("", instance("one")).get().Err, ErrStorage)
		h.st.setFailure(nil)
		wantErr(t, h.c.Heartbeat(HeartbeatRequest{Group: "g", MemberID: ids[0], InstanceID: "one", Generation: 1}), nil)
	})
}

func TestStaticMemberMayStayAwayForItsSession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		joins := []*future[JoinResponse]{h.join("", instance("one")), h.join("")}
		time.Sleep(time.Second)
		h.finish(joins)
		d, _ := h.c.Describe("g")
		dynamic := d.Members[1].ID
		for range 4 {
			time.Sleep(3 * time.Second)
			_ = h.heartbeat(dynamic, 1)
		}
		if d, _ := h.c.Describe("g"); len(d.Members) != 1 || d.State != PreparingRebalance {
			t.Errorf("got %+v", d)
		}
	})
}

func TestStaticMemberWhoseSyncWasCutShortExpiresAfterAll(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		joins := []*future[JoinResponse]{h.join("", sessions(10*time.Second, 20*time.Second)), h.join("", instance("one"), sessions(10*time.Second, 20*time.Second))}
		time.Sleep(time.Second)
		leader, static := joins[0].get().MemberID, joins[1].get().MemberID
		// It waits for the leader's assignment for longer than its session, then the
		// leader leaves, and it is not heard of again.
		s := &future[SyncResponse]{t: t}
		h.c.Sync(SyncRequest{Group: "g", MemberID: static, InstanceID: "one", Generation: 1}, s.set)
		for range 4 {
			time.Sleep(3 * time.Second)
			_ = h.heartbeat(leader, 1)
		}
		_, _ = h.c.Leave("g", []Leaving{{MemberID: leader}})
		wantErr(t, s.get().Err, ErrRebalanceInProgress)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if d, _ := h.c.Describe("g"); d.State != Empty {
			t.Errorf("got %+v", d)
		}
	})
}

func TestAdministratorRemovesAStaticMemberByInstance(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		joins := []*future[JoinResponse]{h.join("", instance("one")), h.join("", instance("two"))}
		time.Sleep(time.Second)
		ids := h.finish(joins)
		errs, err := h.c.Leave("g", []Leaving{
			{InstanceID: "two", Reason: "scale in"},
			{InstanceID: "three"},
			{MemberID: "x"},
			{MemberID: "stale", InstanceID: "one"},
			{},
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []error{nil, ErrUnknownMember, ErrUnknownMember, ErrFencedInstance, ErrUnknownMember} {
			wantErr(t, errs[i], want)
		}
		if r := h.join(ids[0], instance("one")).get(); r.Generation != 2 || len(r.Members) != 1 {
			t.Errorf("got %+v", r)
		}
	})
}

func TestLastMemberLeavesAnEmptyGroupOneGenerationOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		ids := h.stable(1)
		if _, err := h.c.Leave("g", []Leaving{{MemberID: ids[0]}}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if d, ok := h.c.Describe("g"); !ok || d.State != Empty || d.Generation != 2 || d.ProtocolType != "consumer" {
			t.Errorf("got %+v", d)
		}
		if _, active, _ := h.st.st.Group("g"); active {
			t.Error("stored as a group with members")
		}
		j := h.join("")
		time.Sleep(time.Second)
		if r := j.get(); r.Generation != 3 {
			t.Errorf("got %+v", r)
		}
	})
}

func TestAssignmentIsAnsweredOnlyWhenItIsDurable(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		j := h.join("")
		time.Sleep(time.Second)
		id := j.get().MemberID
		h.st.hold()
		s := h.sync(id, 1, Assignment{id, []byte("A")})
		if s.done() || h.state() != CompletingRebalance {
			t.Fatalf("in %v", h.state())
		}
		h.st.release()
		if string(s.get().Assignment) != "A" || h.state() != Stable {
			t.Errorf("got %+v", s.get())
		}
	})
}

func TestRebalanceOvertakesAnAssignmentOnItsWayToTheStore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		j := h.join("")
		time.Sleep(time.Second)
		id := j.get().MemberID
		h.st.hold()
		s := h.sync(id, 1, Assignment{id, []byte("A")})
		newcomer := h.join("")
		wantErr(t, s.get().Err, ErrRebalanceInProgress)
		h.st.release()
		synctest.Wait()
		if h.state() != PreparingRebalance {
			t.Fatalf("in %v", h.state())
		}
		if r := h.join(id).get(); r.Generation != 2 || newcomer.get().Generation != 2 {
			t.Errorf("got %+v", r)
		}
	})
}

func TestAssignmentThatCannotBeStoredFailsTheSyncs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		joins := []*future[JoinResponse]{h.join(""), h.join("")}
		time.Sleep(time.Second)
		f := h.sync(joins[1].get().MemberID, 1)
		h.st.setFailure(errors.New("disk on fire"))
		l := h.sync(joins[0].get().MemberID, 1)
		wantErr(t, l.get().Err, ErrStorage)
		wantErr(t, f.get().Err, ErrStorage)
		if h.state() != PreparingRebalance {
			t.Errorf("in %v", h.state())
		}
	})
}

func TestOversizedGroupIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		j := h.join("")
		time.Sleep(time.Second)
		id := j.get().MemberID
		wantErr(t, h.sync(id, 1, Assignment{id, make([]byte, maxGroupDataBytes)}).get().Err, ErrGroupDataTooLarge)
	})
}

func TestRestartKeepsTheGenerationAndGivesEveryoneAFullSession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		joins := []*future[JoinResponse]{h.join("", instance("one")), h.join("")}
		time.Sleep(time.Second)
		ids := h.finish(joins)
		time.Sleep(9 * time.Second)
		h.c.Close()

		h = newHarnessOver(t, h.st, Options{NewMemberIDSuffix: func() string { return "new" }})
		if h.state() != Stable {
			t.Fatalf("in %v", h.state())
		}
		time.Sleep(9 * time.Second) // more than was left of the sessions
		wantErr(t, h.c.Heartbeat(HeartbeatRequest{Group: "g", MemberID: ids[0], InstanceID: "one", Generation: 1}), nil)
		wantErr(t, h.heartbeat(ids[1], 1), nil)
		if s := h.sync(ids[1], 1).get(); string(s.Assignment) != "a1" {
			t.Errorf("got %+v", s)
		}
		// A join with unchanged metadata goes on as before.
		if r := h.join(ids[1]).get(); r.Generation != 1 || r.Leader != ids[0] {
			t.Errorf("got %+v", r)
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if h.state() != Empty {
			t.Errorf("in %v", h.state())
		}
	})
}

func TestRestartKeepsTheGenerationOfAnEmptyGroup(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		ids := h.stable(1)
		_, _ = h.c.Leave("g", []Leaving{{MemberID: ids[0]}})
		h.c.Close()
		h = newHarnessOver(t, h.st, Options{})
		if d, ok := h.c.Describe("g"); !ok || d.State != Empty || d.Generation != 2 {
			t.Errorf("got %+v", d)
		}
	})
}

func TestCommitsOfSimpleConsumers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		tp := h.st.topic("orders", 1)
		wantErr(t, h.commit("m", 3, tp, 1).get().err, ErrGroupNotFound)
		wantErr(t, h.commit("", -1, tp, 1).get().err, nil)
		if d, ok := h.c.Describe("g"); !ok || d.State != Empty || d.ProtocolType != "" {
			t.Errorf("got %+v", d)
		}
		wantErr(t, h.commit("m", 3, tp, 1).get().err, ErrUnknownMember)
		ids := h.stable(1)
		wantErr(t, h.commit("", -1, tp, 2).get().err, ErrUnknownMember)
		wantErr(t, h.commit(ids[0], -1, tp, 2).get().err, ErrIllegalGeneration)
		_, _ = h.c.Leave("g", []Leaving{{MemberID: ids[0]}})
		wantErr(t, h.commit("", -1, tp, 3).get().err, nil)
		unknown := state.TopicPartition{Topic: uuid.New()}
		if a := h.commit("", -1, unknown, 3).get(); a.err != nil || !errors.Is(a.errs[0], state.ErrUnknownTopic) {
			t.Errorf("got %+v", a)
		}
		f := &future[commitAnswer]{t: t}
		h.c.Commit(CommitRequest{Group: "g", Generation: -1, Offsets: []state.OffsetCommit{
			{TopicPartition: tp, Offset: 9, Metadata: string(make([]byte, 4097)), ExpireAt: -1},
			{TopicPartition: tp, Offset: 4, Metadata: string(make([]byte, 4096)), ExpireAt: -1},
		}}, func(errs []error, err error) { f.set(commitAnswer{errs, err}) })
		if a := f.get(); !errors.Is(a.errs[0], ErrMetadataTooLarge) || a.errs[1] != nil || h.c.Committed("g")[tp].Offset != 4 {
			t.Errorf("got %+v", a)
		}
	})
}

func TestDeletingGroups(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		del := func(name string) error {
			f := &future[error]{t: t}
			h.c.Delete(name, f.set)
			return f.get()
		}
		wantErr(t, del("g"), ErrGroupNotFound)
		tp := h.st.topic("orders", 1)
		h.commit("", -1, tp, 1).get()
		wantErr(t, del("g"), nil)
		if _, ok := h.c.Describe("g"); ok {
			t.Error("the simple group is still there")
		}
		ids := h.stable(1)
		wantErr(t, del("g"), ErrNonEmptyGroup)
		h.commit(ids[0], 1, tp, 1).get()
		_, _ = h.c.Leave("g", []Leaving{{MemberID: ids[0]}})
		h.st.setFailure(errors.New("disk on fire"))
		wantErr(t, del("g"), ErrStorage)
		h.st.setFailure(nil)
		if h.state() != Empty {
			t.Error("a failed deletion took the group")
		}
		wantErr(t, del("g"), nil)
		if len(h.c.List()) != 0 || len(h.c.Committed("g")) != 0 {
			t.Error("the group is still there")
		}
	})
}

func TestDeletingOffsetsSparesSubscribedTopics(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		orders, old := h.st.topic("orders", 1), h.st.topic("old", 1)
		del := func() commitAnswer {
			f := &future[commitAnswer]{t: t}
			h.c.DeleteOffsets("g", []OffsetDeletion{{orders, "orders"}, {old, "old"}}, func(errs []error, err error) { f.set(commitAnswer{errs, err}) })
			return f.get()
		}
		wantErr(t, del().err, ErrGroupNotFound)
		ids := h.stable(1)
		h.commit(ids[0], 1, orders, 1).get()
		h.commit(ids[0], 1, old, 1).get()
		if a := del(); a.err != nil || !errors.Is(a.errs[0], ErrSubscribedToTopic) || a.errs[1] != nil {
			t.Errorf("got %+v", a)
		}
		if got := h.c.Committed("g"); len(got) != 1 {
			t.Errorf("left %v", got)
		}
		_, _ = h.c.Leave("g", []Leaving{{MemberID: ids[0]}})
		if a := del(); a.err != nil || a.errs[0] != nil || len(h.c.Committed("g")) != 0 {
			t.Errorf("got %+v", a)
		}
	})
}

func TestGroupHasALargestSize(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{MaxSize: 2})
		ids := h.stable(2)
		wantErr(t, h.join("").get().Err, ErrGroupMaxSize)
		wantErr(t, h.join(ids[1]).get().Err, nil)
		if h.state() != Stable {
			t.Error("the group was disturbed")
		}
	})
}

func TestNumberOfGroupsIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{MaxGroups: 1})
		h.join("")
		wantErr(t, h.join("", func(r *JoinRequest) { r.Group = "other" }).get().Err, ErrTooManyGroups)
	})
}

func TestOldOffsetsExpireOnlyWithoutMembers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		tp := h.st.topic("orders", 1)
		ids := h.stable(1, sessions(30*time.Minute, 0))
		h.commit(ids[0], 1, tp, 1).get()
		for range 8 * 24 * 3 {
			time.Sleep(20 * time.Minute)
			_ = h.heartbeat(ids[0], 1)
		}
		h.c.Expire()
		if len(h.c.Committed("g")) != 1 {
			t.Fatal("offsets of a group with members expired")
		}
		_, _ = h.c.Leave("g", []Leaving{{MemberID: ids[0]}})
		time.Sleep(6 * 24 * time.Hour)
		h.c.Expire()
		if len(h.c.Committed("g")) != 1 {
			t.Fatal("offsets expired too early")
		}
		time.Sleep(25 * time.Hour)
		h.c.Expire()
		if len(h.c.List()) != 0 || len(h.c.all()) != 0 {
			t.Errorf("left %v", h.c.List())
		}
	})
}

func TestAnyProtocolTypeIsOpaque(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		connect := func(r *JoinRequest) {
			r.ProtocolType = "connect"
			r.Protocols = []Protocol{{"sessioned", []byte{0xff}}, {"compatible", nil}}
		}
		j := h.join("", connect)
		time.Sleep(time.Second)
		r := j.get()
		if r.Protocol != "sessioned" || string(r.Members[0].Metadata) != "\xff" {
			t.Errorf("got %+v", r)
		}
		h.sync(r.MemberID, 1, Assignment{r.MemberID, []byte{0, 0xff}}).get()
		if d, _ := h.c.Describe("g"); d.ProtocolType != "connect" || d.Protocol != "sessioned" || string(d.Members[0].Assignment) != "\x00\xff" {
			t.Errorf("got %+v", d)
		}
		f := &future[commitAnswer]{t: t}
		h.c.DeleteOffsets("g", nil, func(errs []error, err error) { f.set(commitAnswer{errs, err}) })
		wantErr(t, f.get().err, ErrNonEmptyGroup)
	})
}

func TestCloseAnswersEveryoneWhoWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHarness(t, Options{})
		j := h.join("")
		h.c.Close()
		wantErr(t, j.get().Err, ErrClosed)
		wantErr(t, h.join("").get().Err, ErrClosed)
		wantErr(t, h.heartbeat("m", 1), ErrClosed)
		h.c.Close()
	})
}

func TestTenThousandWaitingGroupsNeedNoGoroutines(t *testing.T) {
	st := newFakeStore()
	c, err := New(st, Options{InitialRebalanceDelay: time.Hour, MaxInitialRebalanceDelay: time.Hour, DisableExpirationLoop: true})
	if err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	for i := range 10_000 {
		c.Join(JoinRequest{
			Group: fmt.Sprintf("g%d", i), SessionTimeout: 10 * time.Second,
			ProtocolType: "consumer", Protocols: protocols("range"),
		}, func(JoinResponse) {})
	}
	if n := runtime.NumGoroutine() - before; n > 10 {
		t.Errorf("%d goroutines", n)
	}
	c.Close()
}

func FuzzRestore(f *testing.F) {
	g := newGroup(nil, "g")
	g.protocolType, g.protocol, g.leader, g.generation = "consumer", "range", "m", 3
	m := &member{id: "m", instanceID: "i", clientID: "c", clientHost: "h", protocols: protocols("range"), assignment: []byte("a")}
	g.members["m"], g.order = m, []*member{m}
	f.Add(g.encode())
	f.Add([]byte{1, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &Coordinator{opts: Options{MinSessionTimeout: time.Hour}, groups: map[string]*group{}}
		g, err := c.restore("g", data)
		if err != nil {
			return
		}
		for _, m := range g.order {
			m.timer.Stop()
		}
		again, err := c.restore("g", g.encode())
		if err != nil || len(again.order) != len(g.order) || again.generation != g.generation {
			t.Errorf("does not survive a round trip: %v", err)
		}
		for _, m := range again.order {
			m.timer.Stop()
		}
	})
}
