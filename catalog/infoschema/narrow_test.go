package infoschema

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// watched is a database of tables without rows that notes how closely each was looked at.
type watched struct {
	name   string
	tables []string
	looked []string
}

var (
	_ sql.Database = (*watched)(nil)
	_ Lister       = (*watched)(nil)
)

func (d *watched) Name() string { return d.name }

func (d *watched) GetTableNames(*sql.Context) ([]string, error) { return d.tables, nil }

func (d *watched) look(how, name string) (sql.Table, bool, error) {
	if !slices.Contains(d.tables, name) {
		return nil, false, nil
	}
	d.looked = append(d.looked, how+name)
	return plain{name}, true, nil
}

func (d *watched) GetTableInsensitive(_ *sql.Context, name string) (sql.Table, bool, error) {
	return d.look("", name)
}

func (d *watched) KnownTable(_ *sql.Context, name string) (sql.Table, bool, error) {
	return d.look("~", name)
}

func (d *watched) TableHead(_ *sql.Context, name string) (sql.Table, bool, error) {
	return d.look("^", name)
}

// plain is a table with a key and a column of its own name.
type plain struct{ name string }

var _ sql.Table = plain{}

func (t plain) Name() string               { return t.name }
func (t plain) String() string             { return t.name }
func (t plain) Collation() sql.CollationID { return sql.Collation_utf8mb4_0900_bin }
func (t plain) Schema() sql.Schema {
	return sql.Schema{
		{Name: "id", Type: types.Int64, PrimaryKey: true, Source: t.name},
		{Name: "own_" + t.name, Type: types.Int64, Nullable: true, Source: t.name},
	}
}

func (t plain) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return nil, errors.New("rows are not asked for")
}

func (t plain) PartitionRows(*sql.Context, sql.Partition) (sql.RowIter, error) {
	return nil, errors.New("rows are not asked for")
}

type oneDatabase struct{ db *watched }

func (p oneDatabase) Database(_ *sql.Context, name string) (sql.Database, error) {
	if strings.EqualFold(name, p.db.name) {
		return p.db, nil
	}
	return nil, sql.ErrDatabaseNotFound.New(name)
}

func (p oneDatabase) HasDatabase(_ *sql.Context, name string) bool {
	return strings.EqualFold(name, p.db.name)
}
func (p oneDatabase) AllDatabases(*sql.Context) []sql.Database { return []sql.Database{p.db} }

// session answers one statement after another.
type session struct {
	t      testing.TB
	db     *watched
	engine *sqle.Engine
	narrow bool
}

func newSession(t testing.TB, tables ...string) *session {
	s := &session{t: t, db: &watched{name: "kafka", tables: tables}, narrow: true}
	a := analyzer.NewBuilder(oneDatabase{s.db}).Build()
	src := Sources{
		Databases: func(*sql.Context) []sql.Database { return []sql.Database{s.db} },
		Views: func(*sql.Context, string) []View {
			return []View{{Name: "v", Query: "SELECT 1", Definer: "d"}, {Name: "broken", Query: "SELECT"}}
		},
		ViewColumns: func(_ *sql.Context, _, view string) (sql.Schema, error) {
			if view == "broken" {
				return nil, errors.New("a view of nothing")
			}
			return sql.Schema{{Name: "one", Type: types.Int64}}, nil
		},
	}
	info, err := New(a.Catalog.InfoSchema, src)
	if err != nil {
		t.Fatal(err)
	}
	a.Catalog.InfoSchema = info
	s.engine = sqle.New(a, &sqle.Config{})
	return s
}

// ask returns rows, and the tables that were looked at: "^" at the head, "~" as known last, else closely.
func (s *session) ask(query string) (rows, looked string) {
	s.t.Helper()
	s.db.looked = nil
	ctx := sql.NewContext(s.t.Context(), sql.WithSession(sql.NewBaseSession()))
	ctx.SetCurrentDatabase("kafka")
	node, err := s.engine.AnalyzeQuery(ctx, query)
	if err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	if s.narrow {
		if node, err = Narrow(node); err != nil {
			s.t.Fatalf("%s: %v", query, err)
		}
	}
	it, err := s.engine.Analyzer.ExecBuilder.Build(ctx, node, nil)
	if err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	var out []string
	for {
		row, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			s.t.Fatalf("%s: %v", query, err)
		}
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = fmt.Sprint(c)
		}
		out = append(out, strings.Join(cells, ","))
	}
	slices.Sort(out)
	slices.Sort(s.db.looked)
	return strings.Join(out, " "), strings.Join(slices.Compact(s.db.looked), " ")
}

