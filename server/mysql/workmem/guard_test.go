package workmem

import "testing"

func TestThereIsMemoryByDefault(t *testing.T) {
	g := NewGuard(0)
	if g.MaxMemory() < 64<<20 {
		t.Errorf("%d bytes", g.MaxMemory())
	}
	if err := g.Full(); err != nil {
		t.Error(err)
	}
	if used := g.UsedMemory(); used == 0 {
		t.Error("nothing in use")
	}
}
