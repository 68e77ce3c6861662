package columns

import (
	"context"
	"testing"

	"millrace/scan"
	"millrace/scan/exec"
)

func BenchmarkSums(b *testing.B) {
	f, s := benchTopic(b)
	defer s.Release()
	ctx := context.Background()
	cols, _ := fileColumns(s.table)
	blocks, err := f.set.Source(s.Snapshot).Blocks(ctx, s.table, cols, nil)
	if err != nil {
		b.Fatal(err)
	}
	vecs, _, _, release, err := blocks[0].Open(ctx, cols)
	if err != nil {
		b.Fatal(err)
	}
	defer release()
	tallies := make([]*exec.Tally, len(vecs))
	for i, v := range vecs {
		tallies[i] = tallyOf(v)
		if y := tallies[i]; y != nil {
			b.Log(cols[i].Name(s.table), len(y.Rows), v.Code8 != nil, v.Int8 != nil)
		}
	}
	var m summing
	for b.Loop() {
		if _, err := m.block(ctx, func(context.Context) error { return nil }, cols, vecs, tallies); err != nil {
			b.Fatal(err)
		}
	}
	_ = scan.Column{}
}
