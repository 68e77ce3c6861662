package store

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"millrace/internal/recordbatch"
	"millrace/store/state"
)

// benchStore opens a store on the real disk.
func benchStore(b *testing.B, partitions int32, change ...func(*Options)) (*Store, []state.TopicPartition) {
	b.Helper()
	o := Options{Dir: b.TempDir()}
	for _, c := range change {
		c(&o)
	}
	s, err := Open(context.Background(), o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	id := createTopic(b, s, "a", partitions, nil)
	tps := make([]state.TopicPartition, partitions)
	for i := range tps {
		tps[i] = state.TopicPartition{Topic: id, Partition: int32(i)}
	}
	return s, tps
}

// BenchmarkSubmit measures requests of one batch, synced before they count, with
// many in flight.
func BenchmarkSubmit(b *testing.B) {
	for _, size := range []int{100, 16 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s, tps := benchStore(b, 16)
			template := buildBatch(rec{1, strings.Repeat("x", size)})
			in := batchOf(tps[0], template)
			var wg sync.WaitGroup
			inFlight := make(chan struct{}, 64)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				raw := append([]byte(nil), template...)
				k := in
				k.TopicPartition = tps[i%len(tps)]
				inFlight <- struct{}{}
				wg.Add(1)
				err := s.Submit(context.Background(), state.Produce{Batches: []state.Batch{k}}, [][]byte{raw}, func(_ any, err error) {
					if err != nil {
						b.Error(err)
					}
					<-inFlight
					wg.Done()
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			wg.Wait()
		})
	}
}

// BenchmarkFetch measures reading 1 MB at a time, from memory, log and segments.
func BenchmarkFetch(b *testing.B) {
	for _, size := range []int{100, 16 << 10} {
		for _, from := range []string{"memory", "log", "segment"} {
			b.Run(fmt.Sprint(size, " ", from), func(b *testing.B) {
				s, tps := benchStore(b, 1, func(o *Options) {
					if from != "memory" {
						o.TailCacheBytes = 1
					}
				})
				template := buildBatch(rec{1, strings.Repeat("x", size)})
				n := 8 << 20 / len(template)
				var wg sync.WaitGroup
				for range n {
					wg.Add(1)
					raw := append([]byte(nil), template...)
					if err := s.Submit(context.Background(), state.Produce{Batches: []state.Batch{batchOf(tps[0], raw)}}, [][]byte{raw}, func(any, error) { wg.Done() }); err != nil {
						b.Fatal(err)
					}
				}
				wg.Wait()
				if from == "segment" {
					seal(b, s)
				}
				b.ReportAllocs()
				b.ResetTimer()
				at, bytes := int64(0), int64(0)
				for range b.N {
					r, err := s.Fetch(tps[0], at, 1<<20, true, ReadUncommitted)
					if err != nil {
						b.Fatal(err)
					}
					bytes += int64(r.Bytes)
					r.Release()
					if at += int64(r.Bytes / len(template)); at >= int64(n) {
						at = 0
					}
				}
				b.SetBytes(bytes / int64(b.N))
			})
		}
	}
}

// BenchmarkSnapshot measures taking a snapshot of 10,000 partitions while records come in.
func BenchmarkSnapshot(b *testing.B) {
	s, _ := openMem(b)
	id := createTopic(b, s, "a", 10_000, nil)
	tp := state.TopicPartition{Topic: id, Partition: 5000}
	b.ReportAllocs()
	for range b.N {
		produce(b, s, tp, rec{1, "x"})
		sn := s.Snapshot()
		sn.Release()
	}
}

// BenchmarkSeal measures sealing tiny batches of many partitions, the hardest case: an
// operation is one batch.
func BenchmarkSeal(b *testing.B) {
	for _, partitions := range []int32{1, 100} {
		b.Run(fmt.Sprint(partitions), func(b *testing.B) {
			s, tps := benchStore(b, partitions)
			template := buildBatch(rec{1, strings.Repeat("x", 100)})
			var wg sync.WaitGroup
			for i := range b.N {
				raw := append([]byte(nil), template...)
				wg.Add(1)
				if err := s.Submit(context.Background(), state.Produce{Batches: []state.Batch{batchOf(tps[i%len(tps)], raw)}}, [][]byte{raw}, func(any, error) { wg.Done() }); err != nil {
					b.Fatal(err)
				}
			}
			wg.Wait()
			b.SetBytes(int64(len(template)))
			b.ResetTimer()
			seal(b, s)
		})
	}
}

// BenchmarkSealLarge measures sealing batches of half a megabyte: what it costs to copy
// records from the log to a segment, and to look for the times in compressed ones. An
// operation is one batch of 512 records.
func BenchmarkSealLarge(b *testing.B) {
	for _, codec := range []int{recordbatch.None, recordbatch.LZ4, recordbatch.Zstd} {
		b.Run(recordbatch.CodecName(codec), func(b *testing.B) {
			s, tps := benchStore(b, 4)
			bd := recordbatch.Builder{Codec: codec}
			for i := range 512 {
				bd.Append(int64(i), nil, fmt.Appendf(nil, `{"id":%d,"name":"%0980x"}`, i, i*i), nil)
			}
			size := bd.Size()
			template := bd.Build()
			var wg sync.WaitGroup
			for i := range b.N {
				raw := append([]byte(nil), template...)
				wg.Add(1)
				if err := s.Submit(context.Background(), state.Produce{Batches: []state.Batch{batchOf(tps[i%len(tps)], raw)}}, [][]byte{raw}, func(any, error) { wg.Done() }); err != nil {
					b.Fatal(err)
				}
			}
			wg.Wait()
			b.SetBytes(int64(size)) // uncompressed
			b.ReportAllocs()
			b.ResetTimer()
			seal(b, s)
		})
	}
}

// BenchmarkOpen measures a start that has to replay 100,000 requests of 1 KB: about
// half of what is unsealed at most by default.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	s, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	tp := state.TopicPartition{Topic: createTopic(b, s, "a", 1, nil)}
	template := buildBatch(rec{1, strings.Repeat("x", 1000)})
	var wg sync.WaitGroup
	for range 100_000 {
		raw := append([]byte(nil), template...)
		wg.Add(1)
		if err := s.Submit(context.Background(), state.Produce{Batches: []state.Batch{batchOf(tp, raw)}}, [][]byte{raw}, func(any, error) { wg.Done() }); err != nil {
			b.Fatal(err)
		}
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for range b.N {
		s, err := Open(context.Background(), Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
