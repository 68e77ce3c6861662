package sqlfn

import (
	"millrace/blobexpand/jsonval"
	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// bytesApart is how much memory a document taken apart takes for a byte of its text, at most: an array of digits.
const bytesApart = 16

// jsonChangeFunctions are those that change documents.
func jsonChangeFunctions(memory Memory) []sql.Function {
	set := func(c jsonval.Change) func(*jsonval.Document, *jsonval.Path, jsonval.Document) error {
		return func(d *jsonval.Document, p *jsonval.Path, v jsonval.Document) error {
			d.Set(p, v, c)
			return nil
		}
	}
	var out []sql.Function
	for name, change := range map[string]func(*jsonval.Document, *jsonval.Path, jsonval.Document) error{
		"json_set":     set(jsonval.Change{Replace: true, Insert: true}),
		"json_insert":  set(jsonval.Change{Insert: true}),
		"json_replace": set(jsonval.Change{Replace: true}),
		"json_array_append": func(d *jsonval.Document, p *jsonval.Path, v jsonval.Document) error {
			d.AppendAt(p, v)
			return nil
		},
		"json_array_insert": func(d *jsonval.Document, p *jsonval.Path, v jsonval.Document) error {
			if !p.EndsInCell() {
				return sqlerr.New(3165, "42000", "A path expression is not a path to a cell in an array.")
			}
			d.InsertAt(p, v)
			return nil
		},
	} {
		out = append(out, pairFunction(scalar{name: name, typeOf: fixed(types.JSON), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			d, err := jsonDocument(args[0], 1, name, memory)
			if err != nil || d == nil {
				return nil, err
			}
			size := d.Size() // at most
			for i := 1; i < len(args); i += 2 {
				if args[i] == nil {
					return nil, nil
				}
				p, err := singlePath(args[i], i+1)
				if err != nil {
					return nil, err
				}
				v, err := jsonAtom(ctx, args[i+1], exprs[i+1])
				if err != nil {
					return nil, err
				}
				if err := change(d, p, jsonval.NewDocument(v)); err != nil {
					return nil, err
				}
				// What was replaced does not count. Looking at all of the document takes a while, so it is done now and then.
				if size += textBytes(args[i]) + len(v); size > 2*maxFunctionBytes {
					if size = d.Size(); size > maxFunctionBytes {
						return tooLong(ctx, name), nil
					}
				}
			}
			return jsonResult(ctx, name, d, memory)
		}}, 1))
	}
	return append(out, scalarFunction(scalar{name: "json_remove", strict: true, typeOf: fixed(types.JSON), eval: func(ctx *sql.Context, args []any, _ []sql.Expression) (any, error) {
		d, err := jsonDocument(args[0], 1, "json_remove", memory)
		if err != nil {
			return nil, err
		}
		for i, a := range args[1:] {
			p, err := singlePath(a, i+2)
			if err != nil {
				return nil, err
			}
			if p.IsRoot() {
				return nil, sqlerr.New(3153, "42000", "The path expression '$' is not allowed in this context.")
			}
			d.Remove(p)
		}
		return jsonResult(ctx, "json_remove", d, memory)
	}}, 2, maxArguments))
}

// jsonDocument is a document argument to be changed; nil for NULL.
func jsonDocument(v any, position int, function string, memory Memory) (*jsonval.Document, error) {
	if v == nil {
		return nil, nil
	}
	text, err := jsonValue(v, position, function)
	if err != nil {
		return nil, err
	}
	d := jsonval.NewDocument(text)
	return &d, memory.Admits(bytesApart * len(text))
}

// singlePath is a path argument that leads to one value at most.
func singlePath(v any, position int) (*jsonval.Path, error) {
	paths, err := jsonPaths([]any{v}, position)
	if err != nil {
		return nil, err
	}
	if paths[0].Wild() {
		return nil, errWildPath()
	}
	return paths[0], nil
}

func errWildPath() error {
	return sqlerr.New(3149, "42000", "In this situation, path expressions may not contain the * and ** tokens or an array range.")
}
