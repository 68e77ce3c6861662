package meaning

import (
	"github.com/dolthub/go-mysql-server/sql"
)

// EnumText is the text of an ENUM, of which the engine knows the number.
type EnumText interface {
	sql.Expression
	// Enum is the expression whose text it is.
	Enum() sql.Expression
}
