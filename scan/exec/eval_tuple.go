package exec

import (
	"encoding/binary"

	"millrace/internal/vector"
)

// tupleEval is Tuple.
type tupleEval struct {
	args operands
	out  column
}

func (e *tupleEval) eval(in *input) (*vector.Vector, error) {
	parts, valid, err := e.args.of(in)
	if err != nil {
		return nil, err
	}
	b := e.out.texts()
	for i := range in.n {
		if valid == nil || bitSet(valid, i) {
			for _, v := range parts {
				if v.Kind == vector.String {
					e.out.bytes = binary.AppendUvarint(e.out.bytes, uint64(len(v.Text(i))))
				}
				e.out.bytes = keyBytes(v, i, e.out.bytes)
			}
		}
		if err := b.end(); err != nil {
			return nil, err
		}
	}
	b.done()
	e.out.setNulls(valid)
	return &e.out.v, nil
}
