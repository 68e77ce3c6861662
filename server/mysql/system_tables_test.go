package mysql

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"millrace/catalog/sqltable"
	colset "millrace/scan/columns"
)

// Of every column of the topics asked for millrace.columns tells how the records keep to it.
func TestTheDriftReportCountsWhatIsInColumns(t *testing.T) {
	in := start(t, nil)
	in.topic("orders", map[string]string{"millrace.columns": "amount DECIMAL(6,2), old VARCHAR(10), n INT AS (_value->>'$.x.n')"},
		`{"amount":"1.50","kind":"a"}`, `{"amount":"many","kind":"b","x":{"n":1}}`, "-", `{"kind":"c","late":true,"amount":null}`, `no JSON`, `{"amount":[1],"old":"long long long","x":{"n":99999999999}}`)
	in.topic("other", nil, `{"a":1}`)
	db := in.open("root", "", "")
	for _, c := range []struct{ query, want string }{
		{
			"SELECT column_name, position, path, type, declared, declared_type, inferred_type, generated_from FROM millrace.columns WHERE topic='orders' ORDER BY position",
			"amount,8,$.amount,DECIMAL(6,2),1,DECIMAL(6,2),VARCHAR(16383),NULL / old,9,$.old,VARCHAR(10),1,VARCHAR(10),VARCHAR(16383),NULL / n,10,$.x.n,INT,1,INT,BIGINT,_value->>'$.x.n' / kind,11,$.kind,VARCHAR(16383),0,NULL,VARCHAR(16383),NULL / late,12,$.late,TINYINT(1),0,NULL,TINYINT(1),NULL",
		},
		{
			"SELECT column_name, records, present, present_share, null_share, errors FROM millrace.columns WHERE topic='orders' ORDER BY position",
			"amount,5,1,0.2,0.8,2 / old,5,0,0,1,1 / n,5,1,0.2,0.8,1 / kind,5,3,0.6,0.4,0 / late,5,1,0.2,0.8,0",
		},
		{
			"SELECT column_name, first_partition, first_offset, last_partition, last_offset FROM millrace.columns WHERE topic IN ('orders') ORDER BY position",
			"amount,0,0,0,0 / old,NULL,NULL,NULL,NULL / n,0,1,0,1 / kind,0,0,0,2 / late,0,2,0,2",
		},
		{"SELECT topic, COUNT(*) FROM millrace.columns GROUP BY topic ORDER BY topic", "orders,5 / other,1"},
		{"SELECT c.column_name, t.records FROM millrace.columns c JOIN millrace.topics t ON t.name=c.topic WHERE c.topic='other'", "a,1"},
		{"SELECT first_seen FROM millrace.columns WHERE topic='other'", "2023-11-14 22:13:20.000"},
	} {
		if got := ask(t, db, c.query); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.query, got, c.want)
		}
	}
}

// What is asked of many topics at once is told without reading them.
func TestTheDriftReportOfManyTopicsReadsNone(t *testing.T) {
	in := start(t, nil)
	for i := range 65 {
		in.topic("t"+strings.Repeat("x", i), nil, `{"a":1}`)
	}
	db := in.open("root", "", "")
	if got := ask(t, db, "SELECT COUNT(DISTINCT topic) FROM millrace.columns WHERE topic LIKE 't_%' AND present=1"); got != "64" {
		t.Error(got)
	}
	if got := ask(t, db, "SELECT COUNT(present) FROM millrace.columns"); got != "0" {
		t.Error(got)
	}
}

