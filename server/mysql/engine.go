package mysql

import (
	"fmt"
	"sync"

	"millrace/catalog/infoschema"
	"millrace/catalog/sqltable"
	"millrace/server/mysql/boundplan"
	"millrace/server/mysql/sqlfn"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/go-mysql-server/sql/variables"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// engine is go-mysql-server with its doors closed and our parts in it.
type engine struct {
	*sqle.Engine
	memory *sql.MemoryManager
}

// setVariables changes the engine's global variables; they belong to the process, so once.
var setVariables = sync.OnceValue(func() error {
	variables.InitSystemVariables()
	sql.SystemVariables.AddSystemVariables([]sql.SystemVariable{
		&sql.MysqlSystemVariable{
			Name: sqltable.PushdownVariable, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
			Type: types.NewSystemBoolType(sqltable.PushdownVariable), Default: int8(1),
		},
		&sql.MysqlSystemVariable{
			Name: sqltable.ThreadsVariable, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
			Type: types.NewSystemIntType(sqltable.ThreadsVariable, 0, sqltable.MaxThreads, false), Default: int64(0),
		},
	})
	return sql.SystemVariables.AssignValues(map[string]any{
		"version":            ServerVersion,
		"version_comment":    "Millrace",
		"secure_file_priv":   "/nonexistent/millrace-reads-and-writes-no-files",
		"local_infile":       int8(0),
		"max_allowed_packet": int64(16 << 20),
		// What every statement has; see transaction_mode.go.
		"transaction_isolation": isolationLevel,
		"tx_isolation":          isolationLevel,
		// SYSTEM would show timestamps differently on every machine.
		"time_zone":        "+00:00",
		"system_time_zone": "UTC",
	})
})

func newEngine(s *Server) *engine {
	if err := setVariables(); err != nil {
		panic(fmt.Sprintf("mysql: engine variables: %v", err)) // a programming error: the values are constants
	}
	b := analyzer.NewBuilder(&provider{Provider: s.o.Provider, functions: sqlfn.Functions(sqlfn.Options{Digest: digest, Memory: s.memory, Regexps: s.regexps, Locks: s.locks, Version: ServerVersion})})
	a := b.Build()
	ownRules(a, s.searchPanicked)
	a.Catalog.AuthHandler = authorizer{}
	a.Catalog.InfoSchema = s.informationSchema(a.Catalog.InfoSchema, a.Catalog)
	a.ExecBuilder = s.o.Pushdown
	e := sqle.New(a, &sqle.Config{})
	m := sql.NewMemoryManager(s.memory)
	e.MemoryManager = m
	e.ProcessList = sql.EmptyProcessList{}
	return &engine{Engine: e, memory: m}
}

// searchPanicked logs a panic in the planner's search for an order of joins, after which ours is taken.
func (s *Server) searchPanicked(ctx *sql.Context, p any) {
	_, id := keptDigest(ctx.Query())
	s.log.Warn("panic in the search for an order of joins", "digest", id, "statement", redacted(ctx.Query()), "panic", fmt.Sprint(p), "stack", stack())
}

// plan binds and analyses a rewritten statement. bindings may be nil (when there are no parameters,
// or to learn only the columns of a prepared statement). Without value, what has the value of a subquery, as valueOf does, it
// only binds.
func (e *engine) plan(ctx *sql.Context, stmt sqlparser.Statement, text string, bindings map[string]sql.Expression, value subqueryValue) (sql.Node, *sql.QueryFlags, error) {
	b := planbuilder.New(ctx, e.Analyzer.Catalog, nil, e.Parser)
	if bindings != nil {
		b.SetBindingsWithExpr(bindings)
	}
	node, flags, err := b.BindOnly(stmt, text, nil)
	if err != nil {
		return nil, nil, e.explainMissing(ctx, stmt, err)
	}
	if node, err = boundplan.Fix(ctx, node); err != nil {
		return nil, nil, err
	}
	if value == nil {
		return node, flags, nil
	}
	node, err = boundplan.WithValues(node, func(sub *plan.Subquery) (any, bool, error) { return value(ctx, sub, flags) })
	if err != nil {
		return nil, nil, err
	}
	node, err = e.Analyzer.Analyze(ctx, node, nil, flags)
	if err != nil {
		return nil, nil, err
	}
	if node, err = infoschema.Narrow(node); err != nil {
		return nil, nil, err
	}
	return node, flags, nil
}

// run starts a plan.
func (e *engine) run(ctx *sql.Context, node sql.Node, flags *sql.QueryFlags) (sql.Schema, sql.RowIter, error) {
	iter, err := e.Analyzer.ExecBuilder.Build(ctx, node, nil)
	if err != nil {
		return nil, nil, err
	}
	iter, schema, err := rowexec.FinalizeIters(ctx, node, flags, iter)
	if err != nil {
		return nil, nil, err
	}
	if schema == nil {
		schema = node.Schema()
	}
	return schema, iter, nil
}
