package catalog

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"millrace/blobexpand"
	"millrace/blobexpand/jsonval"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"
	"github.com/pingcap/tidb/pkg/parser/types"
)

// ParseColumns reads declarations in MySQL syntax (millrace.columns):
// "order_id BIGINT, amount DECIMAL(10,2) AS (_value->>'$.payment.amount')".
// The empty text declares nothing, and a name with dots (an inferred column's) stands in
// backticks. Errors wrap ErrColumns.
//
// A plain column reads the member of its name. A generated column names its path:
// _value->>'$.a.b', _value->'$.a.b', JSON_EXTRACT(_value, '$.a.b'), JSON_UNQUOTE of
// that, or FROM_UNIXTIME of one of them for a DATETIME or TIMESTAMP kept as epoch
// seconds (divided by 1000, 1000000 or 1000000000 for milli-, micro- or
// nanoseconds). Paths consist of members only.
//
// Cells can always be NULL, so NOT NULL is refused, as are keys, defaults and
// everything else that a log cannot keep.
func ParseColumns(ddl string) ([]blobexpand.Column, error) {
	if strings.TrimSpace(ddl) == "" {
		return nil, nil
	}
	p := parser.New()
	stmts, _, err := p.Parse(columnsBefore+ddl+columnsAfter, "", "")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrColumns, syntaxError(ddl, err))
	}
	create, ok := first(stmts).(*ast.CreateTableStmt)
	if !ok || len(stmts) != 1 || len(create.Options) > 0 || create.Partition != nil || create.Select != nil || create.ReferTable != nil {
		return nil, fmt.Errorf("%w: only columns can stand here", ErrColumns)
	}
	if len(create.Constraints) > 0 {
		return nil, fmt.Errorf("%w: a topic has no keys and constraints", ErrColumns)
	}
	if len(create.Cols) > blobexpand.MaxColumns {
		return nil, fmt.Errorf("%w: more than %d columns", ErrColumns, blobexpand.MaxColumns)
	}
	taken := map[string]bool{}
	for _, name := range SystemColumns() {
		taken[fold(name)] = true
	}
	cols := make([]blobexpand.Column, 0, len(create.Cols))
	for _, def := range create.Cols {
		if def.Name.Table.O != "" {
			name := strings.TrimPrefix(def.Name.Schema.O+"."+def.Name.Table.O+"."+def.Name.Name.O, ".")
			return nil, fmt.Errorf("%w: column %s: write a name with a dot in backticks: `%s`", ErrColumns, name, name)
		}
		c, err := columnOf(def)
		if err == nil && taken[fold(c.Name)] {
			err = fmt.Errorf("the name is taken")
		}
		if err != nil {
			return nil, fmt.Errorf("%w: column %s: %w", ErrColumns, def.Name.Name.O, err)
		}
		taken[fold(c.Name)] = true
		cols = append(cols, c)
	}
	return cols, nil
}

func first(stmts []ast.StmtNode) ast.StmtNode {
	if len(stmts) == 0 {
		return nil
	}
	return stmts[0]
}

func fold(name string) string { return strings.ToLower(name) }

func columnOf(def *ast.ColumnDef) (c blobexpand.Column, err error) {
	c.Name = def.Name.Name.O
	c.Path = []string{c.Name}
	c.Declared = true
	if utf8.RuneCountInString(c.Name) > blobexpand.MaxNameRunes {
		return c, fmt.Errorf("the name is longer than %d characters", blobexpand.MaxNameRunes)
	}
	if c.Type, err = typeOf(def.Tp); err != nil {
		return c, err
	}
	for _, o := range def.Options {
		switch o.Tp {
		case ast.ColumnOptionNull, ast.ColumnOptionNoOption:
		case ast.ColumnOptionComment:
			text, ok := stringOf(o.Expr)
			if !ok {
				return c, fmt.Errorf("a comment is a string")
			}
			c.Comment = text
		case ast.ColumnOptionGenerated:
			if c.Path, c.Type.Epoch, err = pathOf(o.Expr); err != nil {
				return c, err
			}
			if c.Type.Epoch != blobexpand.NoEpoch && c.Type.Kind != blobexpand.DateTime && c.Type.Kind != blobexpand.Timestamp {
				return c, fmt.Errorf("FROM_UNIXTIME needs a DATETIME or TIMESTAMP")
			}
		case ast.ColumnOptionNotNull:
			return c, fmt.Errorf("NOT NULL cannot be promised: a value that does not fit is NULL")
		default:
			return c, fmt.Errorf("only COMMENT and AS (path) can follow the type")
		}
	}
	return c, nil
}

