package scan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"millrace/blobexpand"
	"millrace/internal/recordbatch"
	"millrace/store/state"

	"pgregory.net/rapid"
)

// addKeyed appends one batch; a key of "-" is absent, a value of "-" a tombstone.
func (s *fakeSource) addKeyed(p int32, codec int, recs ...rec) {
	b := recordbatch.Builder{Codec: codec}
	for _, r := range recs {
		key, value := []byte(r.key), []byte(r.value)
		if r.key == "-" {
			key = nil
		}
		if r.value == "-" {
			value = nil
		}
		b.Append(r.ts, key, value, nil)
	}
	raw := b.Build()
	recordbatch.SetBaseOffset(raw, s.end(p))
	if s.batches == nil {
		s.batches = make(map[int32][][]byte)
	}
	s.batches[p] = append(s.batches[p], raw)
}

// damage makes the records of a partition's last batch undecodable.
func (s *fakeSource) damage(p int32) {
	all := s.batches[p]
	raw := all[len(all)-1]
	for i := recordbatch.HeaderBytes; i < len(raw); i++ {
		raw[i] = 0xff
	}
}

func TestTheLatestRowOfAKeyIsItsNewestRecordUnlessThatIsATombstone(t *testing.T) {
	s := &fakeSource{}
	s.addKeyed(0, recordbatch.None, rec{1000, "a", "1"}, rec{1000, "b", "1"}, rec{1000, "-", "no key"})
	s.addKeyed(0, recordbatch.Zstd, rec{1000, "a", "2"}, rec{1000, "", "empty key"}, rec{1000, "c", "1"}, rec{1000, "c", ""})
	s.addKeyed(0, recordbatch.None, rec{1000, "b", "-"})
	s.addKeyed(1, recordbatch.None, rec{1000, "a", "other partition"})
	src := Latest(s)
	req := Request{Source: src, Table: table(2), Columns: []Column{colPartition, colOffset, colKey, colValue}}
	got, _ := rows(t, req)
	expect(t, got, "0,3,a,2", "0,4,,empty key", "0,6,c,", "1,0,a,other partition")
	req.Reverse = true
	got, _ = rows(t, req)
	expect(t, got, "0,6,c,", "0,4,,empty key", "0,3,a,2", "1,0,a,other partition")
	req.PartitionLimit = 1
	got, _ = rows(t, req)
	expect(t, got, "0,6,c,", "1,0,a,other partition")
	if _, ok, err := CountFromBounds(&Request{Source: src, Table: table(2)}); ok || err != nil {
		t.Error("counted from bounds", err)
	}
}

