package mysql

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"millrace/catalog/sqltable"

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
			"db":           {[]string{"Host", "Db", "User", "Select_priv"}, dbRows},
			"tables_priv":  {[]string{"Host", "Db", "User", "Table_name", "Grantor", "Timestamp", "Table_priv", "Column_priv"}, tablesPrivRows},
			"columns_priv": noRows("Host", "Db", "User", "Table_name", "Column_name", "Timestamp", "Column_priv"),
			"procs_priv":   noRows("Host", "Db", "User", "Routine_name", "Routine_type", "Grantor", "Proc_priv", "Timestamp"),

			"default_roles":  noRows("HOST", "USER", "DEFAULT_ROLE_HOST", "DEFAULT_ROLE_USER"),
			"func":           noRows("name", "ret", "dl", "type"),
			"general_log":    noRows("event_time", "user_host", "thread_id", "server_id", "command_type", "argument"),
			"global_grants":  noRows("USER", "HOST", "PRIV", "WITH_GRANT_OPTION"),
			"proxies_priv":   noRows("Host", "User", "Proxied_host", "Proxied_user", "With_grant", "Grantor", "Timestamp"),
			"role_edges":     noRows("FROM_HOST", "FROM_USER", "TO_HOST", "TO_USER", "WITH_ADMIN_OPTION"),
			"slow_log":       noRows("start_time", "user_host", "query_time", "lock_time", "rows_sent", "rows_examined", "db", "last_insert_id", "insert_id", "server_id", "sql_text", "thread_id"),
			"time_zone_name": noRows("Name", "Time_zone_id"),
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

			"global_status":  {[]string{"VARIABLE_NAME", "VARIABLE_VALUE"}, statusRows},
			"session_status": {[]string{"VARIABLE_NAME", "VARIABLE_VALUE"}, statusRows},
			"events_statements_summary_by_digest": {[]string{
				"SCHEMA_NAME", "DIGEST", "DIGEST_TEXT", "COUNT_STAR", "SUM_TIMER_WAIT", "MAX_TIMER_WAIT", "AVG_TIMER_WAIT", "SUM_ERRORS", "SUM_ROWS_SENT",
				"SUM_ROWS_EXAMINED", "LAST_SEEN",
			}, digestRows},

			"data_lock_waits":                      noRows("ENGINE", "REQUESTING_ENGINE_LOCK_ID", "REQUESTING_THREAD_ID", "BLOCKING_ENGINE_LOCK_ID", "BLOCKING_THREAD_ID"),
			"data_locks":                           noRows("ENGINE", "ENGINE_LOCK_ID", "THREAD_ID", "OBJECT_SCHEMA", "OBJECT_NAME", "INDEX_NAME", "LOCK_TYPE", "LOCK_MODE", "LOCK_STATUS", "LOCK_DATA"),
			"error_log":                            noRows("LOGGED", "THREAD_ID", "PRIO", "ERROR_CODE", "SUBSYSTEM", "DATA"),
			"events_statements_history":            noRows("THREAD_ID", "EVENT_ID", "SQL_TEXT", "DIGEST", "DIGEST_TEXT", "CURRENT_SCHEMA", "TIMER_WAIT", "ROWS_SENT", "ERRORS"),
			"metadata_locks":                       noRows("OBJECT_TYPE", "OBJECT_SCHEMA", "OBJECT_NAME", "LOCK_TYPE", "LOCK_DURATION", "LOCK_STATUS", "OWNER_THREAD_ID"),
			"replication_applier_status":           noRows("CHANNEL_NAME", "SERVICE_STATE"),
			"replication_connection_configuration": noRows("CHANNEL_NAME", "HOST", "PORT", "USER"),
			"replication_connection_status":        noRows("CHANNEL_NAME", "SOURCE_UUID", "THREAD_ID", "SERVICE_STATE"),
			"replication_group_member_stats":       noRows("CHANNEL_NAME", "VIEW_ID", "MEMBER_ID"),
			"replication_group_members":            noRows("CHANNEL_NAME", "MEMBER_ID", "MEMBER_HOST", "MEMBER_PORT", "MEMBER_STATE", "MEMBER_ROLE", "MEMBER_VERSION"),
			"session_account_connect_attrs":        noRows("PROCESSLIST_ID", "ATTR_NAME", "ATTR_VALUE", "ORDINAL_POSITION"),
			"session_connect_attrs":                noRows("PROCESSLIST_ID", "ATTR_NAME", "ATTR_VALUE", "ORDINAL_POSITION"),
			"user_variables_by_thread":             noRows("THREAD_ID", "VARIABLE_NAME", "VARIABLE_VALUE"),
		}
	case "sys":
		return map[string]toolTable{
			"version": {[]string{"sys_version", "mysql_version"}, func(ctx *sql.Context) ([]sql.Row, error) {
				v, err := ctx.GetSessionVariable(ctx, "version")
				return []sql.Row{{"2.1.3", v}}, err
			}},
			"processlist": {sessionColumns, sessionRows},
			"session":     {sessionColumns, sessionRows},
			"statement_analysis": {[]string{
				"query", "db", "exec_count", "err_count", "total_latency", "max_latency", "avg_latency", "rows_sent", "rows_examined", "last_seen", "digest",
			}, analysisRows},
			"innodb_lock_waits":     noRows("wait_started", "locked_table", "waiting_pid", "waiting_query", "blocking_pid", "blocking_query"),
			"schema_unused_indexes": noRows("object_schema", "object_name", "index_name"),
			"sys_config":            noRows("variable", "value", "set_time", "set_by"),
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
		rows = append(rows, switchValue(sql.Row{name, text}))
	}
	return rows
}

