package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// flipsRun flips bits in each kind of file of a data directory, one at a time.
// verify must name what was hit or the flip must be harmless; the server must
// name it, too: by not starting, or by an error for those records alone. Nobody
// may ever read anything but what was written.
func flipsRun(ctx context.Context, binary string, random *rand.Rand, flips int) error {
	dir, err := os.MkdirTemp("", "millrace-flips")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, clean := range []bool{true, false} {
		if err := flipsIn(ctx, binary, dir, random, flips/2, clean); err != nil {
			return fmt.Errorf("clean end %v: %w", clean, err)
		}
	}
	return nil
}

// contents are all raw bytes of each partition (in place's offset-0 form).
type contents map[place][]byte

func flipsIn(ctx context.Context, binary, dir string, random *rand.Rand, flips int, clean bool) error {
	sound := filepath.Join(dir, fmt.Sprint("sound-", clean))
	p := newProcess(binary, dir, sound, "--http", "")
	topics := []string{"flip-a", "flip-b"}
	h := newHistory()
	next := int64(0)
	if err := beforehand(ctx, p, h, topics, &next); err != nil {
		return err
	}
	if err := p.start(); err != nil {
		return err
	}
	defer func() { p.kill() }()
	for i := 0; !clean && i < 100; i++ {
		// More than the first log file takes: it is given up after sealing.
		if err := produceOne(ctx, p, h, topics[i%2], &next); err != nil {
			return err
		}
		if i%50 == 49 {
			if err := p.seal(ctx, topics[0]); err != nil {
				return err
			}
		}
	}
	for _, t := range topics {
		if err := produceOne(ctx, p, h, t, &next); err != nil {
			return err
		}
	}
	want, failed, err := readRaw(ctx, p, topics)
	if err != nil || len(failed) > 0 {
		return fmt.Errorf("before any flip: %v, %w", failed, errors.Join(err))
	}
	if clean {
		if err := p.stop(); err != nil {
			return err
		}
	} else {
		// Until the idle log has noted how far it is synced, its last entry cannot
		// be told from a torn one.
		time.Sleep(500 * time.Millisecond)
		p.kill()
	}
	kinds, err := filesByKind(sound)
	if err != nil {
		return err
	}
	broken := filepath.Join(dir, "broken")
	q := newProcess(binary, dir, broken, "--http", "")
	defer func() { q.kill() }()
	// try judges a copy that damage was done to.
	try := func(n *flipCounts, name string, damage func(path string) (what string, err error)) error {
		if err := os.RemoveAll(broken); err != nil {
			return err
		}
		if out, err := exec.Command("cp", "-a", "--sparse=always", sound, broken).CombinedOutput(); err != nil {
			return fmt.Errorf("copy: %s: %w", out, err)
		}
		what, err := damage(filepath.Join(broken, name))
		if err != nil {
			return err
		}
		if err := os.Remove(q.log()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := n.judge(ctx, q, h, topics, name, want); err != nil {
			return fmt.Errorf("%s, %s: %w\nserver: %s", name, what, err, q.tail())
		}
		return nil
	}
	for kind, files := range kinds {
		var n flipCounts
		for range flips {
			err := try(&n, files[random.IntN(len(files))], func(path string) (string, error) { return flipBit(path, random) })
			if err != nil {
				return err
			}
		}
		fmt.Printf("flips: %-8s %d flipped: verify found %d, server refused to start %d, reported and isolated %d, the rest harmless\n",
			kind, flips, n.verified, n.refused, n.isolated)
		n = flipCounts{}
		mangled := 0
		for _, name := range files {
			for _, m := range manglings {
				mangled++
				if err := try(&n, name, func(path string) (string, error) { return m.what, m.do(path, files, random) }); err != nil {
					return err
				}
			}
		}
		fmt.Printf("flips: %-8s %d mangled: verify found %d, server refused to start %d, reported and isolated %d, the rest harmless\n",
			kind, mangled, n.verified, n.refused, n.isolated)
	}
	return nil
}

// manglings are the ways in which whole files go wrong. kin are the files of the
// same kind, relative to the data directory.
var manglings = []struct {
	what string
	do   func(path string, kin []string, random *rand.Rand) error
}{
	{"missing", func(path string, _ []string, _ *rand.Rand) error { return os.Remove(path) }},
	{"empty", func(path string, _ []string, _ *rand.Rand) error { return os.Truncate(path, 0) }},
	{"cut", func(path string, _ []string, random *rand.Rand) error {
		used, err := usedBytes(path)
		if err != nil {
			return err
		}
		return os.Truncate(path, random.Int64N(used))
	}},
	{"a page zeroed", func(path string, _ []string, random *rand.Rand) error {
		used, err := usedBytes(path)
		if err != nil {
			return err
		}
		return overwrite(path, make([]byte, min(4096, used)), random.Int64N(used)&^4095)
	}},
	{"another in its place", func(path string, kin []string, random *rand.Rand) error {
		other := kin[random.IntN(len(kin))]
		root := strings.TrimSuffix(path, string(filepath.Separator)+kin[slices.IndexFunc(kin, func(k string) bool { return strings.HasSuffix(path, k) })])
		b, err := os.ReadFile(filepath.Join(root, other))
		if err != nil {
			return err
		}
		return os.WriteFile(path, b, 0o600)
	}},
}

// usedBytes is the file's length without the zeroes at its end, at least 1.
func usedBytes(path string) (int64, error) {
	b, err := os.ReadFile(path)
	return max(1, int64(len(bytes.TrimRight(b, "\x00")))), err
}

func overwrite(path string, b []byte, at int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, at)
	return errors.Join(err, f.Close())
}

