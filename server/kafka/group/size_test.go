package group

import (
	"strings"
	"testing"
	"time"
)

func TestMembersOfAGroupMayNotFillTheMemory(t *testing.T) {
	large := func(r *JoinRequest) {
		r.Protocols = []Protocol{{Name: "range", Metadata: append(subscription("t"), make([]byte, maxMemberDataBytes/2)...)}}
	}
	bubble(t, func(t *testing.T) {
		c := newConsumers(t, newFakeStore(), Options{}, "t", 1)
		first := c.join("", large)
		want(t, c.join("", large).get().Err, ErrGroupDataTooLarge)
		small := c.join("")
		time.Sleep(time.Second)
		if r := first.get(); r.Err != nil || small.get().Err != nil || r.Generation != 1 {
			t.Fatal(r.Err, small.get().Err)
		}
		if again := c.join(first.get().MemberID, large); again.done() && again.get().Err != nil {
			t.Error("it may say the same again", again.get().Err)
		}
	})
	bubble(t, func(t *testing.T) {
		c := newConsumers(t, newFakeStore(), Options{}, "t", 1)
		c.consumer("a", "t").must()
		name := strings.Repeat("x", maxMemberDataBytes)
		b := c.consumer("b", "t", name)
		want(t, b.beat(), ErrGroupDataTooLarge)
		want(t, c.join("", func(r *JoinRequest) { large(r); r.Protocols = append(r.Protocols, r.Protocols...) }).get().Err, ErrGroupDataTooLarge)
		if len(c.describe().Members) != 1 {
			t.Errorf("%+v", c.describe())
		}
	})
}
