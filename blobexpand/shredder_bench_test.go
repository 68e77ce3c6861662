package blobexpand

import (
	"bytes"
	"encoding/json"
	"testing"
)

// Benchmarks of shredding into vectors, and beside them what the machine can do with the same bytes:
// a pass that looks for one byte, and encoding/json into a struct of the eight members. Their
// ratios hold where MB/s vary.

// blockRows is how many rows a block of columns has at most.
const blockRows = 131072

var (
	eightOfClicks = []string{"event_id", "user_id", "ts", "browser", "width", "latency_ms", "amount", "country"}
	eightOfRepos  = []string{"id", "type", "actor.id", "actor.login", "repo.name", "payload.size", "public", "created_at"}
)

// inferredColumns infers over values, and gives the named columns, or all.
func inferredColumns(values [][]byte, names []string) (cols, all []Column) {
	in := NewInference(nil, nil)
	for _, v := range values {
		in.Observe(v)
	}
	all = in.Columns()
	if names == nil {
		return all, all
	}
	want := map[string]bool{}
	for _, n := range names {
		want[n] = true
	}
	for _, c := range all {
		if want[c.Name] {
			cols = append(cols, c)
		}
	}
	return cols, all
}

func BenchmarkShred(b *testing.B) {
	clicks, clickBytes := clickEvents(blockRows)
	repos, repoBytes := repoEvents(16384)
	for _, c := range []struct {
		name   string
		values [][]byte
		bytes  int64
		names  []string
		errors bool
	}{
		{"clicks/eight", clicks, clickBytes, eightOfClicks, false},
		{"clicks/all", clicks, clickBytes, nil, false},
		{"clicks/all with errors and rest", clicks, clickBytes, nil, true},
		{"repos/eight", repos, repoBytes, eightOfRepos, false},
		{"repos/all", repos, repoBytes, nil, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			cols, all := inferredColumns(c.values, c.names)
			s := NewShredder(cols, ExpanderOptions{Errors: c.errors, Rest: c.errors, All: all})
			b.SetBytes(c.bytes)
			b.ReportAllocs()
			for b.Loop() {
				for _, v := range c.values {
					s.Append(v)
				}
				s.Take()
			}
		})
	}
}

// BenchmarkWalk only reads and validates, with the eight members' places.
func BenchmarkWalk(b *testing.B) {
	clicks, clickBytes := clickEvents(blockRows)
	repos, repoBytes := repoEvents(16384)
	for _, c := range []struct {
		name   string
		values [][]byte
		bytes  int64
		names  []string
	}{
		{"clicks", clicks, clickBytes, eightOfClicks},
		{"repos", repos, repoBytes, eightOfRepos},
	} {
		b.Run(c.name, func(b *testing.B) {
			cols, _ := inferredColumns(c.values, c.names)
			e := NewExpander(cols, ExpanderOptions{})
			b.SetBytes(c.bytes)
			for b.Loop() {
				for _, v := range c.values {
					e.w.walk(v)
				}
			}
		})
	}
}

func BenchmarkMachine(b *testing.B) {
	clicks, clickBytes := clickEvents(blockRows)
	repos, repoBytes := repoEvents(16384)
	for _, c := range []struct {
		name   string
		values [][]byte
		bytes  int64
	}{{"clicks", clicks, clickBytes}, {"repos", repos, repoBytes}} {
		b.Run("find a byte in "+c.name, func(b *testing.B) {
			b.SetBytes(c.bytes)
			for b.Loop() {
				for _, v := range c.values {
					if bytes.IndexByte(v, 0) >= 0 {
						b.Fatal("found")
					}
				}
			}
		})
	}
	b.Run("encoding json of clicks", func(b *testing.B) {
		clicks, clickBytes := clicks[:4000], int64(0)
		for _, v := range clicks {
			clickBytes += int64(len(v))
		}
		b.SetBytes(clickBytes)
		for b.Loop() {
			for _, v := range clicks {
				var row struct {
					EventID   int64   `json:"event_id"`
					UserID    int64   `json:"user_id"`
					TS        string  `json:"ts"`
					Browser   string  `json:"browser"`
					Width     int64   `json:"width"`
					LatencyMS float64 `json:"latency_ms"`
					Amount    float64 `json:"amount"`
					Country   string  `json:"country"`
				}
				if err := json.Unmarshal(v, &row); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
