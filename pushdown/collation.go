package pushdown

import (
	"github.com/dolthub/go-mysql-server/sql"
)

// comparableBytes: text must compare by its bytes; other types are no matter.
func comparableBytes(t sql.Type) bool {
	if _, enum := t.(sql.EnumType); enum {
		return false
	}
	if s, ok := t.(sql.StringType); ok {
		return s.Collation() == sql.Collation_utf8mb4_0900_bin
	}
	return true
}
