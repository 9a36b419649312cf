package kernel

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Kernel is a kernel with its call.
type Kernel struct {
	Name string `json:"name,omitempty"` // for people: a preset, or a file and an entry
	PTX  string `json:"ptx,omitempty"`
	Op   string `json:"op"` // the operation: "attention"
	// Fixed are the facts for which the text was written. A problem must have these values.
	Fixed map[string]string `json:"fixed,omitempty"`
	// Supports are the features that the kernel computes. It refuses a problem that uses any
	// other feature, so an older kernel refuses every new feature.
	Supports []string `json:"supports,omitempty"`
	Require  []Rule   `json:"require,omitempty"` // further limits
	// Let gives names to values such as tiles and splits. Each value may use the names
	// before it.
	Let      []Binding `json:"let,omitempty"`
	Operands []Operand `json:"operands"` // every piece of memory, once
	Launches []Launch  `json:"launches"` // the launches in stream order
	// Claims are what the gate may expect: "p" is the type to which the weights of the softmax
	// are rounded, and "accumulator" the type of the sums. "deterministic" is "false" if the
	// last bits of the output depend on the order of atomic additions.
	Claims map[string]string `json:"claims,omitempty"`
	// Structure are sizes inside the kernel. Mistakes often appear at their multiples, so
	// the gate tests there: "tile_q" query rows of a block, "tile_kv" keys of a tile,
	// "stages" slots of the longest ring of such tiles, "split" blocks over which the keys of
	// a row are split, and "chunk" keys of a block, if their number is fixed. "shared_budget" is
	// the bytes of shared memory and "register_budget" the registers per thread that the design is
	// allowed, if it needs more than the gate's default. The record and the gate's report show
	// them.
	Structure map[string]int `json:"structure,omitempty"`
	// Declares are names of special registers, such as "%smid", and of variables of the
	// module that the kernel reads on purpose although they differ between launches.
	Declares []string `json:"declares,omitempty"`
	// Config says how the kernel was built, for people and records: "config", "lse".
	Config map[string]string `json:"config,omitempty"`
}

// Rule is a limit, with the sentence that a user reads if a problem exceeds it. If Why is
// empty, the user reads the expression.
type Rule struct {
	Holds expr.Expr `json:"holds"`
	Why   string    `json:"why,omitempty"`
}

// Binding gives a name to a value.
type Binding struct {
	Name  string    `json:"name"`
	Value expr.Expr `json:"value"`
}

// Operand is a piece of memory.
type Operand struct {
	Name string `json:"name"`
	Type string `json:"type"` // the type of an element, one of Types
	Role Role   `json:"role"`
	// Dims are the extents, the outermost first.
	Dims []expr.Expr `json:"dims"`
	// Strides are in elements, one for each extent. Without them the operand is contiguous.
	Strides []expr.Expr `json:"strides,omitempty"`
	Init    Init        `json:"init,omitempty"`
	// Meaning is Lengths, Offsets or Pages for an operand of integers that tell the kernel what
	// to compute, otherwise "".
	Meaning string `json:"meaning,omitempty"`
}

// The meanings of integers that tell a kernel what to compute.
const (
	Lengths = "lengths" // the lengths of the sequences of a batch
	Offsets = "offsets" // where each sequence begins, and where the last one ends
	Pages   = "pages"   // the pages of K and V of each sequence
)

var meanings = []string{Lengths, Offsets, Pages}

// Role is what a kernel does with an operand.
type Role string

// The roles.
const (
	Input     Role = "input"
	Output    Role = "output"
	InOut     Role = "inout"
	Workspace Role = "workspace"
)

// Writable reports whether the kernel may write the operand.
func (r Role) Writable() bool { return r != Input }

// Init is the content that an operand must have before a run.
type Init string

// The contents that a kernel may need.
const (
	AsIs     Init = ""          // anything
	Zero     Init = "zero"      // zeros, before each run
	ZeroOnce Init = "zero-once" // zeros before the first run; the kernel restores them
)

