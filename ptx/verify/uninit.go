package verify

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
)

// uninitialised reports registers that are read although no path has written them. It does
// not report a register that some path has written: compilers emit such code when they know
// that the other paths are not taken.
func (k *checker) uninitialised(c *code, live *liveness) {
	if len(live.in) == 0 || !live.complete {
		return
	}
	suspects := map[int32]*suspect{}
	for _, r := range live.in[0] {
		suspects[r] = &suspect{}
	}
	for _, p := range k.fn.Params { // registers of the old calling convention
		if p.Sym.Kind == ptx.RegSymbol {
			delete(suspects, p.Sym.ID)
		}
	}
	if len(suspects) == 0 {
		return
	}
	c.collect(suspects)
	undefined := k.implicitDefs()
	reached := &flood{seen: stamps(len(c.cfg.Blocks))}
	for _, r := range live.in[0] {
		name := c.fn.Regs[r].Name
		if suspects[r] == nil {
			continue
		}
		if i := c.firstUnwritten(r, suspects[r], reached); i >= 0 && !undefined[name] {
			in := c.at[i].in
			if in.Op.Name == "st" && in.Op.Has("param") {
				continue // the padding of a struct that is passed by value
			}
			severity := finding.Error
			if carries(in) {
				severity = finding.Warning
			}
			k.report(i, severity, in.Pos, "uninit-register", fmt.Sprintf("%s reads %s, which nothing has written", in.Op.Text, name))
		}
	}
}

// suspect is a register that some path reads before it is written.
type suspect struct{ reads, writes []int32 } // statements

func (c *code) collect(suspects map[int32]*suspect) {
	for i := range c.at {
		for _, r := range c.reads(i) {
			if s := suspects[r]; s != nil {
				s.reads = append(s.reads, int32(i))
			}
		}
		for _, r := range c.writes(i) {
			if s := suspects[r]; s != nil {
				s.writes = append(s.writes, int32(i))
			}
		}
	}
}

// firstUnwritten returns the first reachable statement that reads the register and that no
// write of it leads to, or -1.
func (c *code) firstUnwritten(r int32, s *suspect, f *flood) int {
	g := c.cfg
	if !f.from(g, r, s.writes) {
		return -1
	}
	w := 0
	for _, i := range s.reads {
		b := g.blockAt(int(i))
		for w < len(s.writes) && s.writes[w] < i {
			w++
		}
		before := w > 0 && int(s.writes[w-1]) >= g.Blocks[b].Start
		if g.Reachable(b) && f.seen[b] != r && !before {
			return int(i)
		}
	}
	return -1
}

// flood marks the blocks that some statements lead to, for one register after another.
type flood struct {
	seen  []int32 // by block: the last register whose writes lead to its start
	stack []int32
	spent int
}

// from marks the blocks after the writes. To limit the time, it gives up when the floods of
// a function have visited more than regionBudget blocks.
func (f *flood) from(g *CFG, r int32, writes []int32) bool {
	if f.spent > regionBudget {
		return false
	}
	f.stack = f.stack[:0]
	for _, w := range writes {
		f.stack = append(f.stack, int32(g.blockAt(int(w))))
	}
	for len(f.stack) > 0 {
		b := f.stack[len(f.stack)-1]
		f.stack = f.stack[:len(f.stack)-1]
		for _, n := range g.Blocks[b].Succs {
			if f.seen[n] != r {
				f.seen[n] = r
				f.stack = append(f.stack, int32(n))
				f.spent++
			}
		}
	}
	return true
}

// carries reports whether the instruction only moves its operands, or is a matrix product
// that may ignore its accumulator. Compilers emit these for values that the source leaves
// undefined.
func carries(in *ptx.Inst) bool {
	switch in.Op.Name {
	case "mov", "st", "selp", "call", "mma", "wmma", "wgmma", "shfl", "prmt":
		return true
	}
	return false
}

// implicitDefs are the registers that a compiler says it leaves undefined, in
// comments such as "implicit-def: %r5".
func (k *checker) implicitDefs() map[string]bool {
	names := map[string]bool{}
	for _, s := range k.fn.Body {
		if cm, ok := s.(*ptx.Comment); ok {
			if _, name, found := strings.Cut(cm.Text, "implicit-def: "); found {
				names[strings.TrimSpace(name)] = true
			}
		}
	}
	return names
}