func TestExpansionsTellOfBlocksThatAreInFiles(t *testing.T) {
	dir := t.TempDir()
	cols := colset.New(colset.Options{BlockRows: 10, Dir: dir})
	in := start(t, func(o *Options) {
		o.Provider = sqltable.NewProvider(o.Catalog, o.Store, sqltable.Options{Columns: cols})
	})
	values := make([]string, 25)
	for i := range values {
		values[i] = `{"a":1}`
	}
	in.topic("t", nil, values...)
	db := in.open("root", "", "")
	const query = "SELECT topic, state, reason, blocks_done, blocks_total, rows_done, rows_total, rows_outdated, progress FROM millrace.expansions"
	if got := ask(t, db, query); got != "" {
		t.Errorf("before anything asked: %s", got)
	}
	if got := ask(t, db, "SELECT SUM(a) FROM t"); got != "25" {
		t.Fatal(got)
	}
	if got := ask(t, db, query); got != "t,waiting,new records,0,3,0,25,0,0" {
		t.Errorf("before sealing: %s", got)
	}
	sn := in.store.Snapshot()
	table, err := in.cat.Bind(t.Context(), sn, "t")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cols.Seal(t.Context(), sn, table, []int32{0}, true, func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	sn.Release()
	if got := ask(t, db, query); got != "t,done,NULL,3,3,25,25,0,1" {
		t.Errorf("sealed: %s", got)
	}
	if got := ask(t, db, "SELECT expansion_lag FROM millrace.partitions WHERE topic='t'"); got != "0" {
		t.Error(got)
	}
	in.produce(in.id("t"), `{"a":1}`)
	if got := ask(t, db, query); got != "t,done,too few records,3,4,25,26,0,1" {
		t.Errorf("a record more: %s", got)
	}
	in.topic("few", nil, `{"a":1}`)
	if got := ask(t, db, "SELECT SUM(a) FROM few"); got != "1" {
		t.Fatal(got)
	}
	if got := ask(t, db, query+" WHERE topic='few'"); got != "few,done,too few records,0,1,0,1,0,1" {
		t.Errorf("a topic of few records: %s", got)
	}
	ask(t, db, "ALTER TABLE t MODIFY COLUMN a VARCHAR(5)")
	if got := ask(t, db, query); got != "few,done,too few records,0,1,0,1,0,1 / t,waiting,types changed,0,4,0,26,25,"+fmt.Sprint(1./26) {
		t.Errorf("after ALTER TABLE: %s", got)
	}
}

func TestSystemTablesTellOfTheStore(t *testing.T) {
	in := start(t, nil)
	in.topic("t", map[string]string{"retention.ms": "1000000000"}, `{"a":1}`, "-", `{"a":2}`)
	db := in.open("root", "", "")
	for query, want := range map[string]string{
		"SELECT name, partitions, records, size_bytes > 100, configs->>'$.\"retention.ms\"' FROM millrace.topics WHERE name='t'":                       "t,1,2,1,1000000000",
		"SELECT topic, `partition`, log_start, last_stable, end_offset, size_bytes > 100 FROM millrace.partitions":                                     "t,0,0,2,2,1",
		"SELECT kind, partitions, batches, damaged FROM millrace.segments":                                                                             "log,1,1,0",
		"SELECT name, value, is_default, default_value FROM millrace.configs WHERE topic='t' AND name IN ('retention.ms','cleanup.policy') ORDER BY 1": "cleanup.policy,delete,1,delete / retention.ms,1000000000,0,604800000",
		"SELECT COUNT(*) FROM millrace.storage WHERE healthy":                                                                                          "1",
		"SELECT COUNT(*) FROM millrace.producers":                                                                                                      "0",
		"SELECT COUNT(*) FROM millrace.transactions":                                                                                                   "0",
		"SELECT table_comment FROM information_schema.tables WHERE table_schema='millrace' AND table_name='storage'":                                   "One row about the store.",
		"SELECT COUNT(*) FROM millrace.`groups`":                                                                                                       "0",
	} {
		if got := ask(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("INSERT INTO t (a) VALUES (3)"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

func TestQueriesAreThoseThatRun(t *testing.T) {
	var in *instance
	in = start(t, func(o *Options) {
		o.Provider = sqltable.NewProvider(o.Catalog, o.Store, sqltable.Options{Queries: func() []sqltable.Query { return in.s.Queries() }})
	})
	db := in.open("root", "", "")
	got := ask(t, db, "SELECT user, `database`, command, statement LIKE 'select user%', seconds < 60 FROM millrace.queries")
	if want := "root,kafka,Query,1,1"; got != want {
		t.Errorf("%s", got)
	}
}

func TestEverySystemTableCanBeRead(t *testing.T) {
	in := start(t, nil)
	in.topic("t", nil, `{"a":1}`)
	db := in.open("root", "", "")
	names := strings.Split(ask(t, db, "SHOW TABLES FROM millrace"), " / ")
	if len(names) < 19 {
		t.Errorf("%d tables: %s", len(names), names)
	}
	for _, name := range names {
		if _, err := table(t, db, "SELECT * FROM millrace."+name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := ask(t, db, "SELECT COUNT(*) FROM millrace."+name); got == "" {
			t.Errorf("%s: no count", name)
		}
	}
}

func TestMembersBeyondTheLimitsAreToldOf(t *testing.T) {
	in := start(t, nil)
	var members []string
	for i := range 300 {
		members = append(members, fmt.Sprintf(`"m%03d":%d`, i, i))
	}
	wide := "{" + strings.Join(members, ",") + "}"
	in.topic("wide", nil, `{"a":{"b":1}}`, `{"a":{"b":`+wide+`}}`, wide, `{"a":{"b":2}}`)
	db := in.open("kafka", "", "")
	if got := ask(t, db, "SELECT column_name, position, path, type, declared, records, present, first_offset, last_offset, errors, comment FROM millrace.columns WHERE topic='wide' AND column_name NOT LIKE '%m%'"); got !=
		"a.b,8,$.a.b,BIGINT,0,4,2,0,3,0, / _rest,520,$.a.b, $,JSON,0,4,2,1,2,NULL,members beyond the limits: 256 of one object, 2000 columns, 64 levels; ask for them as _rest->>'$.name'" {
		t.Error(got)
	}
	if got := ask(t, db, "SELECT ordinal_position FROM information_schema.columns WHERE table_name='wide' AND column_name='_rest'"); got != "520" {
		t.Error(got)
	}
	if got := ask(t, db, "SELECT _rest->>'$.m299' FROM wide WHERE _rest->>'$.m299' IS NOT NULL"); got != "299" {
		t.Error(got)
	}
	run(t, in, "ALTER TABLE wide ADD COLUMN m299 INT")
	if got := ask(t, db, "SELECT m299, _rest->>'$.m299' FROM wide WHERE m299 IS NOT NULL"); got != "299,NULL" {
		t.Error(got)
	}
}