func TestAFilterNeverBringsBackARecordThatIsNotTheLatestOfItsKey(t *testing.T) {
	s := &fakeSource{}
	s.addKeyed(0, recordbatch.None, rec{1000, "a", `{"x":1}`}, rec{2000, "b", `{"x":1}`})
	s.addKeyed(0, recordbatch.None, rec{3000, "a", `{"x":2}`})
	s.addKeyed(0, recordbatch.None, rec{4000, "b", "-"})
	tab := table(1, column("x", blobexpand.Int64))
	for name, c := range map[string]struct {
		filter Expr
		want   []string
	}{
		"value":     {Compare{expanded(0), EQ, Literal{Int: 1}}, nil},
		"offset":    {Compare{colOffset, LT, Literal{Int: 2}}, nil},
		"timestamp": {Compare{colTimestamp, LE, Literal{Int: 2000}}, nil},
		"key":       {Compare{colKey, EQ, Literal{String: "a"}}, []string{"2,a,2"}},
		"later":     {Compare{colTimestamp, GE, Literal{Int: 3000}}, []string{"2,a,2"}},
	} {
		got, _ := rows(t, Request{Source: Latest(s), Table: tab, Columns: []Column{colOffset, colKey, expanded(0)}, Filter: c.filter})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestRecordsThatCannotBeDecodedStayAmongTheLatestWithTheirError(t *testing.T) {
	s := &fakeSource{}
	s.addKeyed(0, recordbatch.None, rec{1000, "a", `{"x":1}`})
	s.addKeyed(0, recordbatch.None, rec{1000, "a", `{"x":2}`}, rec{1000, "b", `{"x":2}`})
	s.damage(0)
	s.addKeyed(0, recordbatch.None, rec{1000, "c", `{"x":3}`})
	tab := table(1, column("x", blobexpand.Int64))
	req := Request{Source: Latest(s), Table: tab, Columns: []Column{colOffset, colKey, expanded(0), colError}}
	got, _ := rows(t, req)
	if len(got) != 4 || got[0] != "0,a,1,(null)" || !strings.HasPrefix(got[1], "1,(null),(null),") || strings.HasSuffix(got[2], "(null)") || got[3] != "3,c,3,(null)" {
		t.Errorf("%q", got)
	}
	req.Columns = []Column{colOffset} // from the headers alone
	got, _ = rows(t, req)
	expect(t, got, "0", "1", "2", "3")
}

// Whatever there is and however little memory: the same rows as a map of all keys gives.
func TestTheLatestRowsDoNotDependOnTheMemoryThereIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &fakeSource{start: rapid.Int64Range(0, 20).Draw(t, "start")}
		keys := rapid.IntRange(1, 300).Draw(t, "keys")
		model := map[string]string{}
		for range rapid.IntRange(1, 20).Draw(t, "batches") {
			var recs []rec
			at := s.end(0)
			for i := range rapid.IntRange(1, 60).Draw(t, "records") {
				k := fmt.Sprintf("key-%d", rapid.IntRange(0, keys).Draw(t, "key"))
				v := rapid.SampledFrom([]string{"v", "-", ""}).Draw(t, "value")
				recs = append(recs, rec{int64(1000 + i), k, v})
				if o := at + int64(i); o >= s.start {
					model[k] = fmt.Sprintf("%d,%s,%s", o, k, v)
					if v == "-" {
						delete(model, k)
					}
				}
			}
			s.addKeyed(0, rapid.SampledFrom([]int{recordbatch.None, recordbatch.LZ4}).Draw(t, "codec"), recs...)
		}
		want := make([]string, 0, len(model))
		for _, v := range model {
			want = append(want, v)
		}
		src := latestSource{s, rapid.Int64Range(minLatestSlots*latestSlotBytes, 20_000).Draw(t, "memory")}
		tp := state.TopicPartition{}
		set, err := src.newest(context.Background(), tp)
		if err != nil {
			t.Fatal(err)
		}
		src.memory = latestMemoryBytes
		all, err := src.newest(context.Background(), tp)
		if err != nil {
			t.Fatal(err)
		}
		for o := range s.end(0) {
			if set.has(o) != all.has(o) || set.has(o) != set.any(o, o) {
				t.Fatalf("offset %d: %v with little memory, %v with much", o, set.has(o), all.has(o))
			}
		}
		r, err := Open(Request{Source: src, Table: table(1), Columns: []Column{colOffset, colKey, colValue}})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var got []string
		for {
			b, err := r.Next(context.Background())
			if err != nil {
				break
			}
			for i := range int(b.NumRows()) {
				got = append(got, fmt.Sprintf("%s,%s,%s", b.Column(0).ValueStr(i), b.Column(1).ValueStr(i), b.Column(2).ValueStr(i)))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestKeysWithOneHashAreToldApart(t *testing.T) {
	k := newLatestKeys(1 << 20)
	a, b := []byte("a"), []byte("b")
	s := k.slot(7, a)
	k.arena = append(k.arena, a...)
	*s = latestSlot{hash: 7, size: 1, used: true, offset: 1}
	if other := k.slot(7, b); other == s || other.used {
		t.Error("b was taken for a")
	}
	if k.slot(7, a) != s {
		t.Error("a was not found")
	}
}

func TestTooManyOffsetsAreAnError(t *testing.T) {
	s := &offsetSet{memory: 3 * chunkBytes}
	var err error
	for i := range int64(10) {
		if err == nil {
			err = s.add(i * chunkOffsets)
		}
	}
	if !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
}

func TestACancelledStatementStopsLookingForKeys(t *testing.T) {
	s := &fakeSource{}
	s.addKeyed(0, recordbatch.None, rec{1000, "a", "1"})
	ctx, cancel := context.WithCancelCause(context.Background())
	gone := errors.New("gone")
	cancel(gone)
	if _, err := (latestSource{s, math.MaxInt32}).newest(ctx, state.TopicPartition{}); !errors.Is(err, gone) {
		t.Error(err)
	}
}
