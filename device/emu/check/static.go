package check

import "github.com/GOATnote-Inc/attest/device/emu/observe"

// staticKey is what the analysis of a program depends on.
type staticKey struct {
	part    string
	program *observe.Inst // its first instruction
	kernel  string
	full    bool // all warps are full
}

// once makes a part that depends on the program and the kind of launch alone, and
// gives it to later launches again.
func (l *launch) once(name string, make func() part) part {
	if len(l.Program) == 0 {
		return nil
	}
	k := staticKey{name, &l.Program[0], l.Kernel, l.Launch.Block.Count()%32 == 0}
	if p, ok := l.c.static.Load(k); ok {
		p, _ := p.(part)
		return p
	}
	p := make()
	if p == nil {
		l.c.static.Store(k, struct{}{})
		return nil
	}
	l.c.static.Store(k, p)
	return p
}

// perWarp is a list of what there is for each warp of a cluster; warpIndex is the
// place of a step's warp in it.
func perWarp[T any](c *cluster) []*T { return make([]*T, len(c.Blocks)*c.warpsOfBlock()) }

func (c *cluster) warpsOfBlock() int { return (c.Blocks[0].Threads + 31) / 32 }

func (c *cluster) warpIndex(s *observe.Step) int { return s.Rank*c.warpsOfBlock() + s.Warp }
