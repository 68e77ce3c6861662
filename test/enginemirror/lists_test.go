package enginemirror

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/enginetest/queries"
	"github.com/dolthub/go-mysql-server/enginetest/scriptgen/setup"
)

// list is a list of queries over tables that one set-up makes.
type list struct {
	name    string
	setup   [][]setup.SetupScript
	queries []query
	step    int // each so many-th is asked unless all are asked for
}

// query is a statement and its answer. Without one, the engine as it comes is asked.
type query struct {
	sql    string
	answer []row
	known  bool // answer is told
	failed bool // the answer is an error
}

func told(tests []queries.QueryTest) (out []query) {
	for _, q := range tests {
		if len(q.Bindings) == 0 && (q.Dialect == "" || q.Dialect == "mysql") {
			out = append(out, query{sql: q.Query, answer: q.Expected, known: true})
		}
	}
	return out
}

func planned(tests []queries.QueryPlanTest) (out []query) {
	for _, q := range tests {
		if !q.Skip {
			out = append(out, query{sql: q.Query})
		}
	}
	return out
}

func failing(tests []queries.QueryErrorTest) (out []query) {
	for _, q := range tests {
		if len(q.Bindings) == 0 {
			out = append(out, query{sql: q.Query, failed: true})
		}
	}
	return out
}

func converted() (out []query) {
	for _, c := range queries.ConvertTests {
		out = append(out, query{
			sql:    fmt.Sprintf("SELECT count(*) FROM typestable WHERE %s %s %s", c.Field, c.Op, c.Operand),
			answer: []row{{c.ExpCnt}}, known: true,
		})
	}
	return out
}

// lists are all that ask tables; the plan lists are many and long, and only their answers count here.
func lists() []list {
	joins := [][]setup.SetupScript{setup.MydbData, setup.MytableData, setup.Pk_tablesData, setup.OthertableData, setup.NiltableData, setup.XyData, setup.FooData}
	return []list{
		{"QueryTests", setup.SimpleSetup, told(queries.QueryTests), 1},
		{"KeylessQueries", [][]setup.SetupScript{setup.MydbData, setup.KeylessData, setup.MytableData}, told(queries.KeylessQueries), 1},
		{"BrokenQueries", [][]setup.SetupScript{setup.MydbData, setup.MytableData, setup.Pk_tablesData, setup.Fk_tblData, setup.OthertableData, setup.DatetimetableData}, told(queries.BrokenQueries), 1},
		{"NullRangeTests", setup.NullsSetup, told(queries.NullRangeTests), 1},
		{"ComplexIndexQueries", setup.ComplexIndexSetup, told(queries.ComplexIndexQueries), 4},
		{"JoinQueryTests", joins, told(queries.JoinQueryTests), 1},
		{"JSONTableQueryTests", [][]setup.SetupScript{setup.MydbData, setup.Pk_tablesData}, told(queries.JSONTableQueryTests), 1},
		{"DateParseQueries", [][]setup.SetupScript{setup.MydbData}, told(queries.DateParseQueries), 1},
		{"ConvertTests", [][]setup.SetupScript{setup.MydbData, setup.TypestableData}, converted(), 1},
		{"ErrorQueries", [][]setup.SetupScript{setup.MydbData, setup.MytableData, setup.Pk_tablesData, setup.OthertableData, setup.SpecialtableData, setup.DatetimetableData, setup.NiltableData}, failing(queries.ErrorQueries), 1},
	}
}

// scripts make their own tables.
type scriptList struct {
	name    string
	setup   [][]setup.SetupScript
	scripts []queries.ScriptTest
}

func scriptLists() []scriptList {
	none := [][]setup.SetupScript{setup.MydbData}
	return []scriptList{
		{"ScriptTests", none, queries.ScriptTests},
		{"JoinScriptTests", [][]setup.SetupScript{setup.MydbData, setup.MytableData, setup.Pk_tablesData, setup.OthertableData, setup.NiltableData, setup.XyData}, queries.JoinScriptTests},
		{"LateralJoinScriptTests", none, queries.LateralJoinScriptTests},
		{"OrderByGroupByScriptTests", none, queries.OrderByGroupByScriptTests},
		{"ColumnAliasQueries", setup.Mytable, queries.ColumnAliasQueries},
		{"DerivedTableOuterScopeVisibilityQueries", none, queries.DerivedTableOuterScopeVisibilityQueries},
		{"JSONTableScriptTests", none, queries.JSONTableScriptTests},
		{"JsonScripts", none, queries.JsonScripts},
		{"NumericErrorQueries", none, queries.NumericErrorQueries},
		{"SQLLogicJoinTests", none, queries.SQLLogicJoinTests},
		{"SQLLogicSubqueryTests", none, queries.SQLLogicSubqueryTests},
		{"IndexQueries", none, queries.IndexQueries},
	}
}

func planLists() []list {
	return []list{
		{"PlanTests", setup.PlanSetup, planned(queries.PlanTests), 1},
		{"IndexPlanTests", setup.ComplexIndexSetup, planned(queries.IndexPlanTests), 1},
		{"IntegrationPlanTests", setup.IntegrationPlanSetup, planned(queries.IntegrationPlanTests), 1},
		{"TpchPlanTests", setup.TpchPlanSetup, planned(queries.TpchPlanTests), 1},
		{"TpcdsPlanTests", setup.TpcdsPlanSetup, planned(queries.TpcdsPlanTests), 1},
		{"TpccPlanTests", setup.TpccPlanSetup, planned(queries.TpccPlanTests), 1},
		{"ImdbPlanTests", setup.ImdbPlanSetup, planned(queries.ImdbPlanTests), 1},
		{"SysbenchPlanTests", setup.SysbenchSetup, planned(queries.SysbenchPlanTests), 1},
		{"GeneratedColumnPlanTests", setup.GeneratedColumnSetup, planned(queries.GeneratedColumnPlanTests), 1},
	}
}

// scriptOf is a script in order: what sets it up, which may not fail, then what it asserts.
func scriptOf(s queries.ScriptTest) (out []query) {
	for _, statement := range s.SetUpScript {
		out = append(out, query{sql: statement})
	}
	if s.Query != "" {
		out = append(out, query{sql: s.Query, answer: s.Expected, known: s.ExpectedErr == nil, failed: s.ExpectedErr != nil})
	}
	for _, a := range s.Assertions {
		failed := a.ExpectedErr != nil || a.ExpectedErrStr != ""
		skip := a.Skip || a.SkipResultsCheck || a.SkipResultCheckOnServerEngine || len(a.Bindings) > 0 || a.Dialect != "" && a.Dialect != "mysql"
		out = append(out, query{sql: a.Query, answer: a.Expected, known: !failed && !skip, failed: failed && !skip})
	}
	return out
}
