package pushdown

import (
	"millrace/pushdown/columnar"
	"millrace/pushdown/rowscan"

	"github.com/dolthub/go-mysql-server/sql"
)

// DefaultFewRows is Options.FewRows: as many rows take the row path less time than a block of columns
// that is not in memory yet takes to expand.
const DefaultFewRows = 2048

// columnar converts the subtree of n for the vectorised engine; nil where it stays with the engine, with the parts that
// were in the way.
func (b *Builder) columnar(ctx *sql.Context, n sql.Node) (*columnar.Plan, []columnar.Declined, error) {
	if !columnar.ReadsTopic(n) {
		return nil, nil, nil
	}
	if little, err := rowscan.ReadsLittle(ctx, n, b.few); little || err != nil {
		return nil, nil, err
	}
	return columnar.Convert(ctx, n, columnar.Options{Source: b.source, FewRows: b.few})
}

// rows starts p, for the engine's nodes above.
func (b *Builder) rows(ctx *sql.Context, p *columnar.Plan) (sql.RowIter, error) {
	it, err := b.start(ctx, p, false)
	if err != nil {
		return nil, err
	}
	return p.Rows(it), nil
}
