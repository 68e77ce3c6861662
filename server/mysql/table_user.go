package mysql

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
)

// mysqlDatabase is database mysql. Its table user lists the users, whole to administrators, to others
// themselves; passwords are not in it.
type mysqlDatabase struct{ toolDatabase }

func newMySQLDatabase() sql.Database { return mysqlDatabase{"mysql"} }

func (d mysqlDatabase) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	if strings.EqualFold(name, "user") {
		return userTable{}, true, nil
	}
	return d.toolDatabase.GetTableInsensitive(ctx, name)
}

func (d mysqlDatabase) GetTableNames(ctx *sql.Context) ([]string, error) {
	names, err := d.toolDatabase.GetTableNames(ctx)
	return append(names, "user"), err
}

// userTable is mysql.user, as far as tools ask for it.
type userTable struct{}

var _ sql.Table = userTable{}

func (userTable) Name() string               { return "user" }
func (userTable) String() string             { return "user" }
func (userTable) Collation() sql.CollationID { return sql.Collation_Default }

func (userTable) Schema() sql.Schema {
	schema := sql.Schema{textColumn("Host"), textColumn("User"), textColumn("Super_priv"), textColumn("plugin"), textColumn("account_locked")}
	for _, c := range schema {
		c.Source, c.DatabaseSource, c.Nullable = "user", "mysql", false
	}
	return schema
}

// wholePartition is the one partition of a table made in memory.
type wholePartition struct{}

func (wholePartition) Key() []byte { return []byte("all") }

func (userTable) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return sql.PartitionsToPartitionIter(wholePartition{}), nil
}

func (userTable) PartitionRows(ctx *sql.Context, _ sql.Partition) (sql.RowIter, error) {
	s := sessionOf(ctx)
	if s == nil {
		return sql.RowsToRowIter(), nil
	}
	all := s.isAdmin()
	var out []sql.Row
	for _, name := range s.server.o.Auth.Users() {
		if !all && name != s.principal.Name {
			continue
		}
		super := "N"
		if s.server.o.Auth.IsAdministrator(name) {
			super = "Y"
		}
		out = append(out, sql.Row{"%", name, super, "caching_sha2_password", "N"})
	}
	return sql.RowsToRowIter(out...), nil
}
