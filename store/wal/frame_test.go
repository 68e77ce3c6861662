package wal

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"millrace/internal/vfs"
	"millrace/store/commitlog"
	"millrace/store/commitlog/commitlogtest"
)

func TestAFrameHeaderIsReadAsWritten(t *testing.T) {
	f := frame{typ: frameEntry, flags: flagDelegated, lsn: 7, synced: 5, epoch: 3, metaLen: 10, payloadLen: 20, aux: 2, bodyCRC: 99}
	b := appendFrame(nil, &f, 42)
	got, ok := parseFrame(b, 42)
	if !ok || got != f {
		t.Fatalf("%+v", got)
	}
	if _, ok := parseFrame(b, 43); ok {
		t.Fatal("a frame of another file was accepted")
	}
	for i := range b {
		for bit := range 8 {
			c := bytes.Clone(b)
			c[i] ^= 1 << bit
			if _, ok := parseFrame(c, 42); ok {
				t.Fatalf("bit %d of byte %d may be flipped", bit, i)
			}
		}
	}
}

func TestAPayloadThatIsNotMadeOfBatchesIsSummedWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	good := commitlogtest.Batch(r, 100)
	oldMagic := bytes.Clone(good)
	oldMagic[batchMagicAt] = 1
	tooLong := bytes.Clone(good)
	tooLong[batchLengthAt+3]++
	negative := bytes.Clone(good)
	negative[batchLengthAt] = 0xff
	for _, c := range []struct {
		name    string
		payload [][]byte
		batches uint32 // 0: summed whole
	}{
		{"one batch", [][]byte{good}, 1},
		{"two in two slices", [][]byte{good, good}, 2},
		{"two in one slice", [][]byte{append(bytes.Clone(good), good...)}, 2},
		{"old format", [][]byte{good, oldMagic}, 0},
		{"longer than its slice", [][]byte{tooLong, good}, 0},
		{"negative length", [][]byte{negative}, 0},
		{"bytes behind it", [][]byte{append(bytes.Clone(good), 0)}, 0},
		{"shorter than a header", [][]byte{good[:60]}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := commitlog.Entry{Meta: []byte("meta"), Payload: c.payload}
			crc, flags, batches := sumBody(&e)
			if batches != c.batches || (flags == flagDelegated) != (c.batches > 0) {
				t.Fatalf("flags %d, %d batches", flags, batches)
			}
			last := len(c.payload) - 1
			c.payload[last] = bytes.Clone(c.payload[last])
			c.payload[last][len(c.payload[last])-1] ^= 1
			again, _, _ := sumBody(&e)
			if c.batches == 0 && again == crc {
				t.Fatal("a changed payload has the same sum")
			}
			if c.batches > 0 && CheckBatches(c.payload[last]) == nil {
				t.Fatal("a changed batch has the same sum")
			}
		})
	}
}

