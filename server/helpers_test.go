package server_test

import (
	"database/sql"
	"testing"

	"millrace/server"
	"millrace/store/state"

	_ "github.com/go-sql-driver/mysql"
	"github.com/google/uuid"
)

// createTopic makes topics of one partition.
func createTopic(t *testing.T, s *server.Server, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := s.Store.Commit(t.Context(), state.CreateTopic{ID: uuid.New(), Name: name, Partitions: 1}); err != nil {
			t.Fatal(err)
		}
	}
}

// openSQL connects as user; over TLS when there is a password.
func openSQL(t *testing.T, s *server.Server, user, password string) *sql.DB {
	t.Helper()
	dsn := user + "@tcp(" + s.MySQLAddr() + ")/kafka"
	if password != "" {
		dsn = user + ":" + password + "@tcp(" + s.MySQLAddr() + ")/kafka?tls=skip-verify"
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}