func TestOnlyTablesThatAreAskedForAreLookedAt(t *testing.T) {
	const two = "information_schema.columns c JOIN information_schema.tables t ON c.table_schema=t.table_schema AND c.table_name=t.table_name"
	for _, c := range []struct{ query, looked string }{
		{"SELECT column_name FROM information_schema.columns WHERE table_name='ab'", "ab"},
		{"SELECT column_name FROM information_schema.columns WHERE 'ab'=table_name AND table_schema='kafka'", "ab"},
		{"SELECT column_name FROM information_schema.columns WHERE table_name='AB'", ""},
		{"SELECT column_name FROM information_schema.columns WHERE LOWER(table_name)='ab'", "ab"},
		{"SELECT column_name FROM information_schema.columns WHERE UPPER(table_name)=UPPER('ab')", "ab"},
		{"SELECT column_name FROM information_schema.columns WHERE table_name IN ('ab','cd','none')", "ab cd"},
		{"SELECT column_name FROM information_schema.columns WHERE table_name LIKE 'a%'", "ab ac"},
		{"SELECT column_name FROM information_schema.columns WHERE table_name NOT LIKE 'a%' AND table_schema=DATABASE()", "cd"},
		{"SELECT column_name FROM information_schema.columns WHERE table_name='ab' OR table_name='cd' AND table_schema='kafka'", "ab cd"},
		{"SELECT column_name FROM information_schema.columns WHERE table_name='ab' OR column_name='own_cd'", "ab ac cd"},
		{"SELECT column_name FROM information_schema.columns WHERE table_schema='other'", ""},
		{"SELECT column_name FROM information_schema.columns c WHERE c.table_name='ab' AND c.ordinal_position=2", "ab"},
		{"SELECT column_name FROM (SELECT * FROM information_schema.columns) d WHERE d.table_name='ab'", "ab"},
		{"SELECT table_type FROM information_schema.tables WHERE table_name='ab'", "^ab"},
		{"SELECT index_name FROM information_schema.statistics WHERE table_name='ab'", "^ab"},
		{"SELECT column_name FROM information_schema.key_column_usage WHERE table_name LIKE 'ab'", "^ab"},
		{"SELECT constraint_type FROM information_schema.table_constraints WHERE table_name='ab'", "^ab"},
		{"SELECT partition_name FROM information_schema.partitions WHERE table_name='ab'", "^ab"},
		{"SELECT COUNT(*) FROM information_schema.referential_constraints", ""},
		// Through joins.
		{"SELECT column_name FROM " + two + " WHERE t.table_name='ab'", "^ab ab"},
		{"SELECT column_name FROM " + two + " WHERE c.table_name='ab'", "^ab ab"},
		{"SELECT column_name FROM " + strings.Replace(two, "JOIN", "LEFT JOIN", 1) + " WHERE c.table_name='ab'", "^ab ab"},
		{"SELECT t.table_name, column_name FROM information_schema.tables t LEFT JOIN information_schema.columns c ON c.table_name=t.table_name AND c.table_name='ab'", "^ab ^ac ^cd ab"},
		{"SELECT t.table_name, column_name FROM information_schema.tables t LEFT JOIN information_schema.columns c ON c.table_name=t.table_name WHERE c.table_name IS NULL OR c.table_name='ab'", "^ab ^ac ^cd ab ac cd"},
		{"SELECT c.column_name FROM information_schema.columns c, information_schema.key_column_usage k WHERE c.table_name=k.table_name AND c.column_name=k.column_name AND k.table_name='cd'", "^cd cd"},
		{"SELECT table_name FROM information_schema.tables t WHERE table_name='ab' AND EXISTS (SELECT 1 FROM information_schema.columns c WHERE c.table_name=t.table_name)", "^ab ab"},
		{"SELECT (SELECT COUNT(*) FROM information_schema.columns WHERE table_name='cd')", "cd"},
		{"SELECT column_name FROM information_schema.columns WHERE table_name='ab' UNION ALL SELECT column_name FROM information_schema.columns WHERE table_name='cd'", "ab cd"},
		// What may be asked of all of them.
		{"SELECT column_name FROM (SELECT * FROM information_schema.columns LIMIT 1) d WHERE table_name='cd'", "ab"},
		{"SELECT table_name, COUNT(*) FROM information_schema.columns GROUP BY table_name HAVING COUNT(*)>1 AND table_name='ab'", "ab ac cd"},
		{"SELECT column_name FROM information_schema.columns WHERE table_name=(SELECT MIN(t.table_name) FROM information_schema.tables t)", "^ab ^ac ^cd ab ac cd"},
	} {
		s := newSession(t, "ab", "ac", "cd")
		rows, looked := s.ask(c.query)
		if looked != c.looked {
			t.Errorf("%s:\n looked at %q, want %q", c.query, looked, c.looked)
		}
		s.narrow = false
		if want, _ := s.ask(c.query); rows != want {
			t.Errorf("%s:\n got %q, without narrowing %q", c.query, rows, want)
		}
	}
}

func TestColumnsOfManyTablesAreThoseKnownLast(t *testing.T) {
	names := make([]string, exactUpTo+1)
	for i := range names {
		names[i] = fmt.Sprintf("t%03d", i)
	}
	s := newSession(t, names...)
	_, looked := s.ask("SELECT COUNT(*) FROM information_schema.columns")
	if want := "~" + strings.Join(names, " ~"); looked != want {
		t.Errorf("looked at %s", looked)
	}
	if _, looked := s.ask("SELECT COUNT(*) FROM information_schema.columns WHERE table_name LIKE 't00%'"); looked != strings.Join(names[:10], " ") {
		t.Errorf("looked at %s", looked)
	}
}

func TestViewsAreListedBesideTables(t *testing.T) {
	s := newSession(t, "ab")
	for query, want := range map[string]string{
		"SELECT table_name, table_type FROM information_schema.tables":                              "ab,BASE TABLE broken,VIEW v,VIEW",
		"SELECT table_name, column_name FROM information_schema.columns WHERE table_name<>'ab'":     "v,one",
		"SELECT table_name, view_definition FROM information_schema.views WHERE table_name='v'":     "v,SELECT 1",
		"SELECT table_name FROM information_schema.statistics":                                      "ab",
		"SELECT table_name, column_name, ordinal_position FROM information_schema.key_column_usage": "ab,id,1",
	} {
		if got, _ := s.ask(query); got != want {
			t.Errorf("%s: %s", query, got)
		}
	}
}
