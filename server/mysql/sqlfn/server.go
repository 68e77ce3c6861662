package sqlfn

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// serverFunctions tell of the server and the session, and read no files.
func serverFunctions(version string) []sql.Function {
	return []sql.Function{
		scalarFunction(scalar{name: "load_file", typeOf: fixed(types.LongBlob), eval: func(*sql.Context, []any, []sql.Expression) (any, error) {
			return nil, nil // as if no file could be read: none can
		}}, 1, 1),
		scalarFunction(scalar{name: "version", typeOf: fixed(types.LongText), eval: func(*sql.Context, []any, []sql.Expression) (any, error) {
			return version, nil
		}}, 0, 0),
		scalarFunction(scalar{name: "session_user", typeOf: fixed(types.LongText), eval: userAtHost}, 0, 0),
		scalarFunction(scalar{name: "system_user", typeOf: fixed(types.LongText), eval: userAtHost}, 0, 0),
	}
}

func userAtHost(ctx *sql.Context, _ []any, _ []sql.Expression) (any, error) {
	c := ctx.Session.Client()
	return c.User + "@" + c.Address, nil
}
