package store

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"millrace/internal/vfs"
	"millrace/store/state"
)

// Kafka Streams purges its repartition topics with DeleteRecords as it consumes them. What lay there leaves the disk,
// although each segment holds records of other topics, too.
func TestTheDiskShrinksOnceRecordsAreDeleted(t *testing.T) {
	for _, configs := range []map[string]string{
		{"cleanup.policy": "delete", "retention.ms": "-1"},
		{"cleanup.policy": "compact,delete", "retention.ms": "-1"},
	} {
		t.Run(configs["cleanup.policy"], func(t *testing.T) {
			fs := vfs.NewMem()
			if err := fs.MkdirAll("/data"); err != nil {
				t.Fatal(err)
			}
			o := testOptions(fs)
			o.LogFileBytes = 128 << 10
			s := openFiles(t, o)
			defer func() { s.Close() }()
			id := createTopic(t, s, "app-counts-repartition", 2, configs)
			other := state.TopicPartition{Topic: createTopic(t, s, "orders", 1, nil)}
			const roundBytes = 2 * 10 * 20_000
			kept := 0
			var used []int64
			for round := range 12 {
				for i := range 10 {
					for p := range int32(2) {
						produceRaw(t, s, state.TopicPartition{Topic: id, Partition: p}, keyedBatch(0, keyed{1, fmt.Sprint(round, i), strings.Repeat("x", 20_000)}))
					}
					produce(t, s, other, rec{1, fmt.Sprint(kept)})
					kept++
				}
				if err := s.Seal(context.Background()); err != nil {
					t.Fatal(err)
				}
				if round%3 == 2 && configs["cleanup.policy"] != "delete" {
					compactTopic(t, s, id)
				}
				var moves []state.LogStartMove
				for p := range int32(2) {
					tp := state.TopicPartition{Topic: id, Partition: p}
					b, err := s.Bounds(tp)
					if err != nil {
						t.Fatal(err)
					}
					moves = append(moves, state.LogStartMove{TopicPartition: tp, Before: b.End})
				}
				before := s.Stats().SegmentBytes
				mustCommit(t, s, state.AdvanceLogStart{Partitions: moves})
				if err := s.maintain(context.Background()); err != nil {
					t.Fatal(err)
				}
				if after := s.Stats().SegmentBytes; after > before-roundBytes {
					t.Errorf("round %d: %d bytes of segments before the purge, %d after it", round, before, after)
				}
				used = append(used, fs.Used())
				if round == 5 {
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
					s = openFiles(t, o)
				}
			}
			// The disk holds what lives, and the log's files, which are used again.
			if last := used[len(used)-1]; last > used[0]+roundBytes {
				t.Errorf("the disk grows: %d", used)
			}
			if got := values(t, s, other); len(got) != kept {
				t.Errorf("the other topic has %d of %d records", len(got), kept)
			}
		})
	}
}
