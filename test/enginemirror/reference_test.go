package enginemirror

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/enginetest/scriptgen/setup"
	"github.com/dolthub/go-mysql-server/memory"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// reference is the engine as it comes, over tables in memory. It carries out what sets the tables
// up, and whatever changes them.
type reference struct {
	engine  *sqle.Engine
	session *memory.Session
}

func newReference(scripts ...[]setup.SetupScript) (*reference, error) {
	provider := memory.NewDBProvider()
	provider.WithOption(memory.NativeIndexProvider(true)) // foreign keys refer to keys that are indexes
	r := &reference{engine: sqle.NewDefault(provider), session: memory.NewSession(sql.NewBaseSession(), provider)}
	r.engine.Analyzer.Catalog.MySQLDb.AddRootAccount()
	r.session.SetClient(sql.Client{User: "root", Address: "localhost"})
	for _, script := range scripts {
		for _, s := range script {
			for _, statement := range s {
				if _, _, err := r.run(statement); err != nil {
					return nil, fmt.Errorf("%.60s: %w", statement, err)
				}
			}
		}
	}
	return r, nil
}

func (r *reference) context() *sql.Context {
	return sql.NewContext(context.Background(), sql.WithSession(r.session))
}

// run carries a statement out. A panic of the engine is an error like another.
func (r *reference) run(statement string) (schema sql.Schema, rows []sql.Row, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	ctx := r.context().WithQuery(statement)
	schema, iter, _, err := r.engine.Query(ctx, statement)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = iter.Close(ctx) }()
	for {
		row, err := iter.Next(ctx)
		if errors.Is(err, io.EOF) {
			return schema, rows, nil
		}
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, row)
	}
}

// source is a table as records: its columns' declarations and its rows as JSON.
type source struct {
	name      string
	columns   []string // names
	declared  string   // what millrace.columns says
	collation string   // "" or what millrace.collation says
	records   []string
	left      []string // columns of types that no topic has
}

// tables returns the tables of the present database that can be topics, and why the others cannot.
func (r *reference) tables() (out []source, refused map[string]string, err error) {
	refused = map[string]string{}
	_, names, err := r.run("SHOW FULL TABLES")
	if err != nil {
		return nil, nil, err
	}
	for _, row := range names {
		name := row[0].(string)
		if row[1] != "BASE TABLE" {
			refused[strings.ToLower(name)] = "a view"
			continue
		}
		s, why, err := r.table(name)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		if why != "" {
			refused[strings.ToLower(name)] = why
			continue
		}
		out = append(out, s)
	}
	return out, refused, nil
}

func (r *reference) table(name string) (s source, refused string, err error) {
	schema, rows, err := r.run("SELECT * FROM `" + name + "`")
	if err != nil {
		return s, "", err
	}
	s.name = name
	var declarations, collations []string
	for _, c := range schema {
		kind := c.Type.String()
		if text, ok := c.Type.(sql.StringType); ok && types.IsTextOnly(text) {
			kind, _, _ = strings.Cut(kind, " CHARACTER SET")
			kind, _, _ = strings.Cut(kind, " COLLATE")
			collations = append(collations, text.Collation().Name())
		}
		if types.IsEnum(c.Type) {
			kind, _, _ = strings.Cut(kind, " CHARACTER SET")
			kind, _, _ = strings.Cut(kind, " COLLATE")
		}
		if types.IsGeometry(c.Type) || types.IsSet(c.Type) || strings.HasPrefix(kind, "vector") {
			s.left = append(s.left, c.Name)
			continue
		}
		if strings.HasPrefix(c.Name, "_") {
			return s, "a name like a system column's", nil
		}
		s.columns = append(s.columns, c.Name)
		declarations = append(declarations, "`"+c.Name+"` "+kind)
	}
	slices.Sort(collations)
	collations = slices.Compact(collations)
	switch {
	case len(collations) > 1:
		return s, "several collations", nil
	case len(collations) == 1 && collations[0] == "utf8mb4_0900_ai_ci":
		s.collation = collations[0]
	case len(collations) == 1 && collations[0] != "utf8mb4_0900_bin":
		return s, "collation " + collations[0], nil
	}
	if len(declarations) == 0 {
		return s, "no column that a topic can have", nil
	}
	s.declared = strings.Join(declarations, ", ")
	ctx := r.context()
	for _, row := range rows {
		var members []string
		for i, v := range row {
			if slices.Contains(s.left, schema[i].Name) {
				continue
			}
			if v == nil {
				if len(s.records)%2 == 0 {
					members = append(members, quote(schema[i].Name)+":null")
				}
				continue
			}
			text, err := schema[i].Type.SQL(ctx, nil, v)
			if err != nil {
				return s, "", err
			}
			value := text.ToString()
			switch t := schema[i].Type; {
			case types.IsJSON(t), types.IsDecimal(t), types.IsNumber(t) && !types.IsTimespan(t):
			case types.IsBinaryType(t):
				value = quote(base64.StdEncoding.EncodeToString([]byte(value)))
			default:
				value = quote(value)
			}
			members = append(members, quote(schema[i].Name)+":"+value)
		}
		s.records = append(s.records, "{"+strings.Join(members, ",")+"}")
	}
	return s, "", nil
}
