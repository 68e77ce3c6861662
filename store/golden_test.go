package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"millrace/internal/vfs"
	"millrace/store/state"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// goldenDir is a data directory as format 1 was first written. Every later
// version reads it; it is never written anew, a newer format gets its own.
const goldenDir = "testdata/format-1"

// goldenEnv, set, makes the tests write golden directories that are not there.
const goldenEnv = "MILLRACE_WRITE_GOLDEN"

func goldenOptions(fs vfs.FS) Options {
	o := testOptions(fs)
	o.LogFileBytes = 32 << 10
	return o
}

var goldenTopic = uuid.UUID{0x60, 0x1d}

// goldenWants are the values of partitions 0 and 1.
func goldenWants() [2][]string {
	var want [2][]string
	for i := range 60 {
		p := i % 2
		want[p] = append(want[p], fmt.Sprintf("%d:value %d", len(want[p]), i))
	}
	return want
}

func writeGolden(t *testing.T) {
	mem := vfs.NewMem()
	s, err := Open(context.Background(), goldenOptions(mem))
	if err != nil {
		t.Fatal(err)
	}
	mustCommit(t, s, state.CreateTopic{ID: goldenTopic, Name: "golden", Partitions: 2, Configs: map[string]string{"retention.ms": "-1"}})
	mustCommit(t, s, state.PutDocument{Kind: "k", Key: "key", Data: []byte("data")})
	mustCommit(t, s, state.CommitOffsets{Group: "g", Offsets: []state.OffsetCommit{{TopicPartition: state.TopicPartition{Topic: goldenTopic}, Offset: 7, LeaderEpoch: -1, Metadata: "m", ExpireAt: -1}}})
	for i := range 60 {
		produce(t, s, state.TopicPartition{Topic: goldenTopic, Partition: int32(i % 2)}, rec{int64(1000 + i), fmt.Sprint("value ", i)})
		switch i {
		case 20:
			seal(t, s)
		case 40:
			if err := s.Checkpoint(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
	image := mem.KillClone() // as a killed process leaves it: a checkpoint and a log behind it
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	saveGolden(t, image, goldenDir)
}

// saveGolden writes a data directory into testdata.
func saveGolden(t *testing.T, image *vfs.Mem, into string) {
	for _, dir := range []string{".", logDir, segmentsDir} {
		if err := os.MkdirAll(filepath.Join(into, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		entries, err := image.ReadDir(filepath.Join("/data", dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			// Files without contents of their own are left out.
			if e.IsDir() || e.Name() == "reserve" || e.Name() == lockName || strings.HasSuffix(e.Name(), ".tmp") {
				continue
			}
			f, err := image.Open(filepath.Join("/data", dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			size, _ := f.Size()
			b := make([]byte, size)
			if _, err := f.ReadAt(b, 0); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(into, dir, e.Name()), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func loadGolden(t *testing.T, from string) *vfs.Mem {
	mem := vfs.NewMem()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		to := filepath.Join("/data", rel)
		if d.IsDir() {
			return mem.MkdirAll(to)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := mem.Create(to)
		if err != nil {
			return err
		}
		_, err = f.WriteAt(b, 0)
		return errors.Join(err, f.Sync(), f.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
	return mem
}

func TestADirectoryOfFormat1IsRead(t *testing.T) {
	if _, err := os.Stat(goldenDir); err != nil && os.Getenv(goldenEnv) != "" {
		writeGolden(t)
	}
	mem := loadGolden(t, goldenDir)
	for range 2 { // the second time as this version left it
		if lines := verifyLines(t, mem); lines != nil {
			t.Fatal(lines)
		}
		s, err := Open(context.Background(), goldenOptions(mem))
		if err != nil {
			t.Fatal(err)
		}
		for p, want := range goldenWants() {
			if d := cmp.Diff(want, values(t, s, state.TopicPartition{Topic: goldenTopic, Partition: int32(p)})); d != "" {
				t.Fatal(d)
			}
		}
		if d, ok := s.Document("k", "key"); !ok || string(d.Data) != "data" {
			t.Fatal(d, ok)
		}
		offsets, _ := s.CommittedOffsets("g")
		if o := offsets[state.TopicPartition{Topic: goldenTopic}]; o.Offset != 7 || o.Metadata != "m" {
			t.Fatal(offsets)
		}
		if topic, ok := s.Topics().ByName("golden"); !ok || topic.Configs["retention.ms"] != "-1" {
			t.Fatal(topic, ok)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
