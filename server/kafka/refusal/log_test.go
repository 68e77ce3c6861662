package refusal

import (
	"testing"
	"time"

	"millrace/server/kafka/rarelog"
)

func TestKindsAreForgottenInTheOrderOfTheirLastTime(t *testing.T) {
	now := time.Unix(100, 0)
	c := New(2, func() time.Time { return now })
	note := func(topic string) bool {
		return c.Note(Key{Refused: Refused{Topic: topic, Code: 3}}, "", "")
	}
	if !note("a") || note("a") {
		t.Error("want a line for the first only")
	}
	note("b")
	now = now.Add(rarelog.Every)
	if !note("a") {
		t.Error("want another line after a while")
	}
	note("c")
	all := c.All()
	if len(all) != 2 || all[0].Topic != "c" || all[1].Topic != "a" || all[1].Count != 3 || all[1].Last.Sub(all[1].First) != rarelog.Every {
		t.Errorf("%+v", all)
	}
}
