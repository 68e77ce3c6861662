package mysql

import (
	"millrace/server/mysql/sqlerr"

	"github.com/pingcap/tidb/pkg/parser"
)

// redacted is how a statement's text gets into the log: cut short and without its
// literals, which may be passwords or somebody's data.
func redacted(text string) string {
	return sqlerr.Clip(parser.Normalize(sqlerr.Clip(text), "ON"))
}
