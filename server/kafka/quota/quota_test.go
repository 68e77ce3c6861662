package quota

import (
	"context"
	"fmt"
	"testing"
	"time"

	"millrace/store/state"
)

// fake keeps documents in memory.
type fake struct {
	docs    map[string]state.Document
	version uint64
}

func (f *fake) Document(_, key string) (state.Document, bool) { d, ok := f.docs[key]; return d, ok }
func (f *fake) DocumentsVersion(string) uint64                { return f.version }
func (f *fake) Documents(string) (all []state.Document) {
	for _, d := range f.docs {
		all = append(all, d)
	}
	return all
}

func (f *fake) Commit(_ context.Context, intent state.Intent) (any, error) {
	p := intent.(state.PutDocument)
	if f.docs[p.Key].Version != p.ExpectVersion {
		return state.DocumentResult{Err: state.ErrVersionMismatch, Version: f.docs[p.Key].Version}, nil
	}
	f.version++
	if p.Data == nil {
		delete(f.docs, p.Key)
	} else {
		f.docs[p.Key] = state.Document{Kind: p.Kind, Key: p.Key, Version: f.version, Data: p.Data}
	}
	return state.DocumentResult{Version: f.version}, nil
}

func newQuotas(now *time.Time) *Quotas {
	return New(&fake{docs: map[string]state.Document{}}, func() time.Time { return *now })
}

func set(t *testing.T, q *Quotas, e Entity, name string, v float64) {
	t.Helper()
	if err := q.Change(context.Background(), e, map[string]*float64{name: &v}); err != nil {
		t.Fatal(err)
	}
}

func TestTheMostSpecificQuotaCountsInKafkasOrder(t *testing.T) {
	now := time.Unix(0, 0)
	q := newQuotas(&now)
	order := []Entity{
		{ClientID: DefaultPart},
		{ClientID: Named("c")},
		{User: DefaultPart},
		{User: DefaultPart, ClientID: DefaultPart},
		{User: DefaultPart, ClientID: Named("c")},
		{User: Named("u")},
		{User: Named("u"), ClientID: DefaultPart},
		{User: Named("u"), ClientID: Named("c")},
	}
	if _, _, ok := q.Limit(ProducerByteRate, "u", "c"); ok {
		t.Error("a limit without a quota")
	}
	for i, e := range order {
		set(t, q, e, ProducerByteRate, float64(i+1))
		got, counted, ok := q.Limit(ProducerByteRate, "u", "c")
		if !ok || got != float64(i+1) {
			t.Errorf("%d: %v %v", i, got, ok)
		}
		if counted.User.Default || counted.ClientID.Default || counted.User.Set != e.User.Set || counted.ClientID.Set != e.ClientID.Set {
			t.Errorf("%d: counted for %+v", i, counted)
		}
	}
	if got, _, _ := q.Limit(ProducerByteRate, "other", "x"); got != 4 {
		t.Errorf("somebody else has %v", got)
	}
	if _, _, ok := q.Limit(ConsumerByteRate, "u", "c"); ok {
		t.Error("reading was not limited")
	}
}

func TestARateIsKeptOverTime(t *testing.T) {
	now := time.Unix(0, 0)
	q := newQuotas(&now)
	set(t, q, Entity{User: DefaultPart}, ProducerByteRate, 1000)
	sent, start := 0, now
	for range 100 {
		wait := q.Charge(ProducerByteRate, "u", "c", 700)
		sent += 700
		now = now.Add(wait)
	}
	if took := now.Sub(start); took < 68*time.Second || took > 70*time.Second {
		t.Errorf("%d bytes took %v", sent, took)
	}
	if q.Charge(ProducerByteRate, "other", "c", 1000) != 0 {
		t.Error("users of the default are counted each for himself")
	}
	if got := q.Charge(ProducerByteRate, "greedy", "c", 1<<30); got != MaxThrottle {
		t.Error(got)
	}
}

func TestConnectionsOfAnAddressAreLimited(t *testing.T) {
	now := time.Unix(0, 0)
	q := newQuotas(&now)
	set(t, q, Entity{IP: Named("10.0.0.1")}, ConnectionCreationRate, 2)
	var got []time.Duration
	for range 4 {
		got = append(got, q.ChargeConnection("10.0.0.1"))
	}
	if fmt.Sprint(got) != "[0s 0s 500ms 1s]" || q.ChargeConnection("10.0.0.2") != 0 {
		t.Error(got)
	}
}

func TestAQuotaEndsWithItsLastLimit(t *testing.T) {
	now := time.Unix(0, 0)
	q := newQuotas(&now)
	e := Entity{User: Named(""), ClientID: DefaultPart}
	set(t, q, e, ProducerByteRate, 1)
	set(t, q, e, ConsumerByteRate, 2)
	if all := q.All(); len(all) != 1 || all[0].Entity != e || len(all[0].Values) != 2 {
		t.Errorf("%+v", all)
	}
	for _, name := range []string{ProducerByteRate, ConsumerByteRate, ConsumerByteRate} {
		if err := q.Change(context.Background(), e, map[string]*float64{name: nil}); err != nil {
			t.Fatal(err)
		}
	}
	if all := q.All(); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

func TestMutationsOfStrictClientsAreRefusedOnceTheyOwe(t *testing.T) {
	now := time.Unix(0, 0)
	q := newQuotas(&now)
	if wait, ok := q.ChargeMutations("u", "c", 1000, true); wait != 0 || !ok {
		t.Errorf("without a quota: %v %v", wait, ok)
	}
	set(t, q, Entity{User: Named("u")}, ControllerMutationRate, 2)
	for _, step := range []struct {
		n      int
		strict bool
		wait   time.Duration
		ok     bool
	}{
		{20, true, 0, true}, // of the 22 that may come at once
		{10, true, 0, true}, // brings it 8 into debt
		{1, true, 4 * time.Second, false},
		{1, true, 4 * time.Second, false}, // what is refused does not count
		{2, false, 5 * time.Second, true},
	} {
		if wait, ok := q.ChargeMutations("u", "c", step.n, step.strict); wait != step.wait || ok != step.ok {
			t.Errorf("%+v: %v %v", step, wait, ok)
		}
	}
	now = now.Add(5 * time.Second)
	if wait, ok := q.ChargeMutations("u", "c", 1, true); wait != 0 || !ok {
		t.Errorf("paid off, but %v %v", wait, ok)
	}
	if wait, _ := q.ChargeMutations("u", "c", 1<<30, false); wait != MaxThrottle {
		t.Error(wait)
	}
}

func TestWorkIsLimitedInPercentOfAProcessor(t *testing.T) {
	now := time.Unix(0, 0)
	q := newQuotas(&now)
	if q.Limits(RequestPercentage) {
		t.Error("nobody has a limit")
	}
	set(t, q, Entity{ClientID: Named("c")}, RequestPercentage, 25)
	if !q.Limits(RequestPercentage) {
		t.Error("somebody has a limit")
	}
	worked := time.Duration(0)
	for range 1000 {
		worked += 10 * time.Millisecond
		now = now.Add(10*time.Millisecond + q.ChargeWork("u", "c", 10*time.Millisecond))
	}
	if took := now.Sub(time.Unix(0, 0)); took < 38*time.Second || took > 41*time.Second {
		t.Errorf("%v of work took %v", worked, took)
	}
	if got := q.ChargeWork("u", "c", time.Hour); got != MaxWorkThrottle {
		t.Error(got)
	}
	if got := q.ChargeWork("u", "other", time.Hour); got != 0 {
		t.Error(got)
	}
}
