package store

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"millrace/store/state"

	"github.com/google/uuid"
)

func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestAnIdlePartitionTakesLessThanOneKiB(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 10,000 topics")
	}
	const topics, partitions = 10_000, 3
	s, _ := openMem(t, func(o *Options) { o.TailCacheBytes = 1 })
	before := heapBytes()
	var wg sync.WaitGroup
	for i := range topics {
		wg.Add(1)
		in := state.CreateTopic{ID: uuid.UUID{byte(i), byte(i >> 8), 1}, Name: fmt.Sprintf("topic-%05d", i), Partitions: partitions}
		if err := s.Submit(context.Background(), in, nil, func(res any, err error) {
			if err != nil || res.(state.TopicResult).Err != nil {
				t.Error(res, err)
			}
			wg.Done()
		}); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	// Each once had a record, which is sealed by now.
	for i := range topics {
		for p := range int32(partitions) {
			wg.Add(1)
			raw := buildBatch(rec{1, "v"})
			b := batchOf(state.TopicPartition{Topic: uuid.UUID{byte(i), byte(i >> 8), 1}, Partition: p}, raw)
			if err := s.Submit(context.Background(), state.Produce{Batches: []state.Batch{b}}, [][]byte{raw}, func(any, error) { wg.Done() }); err != nil {
				t.Fatal(err)
			}
		}
	}
	wg.Wait()
	seal(t, s)
	disk := s.Stats().SegmentBytes // in memory too, here
	per := (heapBytes() - before - disk) / (topics * partitions)
	t.Log(per, "bytes a partition")
	if per > 1024 {
		t.Fatalf("an idle partition takes %d bytes", per)
	}
	runtime.KeepAlive(s)
}
