package client

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestEqualSeedsGenerateEqualRecords(t *testing.T) {
	start := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for name := range generators {
		stream := func(seed uint64) string {
			var b bytes.Buffer
			c := Gen{What: name, Count: 300, Seed: seed, Start: &start}
			if err := c.generate(context.Background(), func(r *kgo.Record) error {
				if !json.Valid(r.Value) || len(r.Key) == 0 {
					t.Fatalf("%s: key %q value %s", name, r.Key, r.Value)
				}
				b.Write(r.Key)
				b.WriteByte(' ')
				b.Write(r.Value)
				b.WriteString(r.Timestamp.String())
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		if first, again := stream(1), stream(1); first != again {
			t.Errorf("%s: two runs with one seed differ", name)
		}
		if stream(1) == stream(2) {
			t.Errorf("%s: the seed changes nothing", name)
		}
	}
}

func TestOrderAmountsHaveTwoPlacesAndFewCustomersOrderMuch(t *testing.T) {
	customers := map[string]int{}
	c := Gen{What: "orders", Count: 2000, Seed: 7}
	if err := c.generate(context.Background(), func(r *kgo.Record) error {
		var o struct {
			Amount json.Number
		}
		if err := json.Unmarshal(r.Value, &o); err != nil {
			return err
		}
		if whole, places, ok := strings.Cut(o.Amount.String(), "."); !ok || len(places) != 2 || whole == "" {
			t.Fatalf("amount %s", o.Amount)
		}
		customers[string(r.Key)]++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	most := 0
	for _, n := range customers {
		most = max(most, n)
	}
	if len(customers) < 100 || most < 20 {
		t.Fatalf("%d customers, the best with %d of 2000 orders", len(customers), most)
	}
}

func TestGeneratedToStandardOutputOneValueALine(t *testing.T) {
	var out bytes.Buffer
	c := Gen{What: "quakes", Count: 3, Stdout: true}
	if err := c.Run(context.Background(), &IO{Out: &out, Err: &out}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 3 {
		t.Fatalf("%d lines", n)
	}
}

func TestAnEndlessStreamEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	c := Gen{What: "clicks", Rate: 0}
	if err := c.generate(ctx, func(*kgo.Record) error {
		if n++; n == 10 {
			cancel()
		}
		return nil
	}); err != nil || n != 10 {
		t.Fatal(n, err)
	}
}

func TestRecordsAtFullSpeedAreNotOfTheFuture(t *testing.T) {
	// More than an hour at 10 ms a record: topics refuse what is further ahead.
	for _, count := range []int64{0, 5, 400_000, 100_000_000, 1 << 62} {
		began := time.Now()
		at := (&Gen{What: "clicks", Count: count}).clock(began)
		last := max(count, 400_000) - 1
		if count > 0 {
			last = count - 1
		}
		if got := at(last); got.After(time.Now()) || got.Before(began.Add(-time.Second)) {
			t.Errorf("%d records: the last one is of %s, now is %s", count, got, began)
		}
		if got := at(0); got.Before(began.Add(-maxAge - time.Second)) {
			t.Errorf("%d records: the first one is of %s, now is %s", count, got, began)
		}
	}
}

func TestAStartIsKeptToTheRecord(t *testing.T) {
	start := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	at := (&Gen{What: "clicks", Count: 1000, Start: &start}).clock(time.Now())
	if got := at(100); !got.Equal(start.Add(time.Second)) {
		t.Fatal(got)
	}
}
