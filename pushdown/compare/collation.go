package compare

import (
	"github.com/dolthub/go-mysql-server/sql"
)

// ByBytes says that t is no text, or text that compares by its bytes.
func ByBytes(t sql.Type) bool {
	if _, enum := t.(sql.EnumType); enum {
		return false
	}
	if s, ok := t.(sql.StringType); ok {
		return s.Collation() == sql.Collation_utf8mb4_0900_bin
	}
	return true
}
