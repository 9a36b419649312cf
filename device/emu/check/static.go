package check

import "github.com/GOATnote-Inc/attest/device/emu/observe"

// staticKey identifies the result of a static analysis.
type staticKey struct {
	part    string
	program *observe.Inst // the first instruction
	kernel  string
	full    bool // all warps have 32 threads
}

// once returns a part that depends only on the fields of staticKey. It makes the part for the
// first launch and returns the same part for later launches.
func (l *launch) once(name string, make func() part) part {
	if len(l.Program) == 0 {
		return nil
	}
	k := staticKey{name, &l.Program[0], l.Kernel, l.Launch.Block.Count()%32 == 0}
	l.c.mu.Lock()
	p, ok := l.c.static[k]
	l.c.mu.Unlock()
	if ok {
		return p
	}
	p = make()
	l.c.mu.Lock()
	l.c.static[k] = p
	l.c.mu.Unlock()
	return p
}

// perWarp returns a list with one nil entry per warp of a cluster. warpIndex is the index of the
// warp of a step.
func perWarp[T any](c *cluster) []*T { return make([]*T, len(c.Blocks)*c.warpsOfBlock()) }

func (c *cluster) warpsOfBlock() int { return (c.Blocks[0].Threads + 31) / 32 }

func (c *cluster) warpIndex(s *observe.Step) int { return s.Rank*c.warpsOfBlock() + s.Warp }