type flipCounts struct{ verified, refused, isolated int }

// judge looks at a directory with one flipped bit in the named file.
func (n *flipCounts) judge(ctx context.Context, p *process, h *history, topics []string, name string, want contents) error {
	out, err := exec.Command(p.binary, "verify", "--data", p.data).CombinedOutput()
	found := err != nil
	if found {
		n.verified++
		if !namesFile(string(out), name) {
			return fmt.Errorf("verify does not name the file: %s", out)
		}
	}
	if err := p.start(); err != nil {
		if !errors.Is(err, errGone) || !namesFile(p.tail(), name) {
			return fmt.Errorf("refused without naming the file: %w", err)
		}
		if !found {
			return errors.New("verify found nothing, but the server does not start")
		}
		n.refused++
		return nil
	}
	defer p.kill()
	got, failed, err := readRaw(ctx, p, topics)
	if err != nil {
		return err
	}
	for tp, b := range want {
		cause, bad := failed[tp]
		switch {
		case !bad && !bytes.Equal(got[tp], b):
			return fmt.Errorf("%s/%d: other records are read, and no error tells of it", tp.topic, tp.partition)
		case bad && !bytes.HasPrefix(b, got[tp]):
			return fmt.Errorf("%s/%d: other records are read before the error %w", tp.topic, tp.partition, cause)
		case bad && !found:
			return fmt.Errorf("%s/%d: %w, but verify found nothing", tp.topic, tp.partition, cause)
		}
	}
	if len(failed) > 0 {
		n.isolated++
		if len(failed) == len(want) && strings.HasSuffix(name, ".wal") {
			return fmt.Errorf("nothing at all can be read: %v", failed)
		}
	}
	return readSQL(p, h, topics, failed)
}

// readSQL wants from each topic what was acknowledged, or an error that says
// where, and that only of topics with failed partitions.
func readSQL(p *process, h *history, topics []string, failed map[place]error) error {
	db, err := p.db()
	if err != nil {
		return err
	}
	defer db.Close()
	for _, t := range topics {
		bad := map[int32]bool{}
		for tp := range failed {
			if tp.topic == t {
				bad[tp.partition] = true
			}
		}
		for part := range int32(partitions) {
			n, want := 0, 0
			for at := range h.acked {
				if at.topic == t && at.partition == part {
					want++
				}
			}
			err := func() error {
				rows, err := db.Query(fmt.Sprintf("SELECT _offset, p, i FROM `%s` WHERE _partition = %d", t, part))
				if err != nil {
					return err
				}
				defer rows.Close()
				for rows.Next() {
					at := place{topic: t, partition: part}
					var id identity
					if err := rows.Scan(&at.offset, &id.P, &id.I); err != nil {
						return err
					}
					if h.acked[at] != id {
						return fmt.Errorf("SQL reads %v at %v, which is %v", id, at, h.acked[at])
					}
					n++
				}
				return rows.Err()
			}()
			switch {
			case err == nil && n != want:
				return fmt.Errorf("SQL reads %d records of %s/%d without an error, want %d", n, t, part, want)
			case err != nil && !bad[part]:
				return fmt.Errorf("SQL over %s/%d, which Kafka reads: %w", t, part, err)
			case err != nil && !slices.ContainsFunc(slices.Collect(maps.Keys(bad)), func(b int32) bool { return tellsWhere(err, t, b) }):
				return fmt.Errorf("an SQL error that does not say where: %w", err)
			}
		}
	}
	return nil
}

