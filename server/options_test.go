package server

import (
	"errors"
	"testing"
)

func TestOpenServerListensOnLoopbackOnly(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*Options)
		open    bool
		refused bool
	}{
		{"defaults without users", func(*Options) {}, true, false},
		{"Kafka on all addresses without users", func(o *Options) { o.Kafka[0].Address = "0.0.0.0:9092" }, true, true},
		{"Kafka on an empty host without users", func(o *Options) { o.Kafka[0].Address = ":9092" }, true, true},
		{"MySQL elsewhere without users", func(o *Options) { o.MySQL = "10.0.0.1:3306" }, true, true},
		{"HTTP elsewhere without users", func(o *Options) { o.HTTP = "[::]:9644" }, true, true},
		{"IPv6 loopback without users", func(o *Options) { o.MySQL = "[::1]:3306" }, true, false},
		{"elsewhere with users", func(o *Options) { o.Kafka[0].Address = "0.0.0.0:9092" }, false, false},
		{"elsewhere, insecure", func(o *Options) { o.Kafka[0].Address = "0.0.0.0:9092"; o.Insecure = true }, true, false},
	} {
		o := DefaultOptions()
		c.change(&o)
		if got := errors.Is(o.checkAddresses(c.open), ErrInsecure); got != c.refused {
			t.Errorf("%s: refused %v, want %v", c.name, got, c.refused)
		}
	}
}
