package client

import "testing"

func TestTheShellShowsDoublesAsTheServerSendsThem(t *testing.T) {
	for _, c := range []struct {
		in   string
		bits int
		want string
	}{
		{"4.94503303000079e+06", 64, "4945033.03000079"},
		{"1e+10", 64, "10000000000"},
		{"0.5", 64, "0.5"},
		{"-0", 64, "-0"},
		{"1e-05", 64, "0.00001"},
		{"1e+14", 64, "100000000000000"},
		{"1e+15", 64, "1e15"},
		{"-2.5e-16", 64, "-2.5e-16"},
		{"1e-15", 64, "0.000000000000001"},
		{"1.6777216e+07", 32, "16777216"},
		{"not a number", 64, "not a number"},
	} {
		if got := string(serverDouble([]byte(c.in), c.bits)); got != c.want {
			t.Errorf("%s: %s, want %s", c.in, got, c.want)
		}
	}
}