// statusRows are what SHOW STATUS tells of this server.
func statusRows(ctx *sql.Context) ([]sql.Row, error) {
	s := sessionOf(ctx)
	if s == nil {
		return nil, nil
	}
	count := func(has func(*thread) bool) string {
		n := 0
		s.server.threads.each(func(t *thread) {
			if has(t) {
				n++
			}
		})
		return strconv.Itoa(n)
	}
	return []sql.Row{
		{"Threads_connected", count(func(*thread) bool { return true })},
		{"Threads_running", count((*thread).isRunning)},
		{"Uptime", strconv.FormatInt(int64(time.Since(s.server.started)/time.Second), 10)},
	}, nil
}

// mayMonitor says whether the session may see what others do, as millrace.statements shows it.
func mayMonitor(ctx *sql.Context) bool { return mayRead(ctx, sqltable.SystemDatabase, "statements") }

// picoseconds is a time as performance_schema has it.
func picoseconds(d time.Duration) string { return strconv.FormatInt(d.Nanoseconds(), 10) + "000" }

func digestRows(ctx *sql.Context) ([]sql.Row, error) {
	var rows []sql.Row
	s := sessionOf(ctx)
	if s == nil || !mayMonitor(ctx) {
		return nil, nil
	}
	for _, st := range s.server.Statements() {
		rows = append(rows, sql.Row{
			nil, st.Digest, st.Text, strconv.FormatInt(st.Count, 10), picoseconds(st.Total), picoseconds(st.Max), picoseconds(average(st)),
			strconv.FormatInt(st.Errors, 10), strconv.FormatInt(st.RowsSent, 10), strconv.FormatInt(st.RowsScanned, 10), seenAt(st.LastSeen),
		})
	}
	return rows, nil
}

func analysisRows(ctx *sql.Context) ([]sql.Row, error) {
	var rows []sql.Row
	s := sessionOf(ctx)
	if s == nil || !mayMonitor(ctx) {
		return nil, nil
	}
	for _, st := range s.server.Statements() {
		rows = append(rows, sql.Row{
			st.Text, nil, strconv.FormatInt(st.Count, 10), strconv.FormatInt(st.Errors, 10), st.Total.String(), st.Max.String(), average(st).String(),
			strconv.FormatInt(st.RowsSent, 10), strconv.FormatInt(st.RowsScanned, 10), seenAt(st.LastSeen), st.Digest,
		})
	}
	return rows, nil
}

func average(s sqltable.Statement) time.Duration { return s.Total / time.Duration(max(1, s.Count)) }

func seenAt(millis int64) string {
	return time.UnixMilli(millis).UTC().Format("2006-01-02 15:04:05.000")
}

// sessionColumns are those of sys.session that tools read.
var sessionColumns = []string{"thd_id", "conn_id", "user", "db", "command", "state", "time", "current_statement"}

func sessionRows(ctx *sql.Context) ([]sql.Row, error) {
	var rows []sql.Row
	for _, p := range ctx.ProcessList.Processes() {
		cells := processCells(p) // user, host, database, command, seconds, state, statement
		rows = append(rows, sql.Row{number(p.Connection), number(p.Connection), cells[0], cells[2], cells[3], cells[5], cells[4], cells[6]})
	}
	return rows, nil
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
