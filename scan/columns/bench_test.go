package columns

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"millrace/scan"
	"millrace/scan/exec"
	"millrace/store/state"
)

// benchTopic has one full block of click events of about 350 bytes.
func benchTopic(b *testing.B) (*fixture, snapshot) {
	f := newFixture(b, Options{CacheBytes: 1 << 30})
	id := f.create("t", 1, nil)
	r := rand.New(rand.NewPCG(1, 1))
	for range exec.MaxBlockRows / 512 {
		recs := make([]record, 512)
		for i := range recs {
			recs[i] = record{time: 1_700_000_000_000, value: fmt.Sprintf(
				`{"ts":%d,"user_id":%d,"session":"%016x%016x","event":"%s","page":"/p/%d","referrer":"https://example.com/%d","country":"%s","city":"city-%d","device":"%s","os":"%s","browser":"%s","duration_ms":%d,"price":%.2f,"quantity":%d,"is_bot":%v,"ab":"%c","w":%d,"h":%d}`,
				1_700_000_000_000+r.Int64N(1e9), r.IntN(300_000), r.Uint64(), r.Uint64(), []string{"view", "click", "buy", "scroll"}[r.IntN(4)], r.IntN(1000), r.IntN(5000),
				[]string{"DE", "FR", "US", "JP", "BR"}[r.IntN(5)], r.IntN(500), []string{"mobile", "desktop"}[r.IntN(2)], []string{"ios", "android", "linux"}[r.IntN(3)],
				[]string{"chrome", "firefox", "safari"}[r.IntN(3)], r.IntN(60000), r.Float64()*100, r.IntN(10), r.IntN(50) == 0, 'A'+rune(r.IntN(2)), 320+r.IntN(2000), 200+r.IntN(1500))}
		}
		f.produce(state.TopicPartition{Topic: id}, nil, 0, recs...)
	}
	return f, f.snapshot("t")
}

func BenchmarkBlock(b *testing.B) {
	f, s := benchTopic(b)
	defer s.Release()
	ctx := context.Background()
	var all []scan.Column
	for i := range s.table.Expanded {
		all = append(all, scan.Column{Kind: scan.Expanded, Index: i})
	}
	open := func(b *testing.B, cols []scan.Column) {
		blocks, err := f.set.Source(s.Snapshot).Blocks(ctx, s.table, cols, nil)
		if err != nil || len(blocks) != 1 {
			b.Fatal(err, len(blocks))
		}
		_, _, _, release, err := blocks[0].Open(ctx, cols)
		if err != nil {
			b.Fatal(err)
		}
		release()
	}
	open(b, nil)
	bytes := f.st.SizeBytes(state.TopicPartition{Topic: s.table.Topic.ID})
	for _, cols := range [][]scan.Column{all[:1], all[:8], all} {
		b.Run(fmt.Sprintf("expand-%d", len(cols)), func(b *testing.B) {
			b.SetBytes(bytes)
			for b.Loop() {
				f.set.cache.drop(f.set.part(s.table.Topic, 0).state.Load().list)
				open(b, cols)
			}
		})
	}
	b.Run("cached-8", func(b *testing.B) {
		f.set.part(s.table.Topic, 0).state.Load().list[0].private = false
		open(b, all[:8])
		for b.Loop() {
			open(b, all[:8])
		}
	})
	b.Run("seal", func(b *testing.B) {
		b.SetBytes(bytes)
		for b.Loop() {
			f.set.part(s.table.Topic, 0).state.Load().list[0].file.Store(nil)
			p, err := f.set.Seal(ctx, s.Snapshot, s.table, []int32{0}, true, func(context.Context) error { return nil })
			if err != nil || p.Blocks != 1 {
				b.Fatal(err, p)
			}
			b.ReportMetric(float64(p.FileBytes)*100/float64(bytes), "%size")
		}
	})
	for _, cols := range [][]scan.Column{all[:1], all[:8], all} {
		b.Run(fmt.Sprintf("file-%d", len(cols)), func(b *testing.B) {
			for b.Loop() {
				f.set.cache.drop(f.set.part(s.table.Topic, 0).state.Load().list)
				open(b, cols)
			}
		})
	}
}
