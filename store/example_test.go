package store_test

import (
	"context"
	"fmt"

	"millrace/internal/recordbatch"
	"millrace/internal/vfs"
	"millrace/store"
	"millrace/store/state"

	"github.com/google/uuid"
)

func Example() {
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{Dir: "/data", FS: vfs.NewMem()})
	if err != nil {
		panic(err)
	}
	defer s.Close()

	res, err := s.Commit(ctx, state.CreateTopic{ID: uuid.New(), Name: "orders", Partitions: 1})
	if err != nil {
		panic(err)
	}
	tp := state.TopicPartition{Topic: res.(state.TopicResult).Topic.ID}

	var b recordbatch.Builder
	b.Append(1700000000000, []byte("customer-1"), []byte(`{"total": 42}`), nil)
	raw := b.Build()
	acked := make(chan struct{})
	err = s.Submit(ctx, state.Produce{Batches: []state.Batch{{
		TopicPartition: tp, Records: 1, SizeBytes: int32(len(raw)),
		MinTimestamp: 1700000000000, MaxTimestamp: 1700000000000, ProducerID: -1,
	}}}, [][]byte{raw}, func(res any, err error) {
		fmt.Println("offset", res.(state.ProduceResult).Batches[0].BaseOffset, err)
		close(acked)
	})
	if err != nil {
		panic(err)
	}
	<-acked // durable, and visible to every reader

	f, err := s.Fetch(tp, 0, 1<<20, true, store.ReadCommitted)
	if err != nil {
		panic(err)
	}
	batch, _, err := recordbatch.Parse(f.Batches[0])
	if err != nil {
		panic(err)
	}
	var r recordbatch.Reader
	if err := r.Reset(&batch); err != nil {
		panic(err)
	}
	var rec recordbatch.Record
	for r.Next(&rec) {
		fmt.Printf("%d %s %s\n", rec.Offset, rec.Key, rec.Value)
	}
	// Output:
	// offset 0 <nil>
	// 0 customer-1 {"total": 42}
}