var offsetsInError = regexp.MustCompile(`offsets? \d+`)

func tellsWhere(err error, topic string, partition int32) bool {
	s := err.Error()
	return strings.Contains(s, topic) && strings.Contains(s, fmt.Sprint("partition ", partition)) && offsetsInError.MatchString(s)
}

// namesFile: the file itself, or what it belongs to where that says as much.
func namesFile(report, name string) bool {
	return strings.HasSuffix(name, ".wal") && strings.Contains(report, "log files are missing") || strings.Contains(report, filepath.Base(name)) ||
		filepath.Base(name) == "snapshot" && strings.Contains(report, "checkpoint") ||
		filepath.Base(name) == "FORMAT" && strings.Contains(report, "data format")
}

// filesByKind returns the directory's files by what they are, relative to it.
func filesByKind(dir string) (map[string][]string, error) {
	kinds := map[string][]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err != nil || info.Size() == 0 {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		kind := filepath.Ext(rel)
		if kind == "" {
			kind = filepath.Base(rel)
		}
		kinds[kind] = append(kinds[kind], rel)
		return err
	})
	for _, k := range kinds {
		slices.Sort(k)
	}
	return kinds, err
}

// flipBit flips a bit, nine times of ten in a byte that means something: log
// files are mostly zeroes.
func flipBit(name string, random *rand.Rand) (what string, err error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	at, bit := random.IntN(len(b)), random.IntN(8)
	if random.IntN(10) > 0 {
		if used := len(bytes.TrimRight(b, "\x00")); used > 0 {
			at = random.IntN(used)
		}
	}
	return fmt.Sprintf("byte %d, bit %d", at, bit), overwrite(name, []byte{b[at] ^ 1<<bit}, int64(at))
}

// readRaw fetches each partition's batches as they are stored, up to its end or
// to the first error.
func readRaw(ctx context.Context, p *process, topics []string) (contents, map[place]error, error) {
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(int16(kmsg.Fetch), 12) // the last with names
	cl, err := kgo.NewClient(kgo.SeedBrokers(p.kafka), kgo.MaxVersions(versions), kgo.RequestRetries(0))
	if err != nil {
		return nil, nil, err
	}
	defer cl.Close()
	all, failed := contents{}, map[place]error{}
	for _, t := range topics {
		for part := range int32(partitions) {
			tp := place{t, part, 0}
			start, err := listOffset(ctx, cl, t, part, earliest)
			if err != nil {
				return nil, nil, err
			}
			end, err := listOffset(ctx, cl, t, part, latest)
			if err != nil {
				return nil, nil, err
			}
			for at := start; at < end; {
				raw, err := fetchRaw(ctx, cl, tp, at)
				if err != nil {
					failed[tp] = err
					break
				}
				all[tp] = append(all[tp], raw...)
				for len(raw) > 0 {
					// Base offset, length of what follows, ..., last offset delta at 23.
					if len(raw) < 61 {
						return nil, nil, fmt.Errorf("%v: a cut batch of %d bytes", tp, len(raw))
					}
					at = int64(binary.BigEndian.Uint64(raw)) + int64(binary.BigEndian.Uint32(raw[23:])) + 1
					raw = raw[12+binary.BigEndian.Uint32(raw[8:]):]
				}
			}
		}
	}
	return all, failed, nil
}

func fetchRaw(ctx context.Context, cl *kgo.Client, tp place, at int64) ([]byte, error) {
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.SessionEpoch = 100, 1, 1<<20, -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic = tp.topic
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset, part.PartitionMaxBytes, part.CurrentLeaderEpoch = tp.partition, at, 1<<20, -1
	t.Partitions = append(t.Partitions, part)
	req.Topics = append(req.Topics, t)
	r, err := req.RequestWith(ctx, cl)
	if err != nil {
		return nil, err
	}
	if r.ErrorCode != 0 || len(r.Topics) != 1 || len(r.Topics[0].Partitions) != 1 {
		return nil, fmt.Errorf("fetch: error %d, %d topics", r.ErrorCode, len(r.Topics))
	}
	got := r.Topics[0].Partitions[0]
	if err := kerr.ErrorForCode(got.ErrorCode); err != nil {
		return nil, err
	}
	if len(got.RecordBatches) == 0 {
		return nil, errors.New("nothing is fetched before the end offset")
	}
	return got.RecordBatches, nil
}
