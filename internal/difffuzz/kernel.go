package difffuzz

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Kernel is a generated kernel and everything that its launch needs.
type Kernel struct {
	Seed        uint64
	Version     ptx.Version
	Target      ptx.Target
	Grid, Block device.Dim
	Body        []*Node
	// Inputs holds the initial values of registers, by name and thread.
	Inputs map[string][]Word
	// Fill is the seed of the initial content of memory. 0 means zeros.
	Fill uint64
}

// Word holds the bits of a register, low half first.
type Word [2]uint64

// Kind is the control flow of a node.
type Kind int

// The kinds of nodes.
const (
	Straight Kind = iota // executes Insts in order
	If                   // executes Body in threads where the condition holds, Else in the others
	Loop                 // executes Body several times
)

// Node is a piece of a kernel that can be removed as a whole.
type Node struct {
	Kind Kind
	// Insts belong together, for example a division and the instructions that make its
	// divisor nonzero.
	Insts []Inst
	// Regs declares registers that only Insts use.
	Regs []string
	// Funcs are the texts of functions that Insts call.
	Funcs []string
	// Matrix is the size in bytes of the shared memory for matrices that Insts use.
	Matrix int
	// Cluster is set if Insts fault in a kernel that is not compiled for clusters.
	Cluster bool
	// Cond is the predicate of an If, "%p1" or "!%p1". If it is empty, the condition is bit
	// Lane of the lane's number.
	Cond string
	Lane int
	// Count is the number of rounds of a Loop if From is empty. Otherwise the number of
	// rounds is the value of register From masked by Count, plus one.
	Count int
	From  string
	// Reconverge synchronises the lanes of a warp after an If or Loop that may have
	// separated them.
	Reconverge bool
	Body, Else []*Node
}

// Inst is an instruction, or a line of text such as a label if Raw is set.
type Inst struct {
	Raw   string
	Guard string // "@%p1", or empty
	Op    string
	Args  []string
	// Out is the number of leading Args that the instruction writes.
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

// inst returns an instruction that writes its first argument.
func inst(op string, args ...string) Inst { return Inst{Op: op, Args: args, Out: 1} }

// act returns an instruction that writes no register.
func act(op string, args ...string) Inst { return Inst{Op: op, Args: args} }

// raw returns a line of text.
func raw(format string, args ...any) Inst { return Inst{Raw: fmt.Sprintf(format, args...)} }

// node returns a node of instructions that belong together.
func node(insts ...Inst) *Node { return &Node{Insts: insts} }

// with declares registers that only the node uses.
func (n *Node) with(regs ...string) *Node {
	n.Regs = append(n.Regs, regs...)
	return n
}

// Threads returns the number of threads per block.
func (k *Kernel) Threads() int { return k.Block.Count() }

// Size returns the number of instructions of the body.
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

// walk visits all nodes. It visits a node before the nodes inside it.
func walk(ns []*Node, visit func(*Node)) {
	for _, n := range ns {
		visit(n)
		walk(n.Body, visit)
		walk(n.Else, visit)
	}
}

// clone returns a deep copy, which shrinking may change.
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

// names matches the words in the body: registers, bases and variables.
var names = regexp.MustCompile(`%?[A-Za-z_][A-Za-z_0-9]*`)

// pool matches the registers that are loaded before the body and stored after it.
var pool = regexp.MustCompile(`%[hrdqp][0-9]+\b`)

// words returns the names that the body uses.
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

// registers returns the registers of the pool that the body uses and that it writes, in
// the order of the pool.
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

// writes returns the registers of the pool that the instruction writes.
func (i Inst) writes() []string {
	return pool.FindAllString(strings.Join(i.Args[:i.Out], " "), -1)
}
