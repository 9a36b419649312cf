package difffuzz

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Kernel is a generated kernel and all that its launch takes.
type Kernel struct {
	Seed        uint64
	Version     ptx.Version
	Target      ptx.Target
	Grid, Block device.Dim
	Body        []*Node
	// Inputs is what the registers hold at first, by name and thread.
	Inputs map[string][]Word
	// Fill is the seed of what memory holds at first; 0 stands for zeros.
	Fill uint64
}

// Word is the bits of a register, low half first.
type Word [2]uint64

// Kind is what a node does.
type Kind int

// The kinds.
const (
	Straight Kind = iota // its instructions, in their order
	If                   // Body for threads where the condition holds, else Else
	Loop                 // Body, several times
)

// Node is a piece of a kernel that can be taken out as a whole.
type Node struct {
	Kind Kind
	// Insts belong together: the divisor that is made not to be 0 and the division.
	Insts []Inst
	// Regs are declarations of registers that only Insts use.
	Regs []string
	// Funcs are the texts of functions that Insts call.
	Funcs []string
	// Matrix is the bytes of shared memory for matrices that Insts use.
	Matrix int
	// Cluster says that Insts fault in a kernel that is not compiled for clusters.
	Cluster bool
	// Cond is an If's predicate, "%p1" or "!%p1"; empty when bit Lane of the lane's
	// number is the condition.
	Cond string
	Lane int
	// Count is how often a Loop runs: that often when From is empty, else the low
	// bits of register From, masked by Count, and once more.
	Count int
	From  string
	// Meet has the lanes of a warp meet after an If or Loop that may have parted them.
	Meet       bool
	Body, Else []*Node
}

// Inst is an instruction, or with Raw a line of text such as a label.
type Inst struct {
	Raw   string
	Guard string // "@%p1", or empty
	Op    string
	Args  []string
	// Out is how many of Args, from the first, are written.
	Out int
}

func (i Inst) String() string {
	if i.Raw != "" {
		return i.Raw
	}
	s := i.Op
	if len(i.Args) > 0 {
		s += " " + strings.Join(i.Args, ", ")
	}
	if i.Guard != "" {
		s = i.Guard + " " + s
	}
	return s + ";"
}

// inst is an instruction that writes its first argument.
func inst(op string, args ...string) Inst { return Inst{Op: op, Args: args, Out: 1} }

// act is an instruction that writes no register.
func act(op string, args ...string) Inst { return Inst{Op: op, Args: args} }

// raw is a line of text.
func raw(format string, args ...any) Inst { return Inst{Raw: fmt.Sprintf(format, args...)} }

// node is instructions that belong together.
func node(insts ...Inst) *Node { return &Node{Insts: insts} }

// with declares registers of the node's own.
func (n *Node) with(regs ...string) *Node {
	n.Regs = append(n.Regs, regs...)
	return n
}

// Threads is how many threads a launch has in a block.
func (k *Kernel) Threads() int { return k.Block.Count() }

// Size is how many instructions the body has.
func (k *Kernel) Size() int {
	n := 0
	walk(k.Body, func(x *Node) {
		for _, i := range x.Insts {
			if i.Raw == "" {
				n++
			}
		}
	})
	return n
}

// walk visits all nodes, outer ones first.
func walk(ns []*Node, visit func(*Node)) {
	for _, n := range ns {
		visit(n)
		walk(n.Body, visit)
		walk(n.Else, visit)
	}
}

// clone is a deep copy, for shrinking to change.
func (k *Kernel) clone() *Kernel {
	c := *k
	c.Body = cloneNodes(k.Body)
	c.Inputs = map[string][]Word{}
	for name, ws := range k.Inputs {
		c.Inputs[name] = slices.Clone(ws)
	}
	return &c
}

func cloneNodes(ns []*Node) []*Node {
	var out []*Node
	for _, n := range ns {
		c := *n
		c.Insts = nil
		for _, i := range n.Insts {
			i.Args = slices.Clone(i.Args)
			c.Insts = append(c.Insts, i)
		}
		c.Body, c.Else = cloneNodes(n.Body), cloneNodes(n.Else)
		out = append(out, &c)
	}
	return out
}

// names are the words in the body: registers, bases, variables.
var names = regexp.MustCompile(`%?[A-Za-z_][A-Za-z_0-9]*`)

// pool matches the registers that have a value from memory and go back to it.
var pool = regexp.MustCompile(`%[hrdqp][0-9]+\b`)

// words collects the names that the body uses.
func (k *Kernel) words() map[string]bool {
	used := map[string]bool{}
	add := func(s string) {
		for _, w := range names.FindAllString(s, -1) {
			used[w] = true
		}
	}
	walk(k.Body, func(n *Node) {
		add(n.Cond)
		add(n.From)
		if n.Kind == If && n.Cond == "" {
			used["%lane"] = true
		}
		for _, i := range n.Insts {
			add(i.String())
		}
	})
	return used
}

// registers are the pool's registers that the body uses, and those it writes, in the
// order of the pool.
func (k *Kernel) registers() (used, written []string) {
	all, out := map[string]bool{}, map[string]bool{}
	walk(k.Body, func(n *Node) {
		for _, r := range pool.FindAllString(n.Cond+" "+n.From, -1) {
			all[r] = true
		}
		for _, i := range n.Insts {
			for _, r := range pool.FindAllString(i.String(), -1) {
				all[r] = true
			}
			for _, r := range i.writes() {
				out[r] = true
			}
		}
	})
	for _, r := range poolRegisters {
		if all[r] {
			used = append(used, r)
		}
		if out[r] {
			written = append(written, r)
		}
	}
	return used, written
}

// writes are the registers of the pool that the instruction writes.
func (i Inst) writes() []string {
	return pool.FindAllString(strings.Join(i.Args[:i.Out], " "), -1)
}
