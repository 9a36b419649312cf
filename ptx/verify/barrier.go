package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
)

// barriers checks the numbers and thread counts of the barriers of a function. It returns the
// statements that need all lanes of a warp.
func (k *checker) barriers(c *code) (gathers []int) {
	for i := range c.at {
		in := c.at[i].in
		if in == nil {
			continue
		}
		if isBlockBarrier(in) {
			k.blockBarrier(c, i)
		}
		if c.needsAllLanes(in) {
			gathers = append(gathers, i)
		}
	}
	return gathers
}

// isBlockBarrier reports whether the instruction is a bar.sync, bar.arrive or bar.red of
// the block, and not a barrier of a warp or a cluster.
func isBlockBarrier(in *ptx.Inst) bool {
	return (in.Op.Name == "bar" || in.Op.Name == "barrier") && !in.Op.Has("warp") && !in.Op.Has("cluster")
}

// needsAllLanes reports whether all lanes of the warp must run the instruction
// together: it has .aligned, it is a bar.sync, or its member mask names all lanes.
func (c *code) needsAllLanes(in *ptx.Inst) bool {
	if in.Op.Has("aligned") || in.Op.Name == "bar" && !in.Op.Has("warp") {
		return true
	}
	switch in.Op.Name {
	case "bar", "shfl", "vote", "match", "redux", "elect":
		if !in.Op.Has("sync") || len(in.Args) == 0 {
			return false
		}
		mask, ok := c.consts.of(&in.Args[len(in.Args)-1])
		return ok && uint32(mask) == 0xffffffff
	}
	return false
}

// convergence reports instructions that need all lanes of a warp in a place that some lanes
// may not reach. There is one finding for all instructions under the same branch.
func (k *checker) convergence(c *code, u *Uniform, gathers []int) {
	type group struct{ first, count int }
	groups := map[int]*group{}
	var order []int
	for _, i := range gathers {
		in := c.at[i].in
		if g := in.Guard.Sym; g != nil && g.Kind == ptx.RegSymbol && u.Reg(g) == Varies {
			k.warnf(i, in.Pos, "divergent-barrier", "%s needs all lanes of the warp, but its guard %s differs between them%s",
				in.Op.Text, g.Name, k.because(c, u, g.ID))
			continue
		}
		v, b := u.Control(c.cfg.blockAt(i))
		if v != Varies {
			continue
		}
		if groups[b] == nil {
			groups[b] = &group{first: i}
			order = append(order, b)
		}
		groups[b].count++
	}
	for _, b := range order {
		k.divergent(c, u, groups[b].first, groups[b].count-1, b)
	}
}

func (k *checker) divergent(c *code, u *Uniform, stmt, more, branch int) {
	in := c.at[stmt].in
	at := c.cfg.Blocks[branch].End - 1
	for c.at[at].in == nil {
		at--
	}
	br := c.at[at].in
	why := ""
	if rs := c.reads(at); len(rs) > 0 {
		why = k.because(c, u, rs[0])
	}
	others := ""
	if more > 0 {
		others = fmt.Sprintf("; so do %d more after it", more)
	}
	k.warnf(stmt, in.Pos, "divergent-barrier", "%s needs all lanes of the warp, but %q at %s separates them%s%s",
		in.Op.Text, strings.TrimSuffix(br.String(), ";"), k.at(at), why, others)
}

// because finds out why a register differs between lanes: it was computed from a special
// register, or from the result of an instruction that gives each lane its own.
func (k *checker) because(c *code, u *Uniform, r int32) string {
	seen := map[int32]bool{r: true}
	queue := []int32{r}
	for len(queue) > 0 && len(seen) < 1000 {
		i := u.cause[queue[0]]
		queue = queue[1:]
		if i < 0 {
			continue
		}
		in := c.at[i].in
		if j := slices.IndexFunc(in.Args, func(o ptx.Operand) bool { return nameVariance(&o) == Varies }); j >= 0 {
			return fmt.Sprintf(" (from %s, %s)", in.Args[j].Sym.Name, k.at(int(i)))
		}
		root := true
		for _, q := range c.reads(int(i)) {
			if u.regs[q] == Varies {
				root = false
				if !seen[q] {
					seen[q] = true
					queue = append(queue, q)
				}
			}
		}
		if root {
			return fmt.Sprintf(" (from %s, %s)", in.Op.Text, k.at(int(i)))
		}
	}
	return ""
}

