package cover

import (
	"slices"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// point is what is known about an instruction before it runs.
type point struct {
	line   int
	counts bool // a launched entry can execute its function
	leads  bool // it is the first of a basic block
	jumps  bool // it is the last of a basic block
	first  bool // it is the first of its function
	start  int  // the first instruction of its function
	// conditional means that it has a guard of any kind.
	conditional bool
	flow        flow
	guarded     bool   // its guard is an outcome
	wants       uint32 // the facts to collect

	compares bool
	a, b     *ptx.Operand
	op       string // eq, ne, lt, le, gt or ge
	bits     uint
	signed   bool
}

// pointsOf prepares the instructions of a module.
func pointsOf(info *observe.LaunchInfo) []point {
	points := make([]point, len(info.Program))
	at := map[*ptx.Inst]int{}
	for id := range info.Program {
		at[info.Program[id].Inst] = id
	}
	for _, f := range info.Module.Funcs() {
		leads, polled, start := true, polledPredicates(f), -1
		for _, stmt := range f.Body {
			in, ok := stmt.(*ptx.Inst)
			if !ok {
				_, label := stmt.(*ptx.Label)
				leads = leads || label
				continue
			}
			id, ok := at[in]
			if !ok {
				continue
			}
			p := &points[id]
			if start < 0 {
				start, p.first = id, true
			}
			p.start, p.conditional = start, in.Guard.Sym != nil
			p.line, p.leads = int(in.Pos.Line), leads
			p.jumps = isJump(&info.Program[id])
			leads = p.jumps
			if p.leads {
				p.wants |= reached
			}
			if in.Guard.Sym != nil && !polled[in.Guard.Sym] {
				p.guarded = true
				p.wants |= reached | held | failed
			}
			p.compare(&info.Program[id])
		}
		connect(points, f, at, info.Program)
	}
	for id := range points { // one indirect jump makes the whole function reachable
		if points[id].flow.anywhere {
			points[points[id].start].flow.anywhere = true
		}
	}
	return points
}

// isJump reports whether an instruction ends a basic block.
func isJump(in *observe.Inst) bool {
	switch in.Op.Name {
	case "bra", "brx", "call", "ret", "exit", "trap":
		return true
	}
	return false
}

// polledPredicates returns the predicates of a function that say whether a wait has ended. Which
// values they have depends on the schedule, not on the kernel.
func polledPredicates(f *ptx.Func) map[*ptx.Symbol]bool {
	polled := map[*ptx.Symbol]bool{}
	for _, stmt := range f.Body {
		in, ok := stmt.(*ptx.Inst)
		if !ok || len(in.Args) == 0 {
			continue
		}
		if in.Op.Name == "mbarrier" && (slices.Contains(in.Op.Mods, "try_wait") || slices.Contains(in.Op.Mods, "test_wait")) {
			polled[in.Args[0].Sym] = true
		}
	}
	return polled
}

// relations are the comparisons of integers, by the names that they have with signed and unsigned
// types.
var relations = map[string]string{
	"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "lo": "lt", "ls": "le", "hi": "gt", "hs": "ge",
}

// compare prepares a comparison of integers.
func (p *point) compare(in *observe.Inst) {
	if in.Op.Name != "setp" && in.Op.Name != "set" {
		return
	}
	p.a, p.b, p.op = in.Arg("a"), in.Arg("b"), relations[in.Mod("cmp")]
	if p.a == nil || p.b == nil || p.op == "" {
		return
	}
	switch t := in.Type("a"); t {
	case ptx.S16, ptx.S32, ptx.S64:
		p.signed, p.bits = true, uint(t.Bits())
	case ptx.U16, ptx.U32, ptx.U64, ptx.B16, ptx.B32, ptx.B64:
		p.bits = uint(t.Bits())
	default:
		return
	}
	p.compares, p.wants = true, p.wants|yes|no
}

// operand returns an operand in a lane as a number that orders like the operand: a signed number
// is moved by half of the range.
func (p *point) operand(s *observe.Step, o *ptx.Operand, lane int) uint64 {
	v := s.Value(o, lane) << (64 - p.bits) >> (64 - p.bits)
	if p.signed {
		v ^= 1 << (p.bits - 1)
	}
	return v
}

// relate returns the result of a comparison, and by how much its operands would have to change for
// the other result.
func (p *point) relate(a, b uint64) (result bool, distance uint64) {
	switch p.op {
	case "eq":
		return a == b, max(a, b) - min(a, b) + same(a, b)
	case "ne":
		return a != b, max(a, b) - min(a, b) + same(a, b)
	case "lt", "ge":
		if less := a < b; less {
			return p.op == "lt", b - a
		}
		return p.op == "ge", a - b + 1
	}
	if more := a > b; more {
		return p.op == "gt", a - b
	}
	return p.op == "le", b - a + 1
}

// same returns 1 for equal numbers: they have to change by 1 to differ.
func same(a, b uint64) uint64 {
	if a == b {
		return 1
	}
	return 0
}

// reachable returns the names of the functions that a launch can execute: its entry, and all
// functions that are not entries if the module has calls.
func reachable(info *observe.LaunchInfo) (names []string) {
	for _, f := range info.Module.Funcs() {
		if f.Sym.Name == info.Kernel || !f.Entry {
			names = append(names, f.Sym.Name)
		}
	}
	return names
}
