package count

import (
	"cmp"
	"slices"

	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// Counts are the counts of a launch. The JSON form is part of the contract of the command line.
type Counts struct {
	Kernel string `json:"kernel"`
	// WarpInstructions are executions by a warp or a part of one. An instruction that
	// waits counts once, however long it waits.
	WarpInstructions uint64 `json:"warp_instructions"`
	// ThreadInstructions are the executions by lanes, including lanes whose guard fails.
	ThreadInstructions uint64    `json:"thread_instructions"`
	ActiveLanes        float64   `json:"active_lanes"` // per warp instruction, on average
	Families           []Mix     `json:"families"`
	Opcodes            []Mix     `json:"opcodes"`
	Branches           Branches  `json:"branches"`
	Shared             SharedUse `json:"shared"`
	Global             GlobalUse `json:"global"`
	Bytes              []Bytes   `json:"bytes"`
	Barriers           []Barrier `json:"barriers"`
	Tensor             []Tensor  `json:"tensor"`
	Special            []Mix     `json:"special"` // opcodes of the special function unit
	Lines              []Line    `json:"lines"`
}

// Mix is the number of executions of the instructions with a name.
type Mix struct {
	Name    string `json:"name"`
	Warps   uint64 `json:"warps"`
	Threads uint64 `json:"threads"` // lanes whose guard held
}

// Branches counts the executed branches and those that separated lanes.
type Branches struct {
	Executed  uint64 `json:"executed"`
	Divergent uint64 `json:"divergent"`
}

// Bytes is the number of bytes that were moved to or from a state space.
type Bytes struct {
	Space     string `json:"space"`     // "global", "shared", "local"
	Direction string `json:"direction"` // "read", "write"; an atomic writes
	By        string `json:"by"`        // "ld, st", "atomics", "cp.async", "bulk copies", "tensor copies", "wgmma"
	Bytes     uint64 `json:"bytes"`
}

// Barrier is an instruction at which threads meet or wait.
type Barrier struct {
	Line        int    `json:"ptx_line"`
	Instruction string `json:"instruction"`
	Arrivals    uint64 `json:"arrivals"` // arrivals of warps or of parts of warps
	Threads     uint64 `json:"threads"`
	Vain        uint64 `json:"in_vain"` // threads that polled an mbarrier before its phase was complete
}

// Tensor counts the matrix products with the same types.
type Tensor struct {
	A          string `json:"a"`
	B          string `json:"b"`
	D          string `json:"d"`
	Warps      uint64 `json:"warps"`      // instructions
	Operations uint64 `json:"operations"` // multiplications and additions
}

// Line is the place and the counts of an instruction that was executed.
type Line struct {
	Line        int       `json:"ptx_line"`
	Column      int       `json:"ptx_column"`
	Function    string    `json:"function"`
	Instruction string    `json:"instruction"`
	Source      string    `json:"source"`
	Executions  uint64    `json:"executions"`
	Vain        uint64    `json:"vain,omitempty"` // executions in a poll that came too early
	Active      uint64    `json:"active"`         // lanes that reached it, summed over all executions
	Threads     uint64    `json:"threads"`        // lanes whose guard held, summed over all executions
	Divergent   uint64    `json:"divergent"`
	Shared      SharedUse `json:"shared"`
	Global      GlobalUse `json:"global"`
}

// ActiveShare returns the average share of the 32 lanes of a warp that reached the instruction.
func (l *Line) ActiveShare() float64 { return float64(l.Active) / float64(32*l.Executions) }

// counts returns the counts of the launch so far.
func (l *launch) counts() *Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &Counts{Kernel: l.Kernel, Barriers: []Barrier{}, Lines: []Line{}}
	families, opcodes, special := tallies[string]{}, tallies[string]{}, tallies[string]{}
	vain := uint64(0) // vain executions of the last poll
	for id := range l.total {
		in, f, t := &l.Program[id], &l.facts[id], &l.total[id]
		if t.executions == 0 {
			continue
		}
		switch {
		case f.polls:
			vain = t.inVain()
		case !f.branch: // the branch after a poll jumps back to the poll
			vain = 0
		}
		c.WarpInstructions += t.executions
		c.ThreadInstructions += t.active
		c.Shared.add(&t.shared)
		c.Global.add(&t.global)
		families.add(in.Match.Form.Family.Name, t)
		opcodes.add(in.Op.Text, t)
		if f.special {
			special.add(in.Op.Text, t)
		}
		if f.branch {
			c.Branches.Executed += t.executions
			c.Branches.Divergent += t.divergent
		}
		if f.waits {
			b := Barrier{Line: int(in.Pos.Line), Instruction: in.Op.Text, Arrivals: t.executions, Threads: t.lanes}
			if f.polls {
				b.Vain = t.lanes - min(t.passed, t.lanes)
			}
			c.Barriers = append(c.Barriers, b)
		}
		c.Lines = append(c.Lines, Line{
			Line: int(in.Pos.Line), Column: int(in.Pos.Col), Function: in.Func.Sym.Name, Instruction: in.Op.Text,
			Source: in.Source, Executions: t.executions, Vain: min(vain, t.executions), Active: t.active, Threads: t.lanes,
			Divergent: t.divergent, Shared: t.shared, Global: t.global,
		})
		if f.branch {
			vain = 0
		}
	}
	if c.WarpInstructions > 0 {
		c.ActiveLanes = float64(c.ThreadInstructions) / float64(c.WarpInstructions)
	}
	c.Families, c.Opcodes, c.Special = mix(families), mix(opcodes), mix(special)
	c.Bytes, c.Tensor = l.bytes(), l.tensor()
	return c
}