// Launch is one launch of an entry.
type Launch struct {
	Entry   string      `json:"entry"`
	Args    []Arg       `json:"args"` // the arguments in the order of the entry's parameters
	Grid    []expr.Expr `json:"grid"`
	Block   []expr.Expr `json:"block"`
	Cluster []expr.Expr `json:"cluster,omitempty"`
	Shared  expr.Expr   `json:"shared,omitzero"` // bytes of dynamic shared memory
	// When is a condition. If it does not hold, the launch is skipped: a single part needs
	// no merge.
	When expr.Expr `json:"when,omitzero"`
	// Cooperative means that all blocks must run at the same time. Dependent means that the
	// launch may start while the launch before it ends.
	Cooperative bool `json:"cooperative,omitempty"`
	Dependent   bool `json:"dependent,omitempty"`
}

// Arg is one argument. Exactly one of Pointer, Map and Type is set.
type Arg struct {
	Pointer string     // the address of an operand
	Map     *TensorMap // a tensor map of an operand
	Type    string     // the value of an expression, as "u32", "f32", …
	Value   expr.Expr
}

// TensorMap describes an operand to the copy engine, the innermost dimension first.
type TensorMap struct {
	Operand string      `json:"operand"`
	Type    string      `json:"type"` // the type of an element, as the copy engine names it: u8, f16, …
	Dims    []expr.Expr `json:"dims"`
	// Strides are bytes, of all dimensions but the innermost. Without them the tensor is
	// contiguous.
	Strides []expr.Expr `json:"strides,omitempty"`
	Box     []expr.Expr `json:"box"`
	Swizzle string      `json:"swizzle,omitempty"` // "32B", "64B", "128B"; none when empty
	Fill    string      `json:"fill,omitempty"`    // "zero" or "nan" beyond the bounds
}

// Problem describes what a kernel computes.
type Problem interface {
	Op() string
	Check() error
	Facts() map[string]string // values that a text may depend on
	Uses() []string           // features that a kernel must support
	Names() expr.Env          // sizes that the host knows at launch
}

// Chip holds the properties of a device that a kernel may depend on. The zero value stands
// for any chip.
type Chip struct {
	Target      ptx.Target
	SMs         int
	SharedMax   int // bytes that a block may have
	SharedPerSM int // bytes
}

// Runs refuses code for a target that the chip does not run. A chip without a target runs all.
func (c Chip) Runs(t ptx.Target) error {
	if c.Target != (ptx.Target{}) && !c.Target.Runs(t) {
		return fmt.Errorf("%s does not run code for %s", c.Target, t)
	}
	return nil
}

// Holds refuses blocks with more shared memory than the chip has for one.
func (c Chip) Holds(shared int) error {
	if c.SharedMax > 0 && shared > c.SharedMax {
		return fmt.Errorf("a block needs %d bytes of shared memory, the chip has %d per block", shared, c.SharedMax)
	}
	return nil
}

// Operand finds an operand by its name, or returns nil.
func (k *Kernel) Operand(name string) *Operand {
	for i := range k.Operands {
		if k.Operands[i].Name == name {
			return &k.Operands[i]
		}
	}
	return nil
}

// Deterministic reports whether the kernel gives the same bits each time it runs on the same
// inputs. It does unless it claims the opposite.
func (k *Kernel) Deterministic() bool { return k.Claims[ClaimedDeterministic] != "false" }

// ClaimedDeterministic is the claim that [Kernel.Deterministic] reads.
const ClaimedDeterministic = "deterministic"

// Entries returns the names of the entries that are launched, each once.
func (k *Kernel) Entries() (names []string) {
	seen := map[string]bool{}
	for _, l := range k.Launches {
		if !seen[l.Entry] {
			seen[l.Entry] = true
			names = append(names, l.Entry)
		}
	}
	return names
}

// ArgsUse reports whether the value of any argument uses one of some names.
func (k *Kernel) ArgsUse(names ...string) bool {
	for _, l := range k.Launches {
		for _, a := range l.Args {
			for _, used := range a.Value.Names() {
				for _, n := range names {
					if used == n {
						return true
					}
				}
			}
		}
	}
	return false
}
