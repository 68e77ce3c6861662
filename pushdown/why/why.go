package why

// Reasons why a filter stays with the engine, as EXPLAIN shows them.
const (
	NotSimple     = "not a comparison of a column with a constant"
	NotConstant   = "compared with what is not a constant"
	OtherFamily   = "constant of another type family"
	OtherTable    = "not a column of this table"
	ByCollation   = "compared by a collation other than utf8mb4_0900_bin"
	NotText       = "constant is not valid UTF-8"
	NotComparable = "column type is compared by the engine only"
	NotInDomain   = "constant outside the column's domain is compared by the engine"
	NearChange    = "the session time zone's offset changes nearby: only batches are pruned"
)

// Reasons why a node stays with the engine.
const (
	NotKind      = "the engine's own kind of node"
	NotTopic     = "not a topic's table"
	NotColumnar  = "the table is read row by row"
	FoundRows    = "SQL_CALC_FOUND_ROWS counts the rows that are cut off"
	NotKey       = "values of this type are grouped and compared by the engine only"
	NotOrder     = "values of this type are ordered by the engine only"
	NotDependent = "neither grouped by nor aggregated"
)

// Reasons why an expression stays with the engine.
const (
	NotExpression = "no exact equivalent, and not a function of one column"
	NotRandom     = "not a function of its arguments alone"
	NotType       = "its type is computed by the engine only"
	NotFamilies   = "operands of different type families"
)

// Reasons that are about one thing.
const (
	NotPrefix = "a pattern that is not a plain prefix is matched by the engine"
	NotFrame  = "a frame that only the engine knows"
)
