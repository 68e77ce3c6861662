package store

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"millrace/store/state"
)

func TestRetentionLogsOneLineATopicAndPass(t *testing.T) {
	var out bytes.Buffer
	clock := newFakeClock(1_000_000)
	s, _ := openMem(t, func(o *Options) {
		o.Now = clock.now
		o.Logger = slog.New(slog.NewTextHandler(&out, nil))
	})
	old := createTopic(t, s, "old", 2, map[string]string{"retention.ms": "1000"})
	large := createTopic(t, s, "large", 1, map[string]string{"retention.bytes": "0"})
	kept := createTopic(t, s, "kept", 1, nil)
	for _, tp := range []state.TopicPartition{{Topic: old}, {Topic: old, Partition: 1}, {Topic: old, Partition: 1}, {Topic: large}, {Topic: kept}} {
		produce(t, s, tp, rec{clock.ms.Load() - 5000, "v"})
	}
	for range 2 { // the second pass has nothing to do
		if err := s.EnforceRetention(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		if _, text, ok := strings.Cut(line, "retention deleted records"); ok {
			got = append(got, strings.TrimSpace(text))
		}
	}
	want := []string{
		`" topic=large partition=0 "log start"=1 partitions=1 offsets=1 reason=retention.bytes`,
		`" topic=old partition=0 "log start"=1 partitions=2 offsets=3 reason=retention.ms`,
	}
	for _, w := range want {
		if !strings.Contains(strings.Join(got, "\n"), w) {
			t.Errorf("no line %s", w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("lines:\n%s", strings.Join(got, "\n"))
	}
}
