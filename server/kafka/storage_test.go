package kafka

import (
	"syscall"
	"testing"

	"millrace/server/kafka/kafkaerr"

	"millrace/internal/vfs"
)

func TestAFailedSyncIsAStorageErrorThenReadsGoOnAndWritesResume(t *testing.T) {
	for name, err := range map[string]error{"EIO": syscall.EIO, "ENOSPC": syscall.ENOSPC} {
		t.Run(name, func(t *testing.T) {
			e := start(t)
			fs := e.fs.(*vfs.Mem)
			id := e.topic("t", 1)
			r := e.raw()
			send := func() (code int16, offset int64) {
				p := onlyPart(t, r.ask(produceRequest(9, "t", id, 0, batch(1, "x"))))
				return p.ErrorCode, p.BaseOffset
			}
			if code, offset := send(); code != 0 || offset != 0 {
				t.Fatal(code, offset)
			}
			fs.FailAll(vfs.OpWrite|vfs.OpSync|vfs.OpSyncData, err)
			if code, offset := send(); code != kafkaerr.KafkaStorageError || offset != -1 {
				t.Fatal(code, offset)
			}
			if p := onlyFetched(t, r.ask(fetchRequest1(12, "t", id, 0, 0))); p.ErrorCode != 0 || p.HighWatermark != 1 || len(values(t, p.RecordBatches)) != 1 {
				t.Fatalf("%+v", p)
			}
			fs.ClearFaults()
			until(t, func() bool {
				code, offset := send()
				if code == 0 && offset != 1 {
					t.Fatalf("offset %d after the failure, the last acknowledged is 0", offset)
				}
				return code == 0
			})
		})
	}
}

func TestADamagedSegmentIsACorruptMessageAndOthersAreRead(t *testing.T) {
	e := start(t)
	id := e.topic("t", 2)
	r := e.raw()
	for p := range int32(2) {
		if got := onlyPart(t, r.ask(produceRequest(9, "t", id, p, batch(1, "x")))); got.ErrorCode != 0 {
			t.Fatalf("%+v", got)
		}
	}
	if err := e.st.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	segments, err := e.fs.ReadDir("/data/segments")
	if err != nil || len(segments) != 1 {
		t.Fatal(segments, err)
	}
	f, err := e.fs.OpenReadWrite("/data/segments/" + segments[0].Name())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// The header takes 64 bytes; behind it is partition 0's batch.
	if _, err := f.WriteAt([]byte{0xff}, 64+40); err != nil {
		t.Fatal(err)
	}
	if p := onlyFetched(t, r.ask(fetchRequest1(12, "t", id, 0, 0))); p.ErrorCode != kafkaerr.CorruptMessage {
		t.Fatalf("%+v", p)
	}
	if p := onlyFetched(t, r.ask(fetchRequest1(12, "t", id, 1, 0))); p.ErrorCode != 0 || len(values(t, p.RecordBatches)) != 1 {
		t.Fatalf("%+v", p)
	}
}