// blockBarrier checks the number and the thread count of a barrier of the block, and
// records it for pairBarriers.
func (k *checker) blockBarrier(c *code, stmt int) {
	d := &c.at[stmt]
	idArg, countArg := d.param("bar"), d.param("threads")
	if idArg == nil {
		return
	}
	id, count := int64(anyNumber), int64(anyNumber)
	if v, ok := k.number(c, idArg); ok {
		if id = v; v < 0 || v > 15 {
			k.errorf(stmt, idArg.Pos, "bad-barrier", "%s: barrier %d does not exist; a block has 0 to 15", d.in.Op.Text, v)
			return
		}
	}
	if countArg != nil {
		if v, ok := k.number(c, countArg); ok {
			if count = v; v < 0 || v%32 != 0 {
				k.errorf(stmt, countArg.Pos, "bad-barrier", "%s: %d threads are not a multiple of 32, the size of a warp", d.in.Op.Text, v)
				return
			}
		}
	}
	k.bars.note(k, stmt, id, count)
}

// number returns the constant value of an operand of a barrier. The assembler does not look
// for the constants in registers, so neither does a check for what it refuses.
func (k *checker) number(c *code, o *ptx.Operand) (int64, bool) {
	if k.errorsOnly && o.Kind != ptx.ImmOperand {
		return 0, false
	}
	return c.consts.of(o)
}

// param returns the operand for the form's parameter of the given name, or nil.
func (d *decoded) param(name string) *ptx.Operand {
	for i, a := range d.bind {
		if a >= 0 && d.match.Form.Params[i].Name == name {
			return &d.in.Args[a]
		}
	}
	return nil
}

// barrierUse is how a module uses the barriers of a block. Warps of different
// functions meet at one barrier, so pairs are searched for in the whole module.
type barrierUse struct {
	syncAny bool // some bar.sync has a number that is not a constant
	syncs   [16]map[int64]bool
	arrives []arrival
}

// arrival is a bar.arrive with constant operands.
type arrival struct {
	id, count int64
	found     finding.Finding // complete except for its message
}

// anyNumber stands for a barrier number or a thread count that is not a constant.
const anyNumber = -1

func (u *barrierUse) note(k *checker, stmt int, id, count int64) {
	in := k.fn.Body[stmt].(*ptx.Inst)
	switch {
	case in.Op.Has("arrive"):
		if id != anyNumber && count != anyNumber {
			u.arrives = append(u.arrives, arrival{id, count, k.finding(stmt, finding.Warning, in.Pos, "barrier-pairing", "")})
		}
	case id == anyNumber:
		u.syncAny = true
	default:
		if u.syncs[id] == nil {
			u.syncs[id] = map[int64]bool{}
		}
		u.syncs[id][count] = true
	}
}

// pairBarriers reports arrivals that no bar.sync waits for.
func (k *checker) pairBarriers() {
	if k.bars.syncAny {
		return
	}
	for _, a := range k.bars.arrives {
		waits := k.bars.syncs[a.id]
		switch {
		case waits == nil:
			a.found.Message = fmt.Sprintf("bar.arrive at barrier %d, where nothing in the module waits", a.id)
		case !waits[a.count] && !waits[anyNumber]:
			a.found.Message = fmt.Sprintf("bar.arrive at barrier %d counts %d threads; no bar.sync there counts as many", a.id, a.count)
		default:
			continue
		}
		k.add(a.found)
	}
}