// DeclarableTypes are those that a column may be declared with, for people.
const DeclarableTypes = "BOOLEAN, TINYINT, SMALLINT, MEDIUMINT, INT, BIGINT (also UNSIGNED), BIT, DECIMAL, FLOAT, DOUBLE, " +
	"CHAR, VARCHAR, TINYTEXT, TEXT, MEDIUMTEXT, LONGTEXT, ENUM, BINARY, VARBINARY, TINYBLOB, BLOB, MEDIUMBLOB, LONGBLOB, " +
	"DATE, TIME, DATETIME, TIMESTAMP, YEAR, JSON"

// typeOf translates the parser's type.
func typeOf(ft *types.FieldType) (t blobexpand.Type, err error) {
	unsigned := mysql.HasUnsignedFlag(ft.GetFlag())
	integer := func(bits uint8) blobexpand.Type {
		if unsigned {
			return blobexpand.Type{Kind: blobexpand.Uint64, Bits: bits}
		}
		return blobexpand.Type{Kind: blobexpand.Int64, Bits: bits}
	}
	fsp := uint8(max(ft.GetDecimal(), 0))
	switch ft.GetType() {
	case mysql.TypeTiny:
		if ft.GetFlen() == 1 && !unsigned {
			return blobexpand.Type{Kind: blobexpand.Bool}, nil
		}
		return integer(8), nil
	case mysql.TypeShort:
		return integer(16), nil
	case mysql.TypeInt24:
		return integer(24), nil
	case mysql.TypeLong:
		return integer(32), nil
	case mysql.TypeLonglong:
		return integer(64), nil
	case mysql.TypeBit:
		return blobexpand.Type{Kind: blobexpand.Uint64, Bits: uint8(max(ft.GetFlen(), 1))}, nil
	case mysql.TypeYear:
		return blobexpand.Type{Kind: blobexpand.Year}, nil
	case mysql.TypeFloat, mysql.TypeDouble:
		if unsigned || ft.GetDecimal() > 0 {
			return t, fmt.Errorf("%s with a scale or UNSIGNED: use DECIMAL", ft.String())
		}
		if ft.GetType() == mysql.TypeFloat && ft.GetFlen() <= 24 {
			return blobexpand.Type{Kind: blobexpand.Float64, Bits: 32}, nil
		}
		return blobexpand.Type{Kind: blobexpand.Float64, Bits: 64}, nil
	case mysql.TypeNewDecimal:
		if unsigned {
			return t, fmt.Errorf("DECIMAL UNSIGNED is not supported")
		}
		p, s := ft.GetFlen(), ft.GetDecimal()
		if p == types.UnspecifiedLength {
			p = 10
		}
		if s == types.UnspecifiedLength {
			s = 0
		}
		if p < 1 || p > 65 || s < 0 || s > 30 || s > p {
			return t, fmt.Errorf("DECIMAL has 1 to 65 digits, at most 30 of them after the point")
		}
		return blobexpand.Type{Kind: blobexpand.Decimal, Precision: uint8(p), Scale: uint8(s)}, nil
	case mysql.TypeJSON:
		return blobexpand.Type{Kind: blobexpand.JSON}, nil
	case mysql.TypeDate, mysql.TypeNewDate:
		return blobexpand.Type{Kind: blobexpand.Date}, nil
	case mysql.TypeDuration:
		return blobexpand.Type{Kind: blobexpand.Time, FSP: fsp}, nil
	case mysql.TypeDatetime:
		return blobexpand.Type{Kind: blobexpand.DateTime, FSP: fsp}, nil
	case mysql.TypeTimestamp:
		return blobexpand.Type{Kind: blobexpand.Timestamp, FSP: fsp}, nil
	case mysql.TypeEnum:
		return blobexpand.Type{Kind: blobexpand.Text, Enum: ft.GetElems()}, nil
	}
	kind := blobexpand.Text
	if ft.GetCharset() == "binary" {
		kind = blobexpand.Binary
	} else if cs := strings.ToLower(ft.GetCharset()); cs != "" && cs != "utf8mb4" {
		return t, fmt.Errorf("character set %s: text is utf8mb4", cs)
	} else if ft.GetCollate() != "" {
		return t, fmt.Errorf("a topic has one collation: set millrace.collation")
	}
	switch n := ft.GetFlen(); ft.GetType() {
	case mysql.TypeVarchar, mysql.TypeVarString, mysql.TypeString:
		if n == types.UnspecifiedLength {
			n = 1
		}
		if n < 1 || kind == blobexpand.Text && n > blobexpand.InferredTextLength || n > 65535 {
			return t, fmt.Errorf("a length of 1 to %d is needed, or a TEXT type", blobexpand.InferredTextLength)
		}
		return blobexpand.Type{Kind: kind, Length: n}, nil
	case mysql.TypeTinyBlob:
		return blobexpand.Type{Kind: kind, Length: 255}, nil
	case mysql.TypeBlob:
		return blobexpand.Type{Kind: kind, Length: 65535}, nil
	case mysql.TypeMediumBlob:
		return blobexpand.Type{Kind: kind, Length: 16777215}, nil
	case mysql.TypeLongBlob:
		return blobexpand.Type{Kind: kind}, nil
	}
	return t, fmt.Errorf("type %s is not supported; these are: %s", ft.String(), DeclarableTypes)
}

