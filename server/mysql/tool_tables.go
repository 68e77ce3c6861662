package mysql

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// toolTables are the tables of databases mysql, performance_schema and sys that tools ask for, by database
// and lower-case name. What MySQL keeps in them and there is none of here (grants on columns and
// routines) has no rows; the rest tells the truth about this server.
func toolTables(db string) map[string]toolTable {
	switch db {
	case "mysql":
		return map[string]toolTable{
			"db":           noRows("Host", "Db", "User", "Select_priv"),
			"tables_priv":  noRows("Host", "Db", "User", "Table_name", "Grantor", "Timestamp", "Table_priv", "Column_priv"),
			"columns_priv": noRows("Host", "Db", "User", "Table_name", "Column_name", "Timestamp", "Column_priv"),
			"procs_priv":   noRows("Host", "Db", "User", "Routine_name", "Routine_type", "Grantor", "Proc_priv", "Timestamp"),
		}
	case "performance_schema":
		return map[string]toolTable{
			"global_variables":  {[]string{"VARIABLE_NAME", "VARIABLE_VALUE"}, globalVariables},
			"session_variables": {[]string{"VARIABLE_NAME", "VARIABLE_VALUE"}, sessionVariables},
			"processlist":       {[]string{"ID", "USER", "HOST", "DB", "COMMAND", "TIME", "STATE", "INFO"}, processRows},
			"threads": {[]string{
				"THREAD_ID", "NAME", "TYPE", "PROCESSLIST_ID", "PROCESSLIST_USER", "PROCESSLIST_HOST", "PROCESSLIST_DB",
				"PROCESSLIST_COMMAND", "PROCESSLIST_TIME", "PROCESSLIST_STATE", "PROCESSLIST_INFO",
			}, threadRows},
			"setup_consumers":   noRows("NAME", "ENABLED"),
			"setup_instruments": noRows("NAME", "ENABLED", "TIMED"),
		}
	case "sys":
		return map[string]toolTable{
			"version": {[]string{"sys_version", "mysql_version"}, func(ctx *sql.Context) ([]sql.Row, error) {
				v, err := ctx.GetSessionVariable(ctx, "version")
				return []sql.Row{{"2.1.3", v}}, err
			}},
		}
	}
	return nil
}

// toolTable makes its rows when it is read; all its columns are text.
type toolTable struct {
	columns []string
	rows    func(ctx *sql.Context) ([]sql.Row, error)
}

func noRows(columns ...string) toolTable {
	return toolTable{columns, func(*sql.Context) ([]sql.Row, error) { return nil, nil }}
}

// namedToolTable is a toolTable at its place.
type namedToolTable struct {
	toolTable
	db, name string
}

var _ sql.Table = namedToolTable{}

func (t namedToolTable) Name() string               { return t.name }
func (t namedToolTable) String() string             { return t.name }
func (t namedToolTable) Collation() sql.CollationID { return sql.Collation_Default }

func (t namedToolTable) Schema() sql.Schema {
	schema := make(sql.Schema, len(t.columns))
	for i, name := range t.columns {
		schema[i] = &sql.Column{Name: name, Type: types.LongText, Nullable: true, Source: t.name, DatabaseSource: t.db}
	}
	return schema
}

func (t namedToolTable) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return sql.PartitionsToPartitionIter(wholePartition{}), nil
}

func (t namedToolTable) PartitionRows(ctx *sql.Context, _ sql.Partition) (sql.RowIter, error) {
	rows, err := t.rows(ctx)
	if err != nil {
		return nil, err
	}
	return sql.RowsToRowIter(rows...), nil
}

// toolDatabase has the tables of toolTables.
type toolDatabase string

var _ sql.Database = toolDatabase("")

func (d toolDatabase) Name() string { return string(d) }

// GetTableInsensitive implements sql.Database.
func (d toolDatabase) GetTableInsensitive(_ *sql.Context, name string) (sql.Table, bool, error) {
	name = strings.ToLower(name)
	t, ok := toolTables(string(d))[name]
	if !ok {
		return nil, false, nil
	}
	return namedToolTable{t, string(d), name}, true, nil
}

// GetTableNames implements sql.Database.
func (d toolDatabase) GetTableNames(*sql.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(toolTables(string(d)))), nil
}

func globalVariables(*sql.Context) ([]sql.Row, error) {
	all := sql.SystemVariables.GetAllGlobalVariables()
	return variableRows(all), nil
}

func sessionVariables(ctx *sql.Context) ([]sql.Row, error) {
	return variableRows(ctx.GetAllSessionVariables()), nil
}

func variableRows(all map[string]any) []sql.Row {
	rows := make([]sql.Row, 0, len(all))
	for name, v := range all {
		text, _, err := types.LongText.Convert(sql.NewEmptyContext(), v)
		if err != nil {
			text = nil
		}
		rows = append(rows, sql.Row{name, text})
	}
	return rows
}

func processRows(ctx *sql.Context) ([]sql.Row, error) {
	var rows []sql.Row
	for _, p := range ctx.ProcessList.Processes() {
		rows = append(rows, append(sql.Row{number(p.Connection)}, processCells(p)...))
	}
	return rows, nil
}

func threadRows(ctx *sql.Context) ([]sql.Row, error) {
	var rows []sql.Row
	for _, p := range ctx.ProcessList.Processes() {
		rows = append(rows, append(sql.Row{number(p.Connection), "thread/sql/one_connection", "FOREGROUND", number(p.Connection)}, processCells(p)...))
	}
	return rows, nil
}

func number(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// processCells are user, host, database, command, seconds, state and statement.
func processCells(p sql.Process) sql.Row {
	var db, info any
	if p.Database != "" {
		db = p.Database
	}
	state := ""
	if p.Query != "" {
		info, state = p.Query, "executing"
	}
	return sql.Row{p.User, p.Host, db, string(p.Command), strconv.FormatInt(int64(time.Since(p.StartedAt)/time.Second), 10), state, info}
}
