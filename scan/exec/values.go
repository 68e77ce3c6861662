package exec

import (
	"context"
	"io"
)

// valuesOp yields given rows.
type valuesOp struct {
	n   *Values
	at  int
	out Batch
}

func (v *valuesOp) next(ctx context.Context) (*Batch, error) {
	if v.at == v.n.Rows {
		return nil, io.EOF
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	to := min(v.n.Rows, v.at+chunkRows)
	v.out.Len, v.out.Cols = to-v.at, v.out.Cols[:0]
	for i := range v.n.Cols {
		v.out.Cols = append(v.out.Cols, v.n.Cols[i].Slice(v.at, to))
	}
	v.at = to
	return &v.out, nil
}

func (v *valuesOp) close() {}
