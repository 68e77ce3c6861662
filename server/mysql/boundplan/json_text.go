package boundplan

import (
	"strings"

	"millrace/server/mysql/sqlfn"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// readsText are the engine's functions that read their arguments as text.
var readsText = map[string]bool{
	"ascii": true, "bin_to_uuid": true, "bit_length": true, "char_length": true, "character_length": true, "compress": true, "crc32": true, "elt": true,
	"field": true, "find_in_set": true, "from_base64": true, "insert": true, "instr": true, "lcase": true, "left": true, "length": true, "octet_length": true,
	"locate": true, "lower": true, "lpad": true, "ltrim": true, "md5": true, "mid": true, "ord": true, "position": true, "quote": true, "reverse": true,
	"right": true, "rpad": true, "rtrim": true, "sha": true, "sha1": true, "sha2": true, "soundex": true, "strcmp": true, "substr": true, "substring": true,
	"substring_index": true, "to_base64": true, "trim": true, "ucase": true, "unhex": true, "upper": true, "hex": true,
}

// fixJSONText gives LIKE and functions of text the text of JSON as it is sent to clients: the engine's own has names of
// members that are not escaped. nil: nothing to do.
func fixJSONText(_ *sql.Context, e sql.Expression) sql.Expression {
	switch x := e.(type) {
	case sql.FunctionExpression:
		if !readsText[strings.ToLower(x.FunctionName())] {
			return nil
		}
	case *expression.Like:
	default:
		return nil
	}
	children := e.Children()
	var texts []sql.Expression
	for i, c := range children {
		if c.Resolved() && types.IsJSON(c.Type()) {
			if texts == nil {
				texts = append(texts, children...)
			}
			texts[i] = sqlfn.JSONAsText(c)
		}
	}
	if texts == nil {
		return nil
	}
	out, err := e.WithChildren(texts...)
	if err != nil {
		return nil
	}
	return out
}
