package blobexpand

import (
	"fmt"
	"strings"
	"testing"
)

// members is an object with n members named by prefix and number.
func members(prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,%q:1`, fmt.Sprint(prefix, i))
	}
	return "{" + b.String()[1:] + "}"
}

func TestADroppedColumnLeavesItsPlaceToAnother(t *testing.T) {
	in := inferred1(t, members("m", MaxMembers+1), `{"sub":{"x":1}}`)
	if got := len(in.Columns()); got != MaxMembers || !in.Rest() {
		t.Fatalf("%d columns, rest %v", got, in.Rest())
	}
	// One that is seen only after it was dropped takes no place either.
	in.Drop([][]string{{"m0"}, {"m1"}, {"later"}})
	for _, x := range []*Inference{in.Clone(), in} {
		x.Observe([]byte(`{"later":1,"m0":"text","new1":1,"new2":{"y":2},"new3":3}`))
		names := namesOf(x.Columns())
		if len(names) != MaxMembers || !strings.HasPrefix(names[0], "m2 ") || strings.Join(names[MaxMembers-2:], ",") != "new1 BIGINT,new2.y BIGINT" {
			t.Errorf("%d columns: %s … %s", len(names), names[0], names[len(names)-2:])
		}
	}
	// Undone, what was inferred meanwhile is shown, and nothing is lost.
	in.Drop(nil)
	names := namesOf(in.Columns())
	if len(names) != MaxMembers+3 || names[0] != "m0 VARCHAR(16383)" || names[MaxMembers] != "later BIGINT" {
		t.Errorf("%d columns: %s, %s", len(names), names[0], names[len(names)-3:])
	}
}

func TestDroppedColumnsTakeNoneOfATablesPlaces(t *testing.T) {
	in := NewInference(nil, nil)
	for i := range MaxColumns/200 + 1 {
		in.Observe([]byte(fmt.Sprintf(`{"o%d":%s}`, i, members("m", 200))))
	}
	if got := len(in.Columns()); got != MaxColumns || !in.Rest() {
		t.Fatalf("%d columns, rest %v", got, in.Rest())
	}
	in.Drop([][]string{{"o3", "m7"}})
	in.Observe([]byte(`{"a":1,"b":2}`))
	names := namesOf(in.Columns())
	if len(names) != MaxColumns || names[MaxColumns-1] != "a BIGINT" {
		t.Errorf("%d columns, the last %s", len(names), names[len(names)-1])
	}
}

func namesOf(cols []Column) (out []string) {
	for _, c := range cols {
		out = append(out, c.Name+" "+c.Type.String())
	}
	return out
}
