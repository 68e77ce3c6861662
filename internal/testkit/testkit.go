// Package testkit runs the whole server inside a test, on free loopback ports.
package testkit

import (
	"context"
	"log/slog"
	"testing"

	"millrace/server"
)

// Server starts a server over a directory of the test's own, which is closed with
// the test. change may adjust the options.
func Server(t testing.TB, change ...func(*server.Options)) *server.Server {
	t.Helper()
	o := server.DefaultOptions()
	o.Data = t.TempDir()
	o.Kafka = []server.Listener{{Address: "127.0.0.1:0"}}
	o.MySQL, o.HTTP = "127.0.0.1:0", "127.0.0.1:0"
	o.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	for _, c := range change {
		c(&o)
	}
	s, err := server.Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
