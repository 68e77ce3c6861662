package server_test

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"testing"

	"millrace/server"
	"millrace/store/state"

	"github.com/go-sql-driver/mysql"
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

// loginError is MySQL's number of the error that a login ends with, 0 for none, and -1 for one without a number.
func loginError(t *testing.T, s *server.Server, user, password string, c *tls.Config) int {
	t.Helper()
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User, config.Passwd, config.DBName, config.TLS = "tcp", s.MySQLAddr(), user, password, "kafka", c
	config.AllowCleartextPasswords = false
	config.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	err = db.PingContext(t.Context())
	var numbered *mysql.MySQLError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &numbered):
		return int(numbered.Number)
	default:
		return -1
	}
}

// tablesOf are the names of all tables of a database, as db's user sees them.
func tablesOf(ctx context.Context, t *testing.T, db *sql.DB, database string) (names []string) {
	t.Helper()
	rows, err := db.QueryContext(ctx, "SHOW TABLES FROM "+database)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}
