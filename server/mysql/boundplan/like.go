package boundplan

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// fixLike writes out the escape character of a LIKE without one. The planner turns such a LIKE into a comparison with its text,
// escapes included, or into a range up to its prefix and U+00FF, and so loses the text that goes on with a higher character; it leaves
// a LIKE … ESCAPE alone. The ranges that are right are pushdown's.
func fixLike(e sql.Expression) sql.Expression {
	like, ok := e.(*expression.Like)
	if !ok || like.Escape != nil {
		return nil
	}
	return expression.NewLike(like.Left(), like.Right(), expression.NewLiteral(`\`, types.LongText))
}
