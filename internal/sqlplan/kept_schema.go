package sqlplan

import (
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// KeptSchema is its child, and asks it for its columns once: a projection asks what is below it once for every column that
// it lets pass, so that derived tables and set operations in one another would be asked times without number.
type KeptSchema struct {
	plan.UnaryNode
	schema func() sql.Schema
}

var (
	_ sql.Node               = (*KeptSchema)(nil)
	_ sql.CollationCoercible = (*KeptSchema)(nil)
)

// KeepSchema puts a KeptSchema over n.
func KeepSchema(n sql.Node) *KeptSchema {
	if k, ok := n.(*KeptSchema); ok {
		return k
	}
	return &KeptSchema{plan.UnaryNode{Child: n}, sync.OnceValue(n.Schema)}
}

// Schema implements sql.Node. Who changes a column copies it first, as all of the engine does.
func (k *KeptSchema) Schema() sql.Schema { return k.schema() }
func (k *KeptSchema) IsReadOnly() bool   { return k.Child.IsReadOnly() }

func (k *KeptSchema) String() string      { return k.Child.String() }
func (k *KeptSchema) DebugString() string { return sql.DebugString(k.Child) }

// Describe shows the child alone.
func (k *KeptSchema) Describe(options sql.DescribeOptions) string {
	return sql.Describe(k.Child, options)
}

// WithChildren implements sql.Node.
func (k *KeptSchema) WithChildren(children ...sql.Node) (sql.Node, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(k, len(children), 1)
	}
	return KeepSchema(children[0]), nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (k *KeptSchema) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, k.Child)
}
