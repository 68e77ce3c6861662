package group

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestGroupsOfBothProtocolsAreCounted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		reg := prometheus.NewRegistry()
		c := newConsumers(t, newFakeStore(), Options{Registry: reg}, "t", 4)
		c.consumer("a", "t").must()
		c.consumer("b", "t").must()
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, f := range families {
			if f.GetName() == "millrace_groups" {
				for _, m := range f.Metric {
					got[m.Label[0].GetValue()] = m.GetGauge().GetValue()
				}
			}
		}
		if len(got) != 6 || got["Reconciling"] != 1 || got["Stable"] != 0 {
			t.Errorf("%v", got)
		}
	})
}
