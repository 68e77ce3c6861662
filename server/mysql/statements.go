package mysql

import (
	"container/list"
	"sync"
	"time"

	"millrace/catalog/sqltable"
	"millrace/pushdown"

	"github.com/pingcap/tidb/pkg/parser"
)

const (
	// maxDigests bounds millrace.statements; the one not seen for longest gives way to a new one.
	maxDigests = 1000
	// maxDigestText is how much of a statement is normalised.
	maxDigestText = 4096
)

// statements sums up what was executed, by digest: statements that differ in their literals only are one.
type statements struct {
	mu      sync.Mutex
	by      map[string]*list.Element
	recency list.List // of *sqltable.Statement, the last seen first
}

func newStatements() *statements { return &statements{by: make(map[string]*list.Element)} }

// digest is text without its literals, and the digest of that.
func digest(text string) (normalised, id string) {
	normalised, d := parser.NormalizeDigest(text)
	return normalised, d.String()
}

// keptDigest is a statement's digest as millrace.statements has it.
func keptDigest(text string) (normalised, id string) {
	if len(text) > maxDigestText {
		text = text[:maxDigestText]
	}
	return digest(text)
}

// record adds one execution.
func (s *statements) record(text string, took time.Duration, failed bool, sent int64, t *pushdown.Trace) {
	normalised, id := keptDigest(text)
	if id == "" {
		return // nothing but a comment
	}
	scanned, outcome, reason := t.RowsScanned(), t.Outcome(), t.Reason()
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.by[id]
	if ok {
		s.recency.MoveToFront(e)
	} else {
		if s.recency.Len() >= maxDigests {
			last := s.recency.Back()
			delete(s.by, last.Value.(*sqltable.Statement).Digest)
			s.recency.Remove(last)
		}
		e = s.recency.PushFront(&sqltable.Statement{Digest: id, Text: normalised})
		s.by[id] = e
	}
	st := e.Value.(*sqltable.Statement)
	st.Count++
	if failed {
		st.Errors++
	}
	st.Total += took
	st.Max = max(st.Max, took)
	st.RowsSent += sent
	st.RowsScanned += scanned
	st.LastSeen = time.Now().UnixMilli()
	if outcome == "mixed" || outcome == "rows" {
		st.Fallbacks++
		if reason != "" {
			st.Reason = reason
		}
	}
}

// Statements lists what was executed, the last first.
func (s *Server) Statements() []sqltable.Statement {
	s.statements.mu.Lock()
	defer s.statements.mu.Unlock()
	out := make([]sqltable.Statement, 0, s.statements.recency.Len())
	for e := s.statements.recency.Front(); e != nil; e = e.Next() {
		out = append(out, *e.Value.(*sqltable.Statement))
	}
	return out
}

// done counts a statement that has ended.
func (r *running) done(failed bool) {
	s := r.c.s
	outcome := "ok"
	if failed {
		outcome = "error"
	}
	took := time.Since(r.began)
	s.metrics.statements.WithLabelValues(outcome).Inc()
	s.metrics.seconds.Observe(took.Seconds())
	if by := r.trace.Outcome(); by != "" {
		s.metrics.plans.WithLabelValues(by).Inc()
	}
	s.statements.record(r.text, took, failed, r.sent, &r.trace)
}
