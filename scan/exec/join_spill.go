package exec

import (
	"context"
	"errors"
	"hash/maphash"
	"io"

	"millrace/scan"
)

// joinParts are the parts of a join whose built side does not fit the budget: as with groups (passes.go)
// both sides are read again for each part of the keys' hashes, and nothing is written. Rows then come part by part.
type joinParts struct {
	begun bool
	left  []part
	seed  maphash.Seed
}

// open builds the side of the next part that fits and starts the other one; io.EOF after the last part.
func (j *joinOp) open(ctx context.Context) error {
	if !j.parts.begun {
		j.owns = true
		j.parts = joinParts{begun: true, left: []part{{}}, seed: maphash.MakeSeed()}
	}
	for len(j.parts.left) > 0 {
		p := j.parts.left[0]
		j.parts.left = j.parts.left[1:]
		side, err := j.run.joinSide(ctx, j.n, p, j.parts.seed)
		if cut := j.n.cut(p, err); cut != nil {
			j.parts.left = append(cut, j.parts.left...)
			continue
		}
		if err != nil {
			return err
		}
		if err := j.start(side); err != nil {
			side.close()
			return err
		}
		other, keys := side.probing(j.n)
		if j.probe, err = j.run.buildPart(other, keys, p, j.parts.seed); err != nil {
			return err
		}
		return nil
	}
	return io.EOF
}

// finish gives back what the present part took.
func (j *joinOp) finish() {
	if j.probe != nil {
		j.probe.close()
		j.probe = nil
	}
	if j.side != nil {
		j.side.close()
		j.side, j.look = nil, nil
	}
}

// cut is the parts of p when its side did not fit, none if it is not to be cut. Without keys there are no parts; IN
// needs to know whether there is a NULL in any of them.
func (n *Join) cut(p part, err error) []part {
	if !errors.Is(err, scan.ErrMemory) || p.bits >= partBitsMost || len(n.LeftKeys) == 0 || n.Kind.nulls() {
		return nil
	}
	return p.split()
}

// buildPart starts n, of whose rows only those come whose keys are in a part.
func (r *runner) buildPart(n Node, keys []Expr, p part, seed maphash.Seed) (operator, error) {
	child, err := r.build(n)
	if err != nil || p.bits == 0 {
		return child, err
	}
	only, err := newPartFilter(p, seed, n.Schema(), keys)
	if err != nil {
		child.close()
		return nil, err
	}
	return &stepOp{child: child, step: only}, nil
}
