package kernel

import (
	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Kernel is a kernel and how it is called.
type Kernel struct {
	Name string `json:"name,omitempty"` // for people: a preset, or a file and an entry
	PTX  string `json:"ptx,omitempty"`
	Op   string `json:"op"` // what it computes: "attention"
	// Fixed are facts that the text was written for. A problem must have these values.
	Fixed map[string]string `json:"fixed,omitempty"`
	// Supports are the features that the kernel computes. A problem that uses any other is
	// refused, so a feature that is new to problems is refused by every older kernel.
	Supports []string `json:"supports,omitempty"`
	Require  []Rule   `json:"require,omitempty"` // further limits
	// Let names values, each over the names before it: tiles, splits.
	Let      []Binding `json:"let,omitempty"`
	Operands []Operand `json:"operands"` // every piece of memory, once
	Launches []Launch  `json:"launches"` // in stream order
	// Claims are what a judge may expect: "p", the type that the weights of a softmax are
	// rounded to, and "accumulator".
	Claims map[string]string `json:"claims,omitempty"`
	// Structure are sizes inside the kernel at whose edges mistakes hide: "tile_q",
	// "tile_kv", "stages".
	Structure map[string]int `json:"structure,omitempty"`
	// Config is how the kernel was built, for people and records: "config", "lse".
	Config map[string]string `json:"config,omitempty"`
}

// Rule is a limit, and the sentence that a user reads when a problem is beyond it. An
// empty Why shows the expression.
type Rule struct {
	Holds expr.Expr `json:"holds"`
	Why   string    `json:"why,omitempty"`
}

// Binding names a value.
type Binding struct {
	Name  string    `json:"name"`
	Value expr.Expr `json:"value"`
}

// Operand is a piece of memory.
type Operand struct {
	Name string `json:"name"`
	Type string `json:"type"` // of an element, one of Types
	Role Role   `json:"role"`
	// Dims are the extents, the outermost first.
	Dims []expr.Expr `json:"dims"`
	// Strides are in elements, one for each extent. Without them the operand is contiguous.
	Strides []expr.Expr `json:"strides,omitempty"`
	Init    Init        `json:"init,omitempty"`
	// Meaning is what integers in memory stand for where the kernel reads its work from
	// them: "lengths", "offsets" or "pages".
	Meaning string `json:"meaning,omitempty"`
}

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

// Init is what an operand must hold before a run.
type Init string

// The contents that a kernel may ask for.
const (
	AsIs     Init = ""          // anything
	Zero     Init = "zero"      // zeros, before each run
	ZeroOnce Init = "zero-once" // zeros before the first run; the kernel restores them
)

// Launch is one launch of an entry.
type Launch struct {
	Entry   string      `json:"entry"`
	Args    []Arg       `json:"args"` // in the order of the entry's parameters
	Grid    []expr.Expr `json:"grid"`
	Block   []expr.Expr `json:"block"`
	Cluster []expr.Expr `json:"cluster,omitempty"`
	Shared  expr.Expr   `json:"shared,omitzero"` // bytes of dynamic shared memory
	// When skips the launch where it does not hold: a merge of one part.
	When expr.Expr `json:"when,omitzero"`
	// Cooperative demands that all blocks run at once. Dependent lets the launch start
	// while the one before it ends.
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
	Type    string      `json:"type"` // of an element, as the copy engine names it: u8, f16, …
	Dims    []expr.Expr `json:"dims"`
	// Strides are bytes, of all dimensions but the innermost. Without them the tensor is
	// contiguous.
	Strides []expr.Expr `json:"strides,omitempty"`
	Box     []expr.Expr `json:"box"`
	Swizzle string      `json:"swizzle,omitempty"` // "32B", "64B", "128B"; none when empty
	Fill    string      `json:"fill,omitempty"`    // "zero" or "nan" beyond the bounds
}

// Problem is what is to be computed.
type Problem interface {
	Op() string
	Check() error
	Facts() map[string]string // values that a text may depend on
	Uses() []string           // features that a kernel must support
	Names() expr.Env          // sizes that the host knows at launch
}

// Chip is what a kernel may know of a device. The zero value is no chip in particular.
type Chip struct {
	Target      ptx.Target
	SMs         int
	SharedMax   int // bytes that a block may have
	SharedPerSM int // bytes
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

// Entries are the names of the entries that are launched, each once.
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
