package wal_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"millrace/store/commitlog"
	"millrace/store/commitlog/commitlogtest"
	"millrace/store/wal"

	"github.com/prometheus/client_golang/prometheus"
)

// BenchmarkAppend writes to the real disk under the test's temporary directory.
// The log is truncated as it goes, so that files are recycled as in long use.
func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name    string
		payload int // record bytes of a request
		waiting int // requests outstanding
	}{
		{"1MB/20 waiting", 1 << 20, 20},
		{"1MB/1 waiting", 1 << 20, 1},
		{"16KB/20 waiting", 16 << 10, 20},
		{"100B/16 waiting", 100, 16},
		{"100B/1 waiting", 100, 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			l, err := wal.Open(wal.Options{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, 1))
			batch := commitlogtest.Batch(r, c.payload)
			meta := make([]byte, 40)
			var wg sync.WaitGroup
			tokens := make(chan struct{}, c.waiting)
			for range c.waiting {
				tokens <- struct{}{}
			}
			done := func(_ commitlog.Location, err error) {
				if err != nil {
					b.Error(err)
				}
				wg.Done()
				tokens <- struct{}{}
			}
			after := l.Last()
			add := func() {
				<-tokens
				wg.Add(1)
				if err := l.Append(after, commitlog.Entry{Meta: meta, Payload: [][]byte{batch}}, done); err != nil {
					b.Fatal(err)
				}
				after++
				if after%4096 == 0 || c.payload > 1<<19 && after%128 == 0 {
					if err := l.Truncate(l.Last()); err != nil {
						b.Fatal(err)
					}
				}
			}
			for warm := 0; warm < 768<<20 && c.payload > 1<<19; warm += c.payload {
				add() // until files are recycled
			}
			wg.Wait()
			var before, since runtime.MemStats
			runtime.ReadMemStats(&before)
			b.SetBytes(int64(len(batch)))
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				add()
			}
			wg.Wait()
			b.StopTimer()
			runtime.ReadMemStats(&since)
			b.ReportMetric(float64(since.Sys)/(1<<20), "sysMB")
			if err := l.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkConnections has goroutines that each wait for their own entry, as
// connections do that send one small request at a time.
func BenchmarkConnections(b *testing.B) {
	for _, conns := range []int{1, 16, 64} {
		b.Run(fmt.Sprint(conns, " x 100B"), func(b *testing.B) {
			reg := prometheus.NewRegistry()
			l, err := wal.Open(wal.Options{Dir: b.TempDir(), Registry: reg})
			if err != nil {
				b.Fatal(err)
			}
			batch := commitlogtest.Batch(rand.New(rand.NewPCG(1, 1)), 100)
			meta := make([]byte, 40)
			var mu sync.Mutex // the sequencer
			after := l.Last()
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ReportAllocs()
			b.ResetTimer()
			var wg sync.WaitGroup
			for range conns {
				wg.Add(1)
				go func() {
					defer wg.Done()
					synced := make(chan error, 1)
					done := func(_ commitlog.Location, err error) { synced <- err }
					for left.Add(-1) >= 0 {
						mu.Lock()
						err := l.Append(after, commitlog.Entry{Meta: meta, Payload: [][]byte{batch}}, done)
						after++
						mu.Unlock()
						if err == nil {
							err = <-synced
						}
						if err != nil {
							b.Error(err)
							return
						}
					}
				}()
			}
			wg.Wait()
			b.StopTimer()
			families, err := reg.Gather()
			if err != nil {
				b.Fatal(err)
			}
			for _, f := range families {
				if f.GetName() == "millrace_wal_sync_seconds" {
					h := f.GetMetric()[0].GetHistogram()
					b.ReportMetric(float64(b.N)/float64(h.GetSampleCount()), "entries/sync")
					b.ReportMetric(h.GetSampleSum()/float64(h.GetSampleCount())*1e6, "us/sync")
				}
			}
			if err := l.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, entries := range []int{0, 100_000} {
		b.Run(fmt.Sprint(entries, " entries"), func(b *testing.B) {
			dir := b.TempDir()
			l, err := wal.Open(wal.Options{Dir: dir})
			if err != nil {
				b.Fatal(err)
			}
			var wg sync.WaitGroup
			wg.Add(entries)
			batch := commitlogtest.Batch(rand.New(rand.NewPCG(1, 1)), 900)
			for i := range entries {
				if err := l.Append(commitlog.LSN(i), commitlog.Entry{Payload: [][]byte{batch}}, func(commitlog.Location, error) { wg.Done() }); err != nil {
					b.Fatal(err)
				}
			}
			wg.Wait()
			b.ResetTimer()
			for range b.N {
				b.StopTimer()
				if err := l.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if l, err = wal.Open(wal.Options{Dir: dir}); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			if err := l.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