// What a producer sends may look like a frame that claims anything.
func TestAForgedFrameInAPayloadProvesNothing(t *testing.T) {
	fs := vfs.NewMem()
	o := Options{FS: fs, Dir: "/d", FileBytes: 64 << 10, FirstFileBytes: 32 << 10, ReserveBytes: -1, SyncPointAfter: time.Hour}
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	var forged []byte
	for i := range 64 { // at any alignment, with guessed seeds
		for _, seed := range []uint32{0, frameSeed(0, 1), frameSeed(l.logID, 2), frameSeed(l.logID+1, 1)} {
			forged = appendFrame(forged, &frame{typ: frameSyncPoint, lsn: 1000, synced: 1000, epoch: 7}, seed)
		}
		forged = append(forged, make([]byte, i%9)...)
	}
	for range 2 {
		if _, err := commitlogtest.AppendWait(l, l.Last(), commitlog.Entry{Meta: []byte("meta"), Payload: [][]byte{forged}}); err != nil {
			t.Fatal(err)
		}
	}
	image := fs.KillClone()
	end := l.pos
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := image.OpenReadWrite("/d/0000000001.wal")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, 40), end-int64(len(forged))-48); err != nil { // the second entry's header
		t.Fatal(err)
	}
	o.FS = image
	if l, err = Open(o); err != nil {
		t.Fatal(err)
	}
	if l.Last() != 1 || l.epoch > 3 {
		t.Fatalf("last entry %d, epoch %d", l.Last(), l.epoch)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// The bytes of version 1. If this fails, the format changed: it needs a new
// version, and readers for both.
func TestTheBytesOfVersion1AreAsTheyWere(t *testing.T) {
	h := header{version: 1, file: 2, logID: 3, prev: 4, synced: 3, epoch: 5, kind: kindFence, prevFile: 1, prevEnd: 6}
	block := appendHeader(nil, &h)
	if len(block) != 4096 || !bytes.Equal(block[:64], block[2048:2112]) || len(bytes.Trim(block[64:2048], "\x00"))+len(bytes.Trim(block[2112:], "\x00")) != 0 {
		t.Fatal("layout of the header block")
	}
	for _, c := range []struct{ what, got, want string }{
		{"file header", hex.EncodeToString(block[:64]), goldenHeader},
		{"frame header", hex.EncodeToString(appendFrame(nil, &frame{
			typ: frameEntry, flags: flagDelegated, lsn: 9, synced: 8, epoch: 7, metaLen: 6, payloadLen: 5, aux: 4, bodyCRC: 3,
		}, frameSeed(3, 2))), goldenFrame},
		{"chunk sum", fmt.Sprintf("%08x", chunkSum(1, []byte{3, 0, 0, 0}, []byte("abc"))), goldenChunk},
	} {
		if c.got != c.want {
			t.Errorf("%s\n%s, was\n%s", c.what, c.got, c.want)
		}
	}
	if got, ok := parseHeader(block, 2); !ok || got != h {
		t.Fatalf("%+v", got)
	}
}

const (
	goldenHeader = "4d494c4c5257414c010000000200000003000000000000000400000000000000030000000000000005000000010000000100000006000000272f44e700000000"
	goldenFrame  = "4d5246318eaeb94703000000010100000900000000000000080000000000000007000000060000000500000004000000"
	goldenChunk  = "daaac084"
)

func FuzzParseFrame(f *testing.F) {
	f.Add(appendFrame(nil, &frame{typ: frameEntry, lsn: 1, epoch: 1, metaLen: 3}, 1), uint32(1))
	f.Add(appendFrame(nil, &frame{typ: frameEnd, lsn: 9, synced: 9, epoch: 2, aux: 4}, 7), uint32(7))
	f.Add(make([]byte, 100), uint32(0))
	f.Fuzz(func(t *testing.T, b []byte, seed uint32) {
		fr, ok := parseFrame(b, seed)
		if !ok {
			return
		}
		if again := appendFrame(nil, &fr, seed); !bytes.Equal(again, b[:frameHeader]) {
			t.Fatalf("%x is read as %+v, which is written as %x", b[:frameHeader], fr, again)
		}
	})
}

// FuzzRecover puts arbitrary frames into a log file: with right checksums, so that
// what lies behind them is reached, and with whatever follows.
func FuzzRecover(f *testing.F) {
	f.Add([]byte{}, uint8(1), uint8(0), uint64(1), uint64(0), uint32(1), uint32(0), uint32(0), uint32(0))
	f.Add([]byte("metapayload"), uint8(1), uint8(0), uint64(1), uint64(0), uint32(1), uint32(4), uint32(7), uint32(0))
	f.Add(bytes.Repeat([]byte{0xff}, 200), uint8(1), uint8(1), uint64(1), uint64(0), uint32(1), uint32(0), uint32(122), uint32(2))
	f.Add([]byte{}, uint8(4), uint8(0), uint64(0), uint64(0), uint32(1), uint32(0), uint32(0), uint32(9))
	f.Add([]byte{}, uint8(3), uint8(0), uint64(0), uint64(0), uint32(7), uint32(0), uint32(0), uint32(0))
	f.Fuzz(func(t *testing.T, body []byte, typ, flags uint8, lsn, synced uint64, epoch, meta, payload, aux uint32) {
		fs := vfs.NewMem()
		if err := fs.MkdirAll("/d"); err != nil {
			t.Fatal(err)
		}
		file, err := fs.Create("/d/0000000001.wal")
		if err != nil {
			t.Fatal(err)
		}
		b := appendHeader(nil, &header{version: formatVersion, file: 1, logID: 5, epoch: 1})
		fr := frame{
			typ: frameType(typ), flags: flags, lsn: commitlog.LSN(lsn), synced: commitlog.LSN(synced),
			epoch: epoch, metaLen: meta, payloadLen: payload, aux: aux,
		}
		e := commitlog.Entry{}
		if int(meta) <= len(body) {
			e.Meta = body[:meta]
			e.Payload = [][]byte{body[meta:]}
		}
		fr.bodyCRC, _, _ = sumBody(&e)
		b = appendFrame(b, &fr, frameSeed(5, 1))
		b = append(b, body...)
		if err := file.Preallocate(64 << 10); err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteAt(b[:min(len(b), 64<<10)], 0); err != nil {
			t.Fatal(err)
		}
		o := Options{FS: fs, Dir: "/d", FileBytes: 64 << 10, FirstFileBytes: 32 << 10, ReserveBytes: -1}
		l, err := Open(o)
		if err != nil {
			return
		}
		last := l.Last()
		if last > 1 {
			t.Fatalf("%d entries from one frame", last)
		}
		if err := l.Read(1, func(r commitlog.Replayed) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if l, err = Open(o); err != nil {
			t.Fatal(err)
		}
		if l.Last() != last {
			t.Fatalf("%d entries, then %d", last, l.Last())
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAFileIsNotHandedOutAgainWhileSomebodyReadsIt(t *testing.T) {
	fs := vfs.NewMem()
	o := Options{FS: fs, Dir: "/d", FileBytes: 32 << 10, FirstFileBytes: 32 << 10, ReserveBytes: -1, PoolFiles: 10}
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	appendOne := func() {
		t.Helper()
		if _, err := commitlogtest.AppendWait(l, l.Last(), commitlog.Entry{Payload: [][]byte{commitlogtest.Batch(r, 9000)}}); err != nil {
			t.Fatal(err)
		}
	}
	appendOne()
	held, err := l.holdFile(1)
	if err != nil {
		t.Fatal(err)
	}
	before := make([]byte, 9000)
	if _, err := held.f.ReadAt(before, fileDataStart); err != nil {
		t.Fatal(err)
	}
	for range 60 {
		appendOne()
		if err := l.Truncate(l.Last()); err != nil {
			t.Fatal(err)
		}
		after := make([]byte, 9000)
		if _, err := held.f.ReadAt(after, fileDataStart); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(before, after) {
			t.Fatal("a file changed under its reader")
		}
	}
	if err := held.release(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