func stringOf(e ast.ExprNode) (string, bool) {
	v, ok := e.(*driver.ValueExpr)
	if !ok || v.Kind() != driver.KindString {
		return "", false
	}
	return v.GetString(), true
}

var errPath = fmt.Errorf("a generated column is _value->>'$.path' or FROM_UNIXTIME of it")

// pathOf reads the expression of a generated column.
func pathOf(e ast.ExprNode) (path []string, epoch blobexpand.EpochUnit, err error) {
	if f, ok := unwrap(e).(*ast.FuncCallExpr); ok && f.FnName.L == "from_unixtime" && len(f.Args) == 1 {
		arg := unwrap(f.Args[0])
		epoch = blobexpand.EpochSeconds
		if div, ok := arg.(*ast.BinaryOperationExpr); ok && div.Op == opcode.Div {
			v, ok := unwrap(div.R).(*driver.ValueExpr)
			if !ok || v.Kind() != driver.KindInt64 {
				return nil, 0, errPath
			}
			switch v.GetInt64() {
			case 1000:
				epoch = blobexpand.EpochMillis
			case 1_000_000:
				epoch = blobexpand.EpochMicros
			case 1_000_000_000:
				epoch = blobexpand.EpochNanos
			default:
				return nil, 0, errPath
			}
			arg = div.L
		}
		path, err = memberPath(arg)
		return path, epoch, err
	}
	path, err = memberPath(e)
	return path, blobexpand.NoEpoch, err
}

func unwrap(e ast.ExprNode) ast.ExprNode {
	for {
		p, ok := e.(*ast.ParenthesesExpr)
		if !ok {
			return e
		}
		e = p.Expr
	}
}

// memberPath reads JSON_EXTRACT(_value, '$.a.b'), which -> is short for, with or
// without JSON_UNQUOTE around it, which ->> has.
func memberPath(e ast.ExprNode) ([]string, error) {
	f, ok := unwrap(e).(*ast.FuncCallExpr)
	if ok && f.FnName.L == "json_unquote" && len(f.Args) == 1 {
		f, ok = unwrap(f.Args[0]).(*ast.FuncCallExpr)
	}
	if !ok || f.FnName.L != "json_extract" || len(f.Args) != 2 {
		return nil, errPath
	}
	col, ok := unwrap(f.Args[0]).(*ast.ColumnNameExpr)
	if !ok || col.Name.Name.L != ColValue {
		return nil, errPath
	}
	text, ok := stringOf(f.Args[1])
	if !ok {
		return nil, errPath
	}
	p, err := jsonval.ParsePath(text)
	if err != nil {
		return nil, err
	}
	path, ok := p.Members()
	if !ok || len(path) == 0 {
		return nil, fmt.Errorf("path %s: only members can be columns", text)
	}
	return path, nil
}