// inVain returns the number of executions of a poll that found the phase incomplete.
func (t *tally) inVain() uint64 {
	if t.lanes == 0 {
		return 0
	}
	return uint64(float64(t.executions) * (1 - float64(min(t.passed, t.lanes))/float64(t.lanes)))
}

// tallies sums the tallies of instructions by a key.
type tallies[K comparable] map[K]*tally

func (ts tallies[K]) add(k K, t *tally) {
	if ts[k] == nil {
		ts[k] = &tally{}
	}
	ts[k].add(t)
}

// mix returns the sums by name, the most frequent first.
func mix(ts tallies[string]) []Mix {
	list := make([]Mix, 0, len(ts))
	for name, t := range ts {
		list = append(list, Mix{name, t.executions, t.lanes})
	}
	sorted.By(list, func(a, b Mix) int {
		return cmp.Or(cmp.Compare(b.Warps, a.Warps), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// bytes returns the bytes that were moved, by space, direction and mover.
func (l *launch) bytes() []Bytes {
	by := tallies[string]{}
	for id := range l.total {
		by.add(l.facts[id].by, &l.total[id])
	}
	list := []Bytes{}
	for space, name := range [spaces]string{"global", "shared", "local"} {
		for i, direction := range [2]string{"read", "write"} {
			for _, who := range []string{byThreads, byAtomics, byAsync, byBulk, byTensor, byWgmma} {
				if t := by[who]; t != nil && t.bytes[space][i] > 0 {
					list = append(list, Bytes{name, direction, who, t.bytes[space][i]})
				}
			}
		}
	}
	return list
}

// tensor returns the matrix products, the types with the most operations first.
func (l *launch) tensor() []Tensor {
	list := []Tensor{}
	for id := range l.total {
		p, n := l.facts[id].product, l.total[id].executions
		if p == nil || n == 0 {
			continue
		}
		i := slices.IndexFunc(list, func(t Tensor) bool { return t.A == p.a && t.B == p.b && t.D == p.d })
		if i < 0 {
			i = len(list)
			list = append(list, Tensor{A: p.a, B: p.b, D: p.d})
		}
		list[i].Warps += n
		list[i].Operations += n * p.operations
	}
	sorted.By(list, func(a, b Tensor) int { return cmp.Compare(b.Operations, a.Operations) })
	return list
}
