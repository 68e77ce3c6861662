package pushdown

import (
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// window leaves window functions to the engine, which sorts by each window in its own way.
func (p *planner) window(*plan.Window) (*relation, string) {
	return nil, "window functions"
}
