package catalog

import (
	"context"
	"testing"

	"millrace/internal/recordbatch"
	"millrace/internal/vfs"
	"millrace/store"
	"millrace/store/state"

	"github.com/google/uuid"
)

// A statement on a topic into which one record was written since the last one.
func BenchmarkBindAfterOneRecord(b *testing.B) {
	st, err := store.Open(context.Background(), store.Options{Dir: "/data", FS: vfs.NewMem(), LogFileBytes: 16 << 20})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	c := newCatalog(st, Options{})
	id := uuid.UUID{15: 1}
	if _, err := st.Commit(context.Background(), state.CreateTopic{ID: id, Name: "t", Partitions: 4}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		var batch recordbatch.Builder
		batch.Append(1000, nil, []byte(`{"order_id":1,"customer":"c-1","amount":12.5,"paid":true}`), nil)
		raw := batch.Build()
		done := make(chan struct{})
		err := st.Submit(context.Background(), state.Produce{Batches: []state.Batch{{
			TopicPartition: state.TopicPartition{Topic: id}, Records: 1, SizeBytes: int32(len(raw)),
			MinTimestamp: 1000, MaxTimestamp: 1000, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
		}}}, [][]byte{raw}, func(any, error) { close(done) })
		if err != nil {
			b.Fatal(err)
		}
		<-done
		b.StartTimer()
		sn := st.Snapshot()
		if _, err := c.Bind(context.Background(), sn, "t"); err != nil {
			b.Fatal(err)
		}
		sn.Release()
	}
}
