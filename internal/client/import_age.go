package client

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// ageCheck counts the records that the topic's retention will delete for their age.
// The zero value counts none.
type ageCheck struct {
	topic     string
	retention time.Duration
	before    time.Time // zero: nothing is too old
	old, all  int64
	oldest    time.Time
}

// newAgeCheck asks for the topic's retention, where records bring times of their own. Who may not
// see configs is not warned.
func (c *Import) newAgeCheck(ctx context.Context, cl *kgo.Client, now time.Time) (*ageCheck, error) {
	if c.Timestamp == "" {
		return &ageCheck{}, nil
	}
	configs, err := topicConfigs(ctx, cl, c.Topic)
	if errors.Is(err, kerr.TopicAuthorizationFailed) {
		return &ageCheck{}, nil
	}
	if err != nil {
		return nil, err
	}
	values := make(map[string]string, len(configs))
	for _, cfg := range configs {
		values[cfg.name] = cfg.value
	}
	return newAgeCheck(c.Topic, values, now), nil
}

func newAgeCheck(topic string, configs map[string]string, now time.Time) *ageCheck {
	ms, err := strconv.ParseInt(configs["retention.ms"], 10, 64)
	const most = int64(1<<63-1) / int64(time.Millisecond) // longer is for ever
	if err != nil || ms < 0 || ms > most || !strings.Contains(configs["cleanup.policy"], "delete") || configs["message.timestamp.type"] == "LogAppendTime" {
		return &ageCheck{}
	}
	retention := time.Duration(ms) * time.Millisecond
	return &ageCheck{topic: topic, retention: retention, before: now.Add(-retention)}
}

func (a *ageCheck) look(r *kgo.Record) {
	a.all++
	if a.before.IsZero() || r.Timestamp.IsZero() || !r.Timestamp.Before(a.before) {
		return
	}
	if a.old++; a.old == 1 || r.Timestamp.Before(a.oldest) {
		a.oldest = r.Timestamp
	}
}

// warn tells of what will be deleted, and how to keep it.
func (a *ageCheck) warn(s *IO) {
	if a.old == 0 {
		return
	}
	verb := "are"
	if a.old == 1 {
		verb = "is"
	}
	fmt.Fprintf(s.Err, "warning: %s of %d %s older than retention.ms of %s (%s; the oldest is of %s) and will be deleted soon; to keep them, now: millrace topic alter %s --set retention.ms=-1\n",
		plural(a.old, "record"), a.all, verb, a.topic, days(a.retention), a.oldest.UTC().Format(time.DateOnly), a.topic)
}

// days spells whole days as such.
func days(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= day && d%day == 0 {
		return plural(int64(d/day), "day")
	}
	return d.String()
}
