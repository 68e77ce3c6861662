package blobexpand

import (
	"fmt"
	"math/rand"
	"testing"
)

// clickEvents are records of 20 members and about 350 bytes.
func clickEvents(n int) (values [][]byte, bytes int64) {
	r := rand.New(rand.NewSource(1))
	browsers := []string{"Firefox", "Chrome", "Safari", "Edge"}
	for i := range n {
		v := fmt.Appendf(nil, `{"event_id":%d,"user_id":%d,"session":"%08x%08x","ts":"2026-08-12T%02d:%02d:%02d.%03dZ",`+
			`"page":"/products/%d","referrer":"https://example.com/search?q=%d","browser":"%s","version":"%d.0.%d",`+
			`"mobile":%t,"width":%d,"height":%d,"country":"%c%c","latency_ms":%.3f,"amount":%.2f,"currency":"EUR",`+
			`"items":%d,"clicked":%t,"scroll":%.4f,"lang":"en-US","note":null}`,
			1000000+i, r.Intn(100000), r.Uint32(), r.Uint32(), r.Intn(24), r.Intn(60), r.Intn(60), r.Intn(1000),
			r.Intn(5000), r.Intn(100000), browsers[r.Intn(4)], 80+r.Intn(40), r.Intn(5000),
			r.Intn(2) == 0, 320+r.Intn(2000), 480+r.Intn(1200), 'A'+r.Intn(26), 'A'+r.Intn(26), r.Float64()*500, r.Float64()*300,
			r.Intn(9), r.Intn(2) == 0, r.Float64())
		values = append(values, v)
		bytes += int64(len(v))
	}
	return values, bytes
}

func BenchmarkExpandEightOfTwentyColumns(b *testing.B) {
	values, bytes := clickEvents(20000)
	in := NewInference(nil, nil)
	for _, v := range values {
		in.Observe(v)
	}
	want := map[string]bool{"event_id": true, "user_id": true, "ts": true, "browser": true, "width": true, "latency_ms": true, "amount": true, "country": true}
	var cols []Column
	for _, c := range in.Columns() {
		if want[c.Name] {
			cols = append(cols, c)
		}
	}
	for _, errs := range []bool{false, true} {
		b.Run(fmt.Sprintf("errors=%t", errs), func(b *testing.B) {
			e := NewExpander(cols, ExpanderOptions{Errors: errs, All: in.Columns()})
			b.SetBytes(bytes)
			b.ReportAllocs()
			for b.Loop() {
				for i, v := range values {
					e.Append(v)
					if i%8192 == 8191 {
						for _, a := range e.Take() {
							a.Release()
						}
					}
				}
				for _, a := range e.Take() {
					a.Release()
				}
			}
		})
	}
}

// repoEvents are nested records of about 1.75 KB.
func repoEvents(n int) (values [][]byte, bytes int64) {
	r := rand.New(rand.NewSource(2))
	types := []string{"PushEvent", "IssuesEvent", "WatchEvent", "PullRequestEvent"}
	for i := range n {
		v := fmt.Appendf(nil, `{"id":"%d","type":"%s","actor":{"id":%d,"login":"user%d","display_login":"user%d","gravatar_id":"",`+
			`"url":"https://api.github.example/users/user%d","avatar_url":"https://avatars.github.example/u/%d?"},`+
			`"repo":{"id":%d,"name":"org%d/project-%d","url":"https://api.github.example/repos/org%d/project-%d"},"payload":{"repository_id":%d,`+
			`"push_id":%d,"size":%d,"distinct_size":1,"ref":"refs/heads/main","head":"%016x%016x","before":"%016x%016x","commits":[`,
			20000000000+i, types[r.Intn(4)], r.Intn(1e7), i, i, i, r.Intn(1e7), r.Intn(1e8), r.Intn(1000), i, r.Intn(1000), i, r.Intn(1e8),
			r.Int63n(1e10), 1+r.Intn(4), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64())
		for c := range 3 {
			if c > 0 {
				v = append(v, ',')
			}
			v = fmt.Appendf(v, `{"sha":"%016x%016x","author":{"email":"someone%d@example.org","name":"Some One"},"message":"Fix the thing that was broken\n\n`+
				`It was broken since the change of last week, and nobody had seen it.","distinct":true,"url":"https://api.github.example/repos/org/project/commits/%016x"}`,
				r.Uint64(), r.Uint64(), i, r.Uint64())
		}
		v = fmt.Appendf(v, `]},"public":true,"created_at":"2026-08-12T%02d:%02d:%02dZ","org":{"id":%d,"login":"org%d","gravatar_id":"",`+
			`"url":"https://api.github.example/orgs/org%d","avatar_url":"https://avatars.github.example/u/%d?"}}`,
			r.Intn(24), r.Intn(60), r.Intn(60), r.Intn(1e7), r.Intn(1000), r.Intn(1000), r.Intn(1e7))
		values = append(values, v)
		bytes += int64(len(v))
	}
	return values, bytes
}

func BenchmarkExpandEightColumnsOfNestedEvents(b *testing.B) {
	values, bytes := repoEvents(5000)
	in := NewInference(nil, nil)
	for _, v := range values {
		in.Observe(v)
	}
	want := map[string]bool{"id": true, "type": true, "actor.id": true, "actor.login": true, "repo.name": true, "payload.size": true, "public": true, "created_at": true}
	var cols []Column
	for _, c := range in.Columns() {
		if want[c.Name] {
			cols = append(cols, c)
		}
	}
	e := NewExpander(cols, ExpanderOptions{})
	b.SetBytes(bytes)
	b.ReportAllocs()
	for b.Loop() {
		for _, v := range values {
			e.Append(v)
		}
		for _, a := range e.Take() {
			a.Release()
		}
	}
}

func BenchmarkObserveNothingNew(b *testing.B) {
	values, bytes := clickEvents(20000)
	in := NewInference(nil, nil)
	for _, v := range values {
		in.Observe(v)
	}
	b.SetBytes(bytes)
	b.ReportAllocs()
	for b.Loop() {
		for _, v := range values {
			in.Observe(v)
		}
	}
}
