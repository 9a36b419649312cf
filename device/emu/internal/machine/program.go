package machine

import (
	"sync"

	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// FuncBase is where the addresses of functions start.
const FuncBase = 4 << memory.WindowBits

// FuncAddr returns the address of a function.
func (p *Program) FuncAddr(s *ptx.Symbol) uint64 {
	if fn := p.Function(s); fn != nil {
		return p.AddrOf[fn.Decl.Sym.Name]
	}
	return 0
}

// Function returns the function of a symbol, or nil if it has no body in the module.
func (p *Program) Function(s *ptx.Symbol) *Function {
	p.aliased.Do(func() {
		p.aliases = map[string]*ptx.Symbol{}
		for _, it := range p.Module.Items {
			if a, ok := it.(*ptx.Alias); ok {
				p.aliases[a.Name.Name] = a.Target
			}
		}
	})
	for range p.aliases { // an alias of an alias; the number of steps is limited, since they may form a circle
		to := p.aliases[s.Name]
		if to == nil {
			break
		}
		s = to
	}
	return p.Funcs[s.Name]
}

// Exec executes one instruction for the lanes in m, at least one.
type Exec func(f *Frame, m uint32)

// Status is the result of an instruction that may have to wait.
type Status uint8

const (
	Done  Status = iota // continue
	Again               // not possible yet: try again when something has changed
	Yield               // done, but other threads run first: a poll that failed
	Sleep               // done, and time has passed
)

// opKind selects how the loop of the warp treats an instruction.
type opKind uint8

const (
	opRun     opKind = iota // exec
	OpTry                   // try: may have to wait
	OpPoll                  // exec that may read the same values again, as in a loop that polls
	OpBra                   // branch to target
	OpBrx                   // branch by table
	OpCall                  // call
	OpRet                   // return from a device function, or end the thread
	OpExit                  // end the thread
	OpSync                  // wait for the lanes of a mask to be here, then exec
	opWatched               // announces itself first: control flow
	opHeld                  // waits until no other warp can continue: see hold.go
)

// Op is a decoded instruction.
type Op struct {
	Run             Exec
	Try             func(f *Frame, m uint32) Status
	Kind            opKind
	plainKind       opKind                                // opWatched: the kind of the instruction that it announces
	heldKind        opKind                                // opHeld: the kind of the instruction that waits
	announce        func(f *Frame, mask, together uint32) // announces the instruction to an observer; nil if it is not observed
	announceSkipped bool                                  // opWatched: announce the instruction even if no lane executes it
	Neg             bool                                  // the guard is negated
	Guard           Slot                                  // predicate, or -1
	Target          int32                                 // the target of a branch
	Prio            int32                                 // position in the reverse postorder of the function: lower runs first
	Table           []int32
	Index           Slot // brx: the index; opSync: the member mask
	Call            *CallSite
	Cells           []Cell                          // opPoll: what is read
	Warp            *WarpOp                         // opSync: an exchange that lanes may join from different places
	Why             func(f *Frame, m uint32) string // OpTry, OpSync: describes what lanes wait for
	Inst            *ptx.Inst
	id              int32 // the ID in the program's list of instructions, when it is observed
}

// Program is a module decoded for a target.
type Program struct {
	File    string
	Module  *ptx.Module
	Target  ptx.Target
	Funcs   map[string]*Function // by name
	ByAddr  map[uint64]*Function
	AddrOf  map[string]uint64 // the address of each function, by name
	Globals map[*ptx.Symbol]*memory.Alloc
	// Shared holds the offsets of the module's variables in shared memory. Dynamic lists the
	// .extern variables.
	Shared   map[*ptx.Symbol]int64
	Statics  int64 // bytes of the static shared memory of all kernels, including guard bands
	Declared int64 // Statics without guard bands
	Dynamic  []*ptx.Symbol
	Guard    int64 // bytes between shared variables

	aliased  sync.Once
	aliases  map[string]*ptx.Symbol // targets by the names of aliases
	numbered sync.Once
	insts    []observe.Inst
}

// Function is a decoded function.
type Function struct {
	Prog  *Program
	Decl  *ptx.Func
	Code  []Op
	N32   int
	N64   int
	nPred int
	// Init32 and Init64 are the registers that a frame starts with, including constants.
	Init32    []Lanes32
	Init64    []Lanes64
	Specials  []SpecialReg
	Based     []BasedReg
	Index     int        // the index in the program
	Regs      []Slot     // by register ID
	params    []ArgPlace // formal parameters
	returns   []ArgPlace
	LocalSize int64
	ParamSize int64
	Offsets   map[*ptx.Symbol]int64 // the offsets of .param, .local and .shared variables
	Statics   int64                 // bytes of static shared memory of an entry
	Declared  int64                 // the same without guard bands
	Serial    bool                  // the blocks may communicate, so one goroutine interleaves them
	Waits     bool                  // a block may wait for others or do what they leave to do, so all blocks must run
	Lines     *SourceLines
	// Refused lists the instructions of the function that the emulator cannot execute.
	Refused []error
	// Unsupported says why a kernel cannot run: the refused instructions that it can reach.
	Unsupported error

	frames *frameList // see reuse.go
}

// SpecialReg is a special register that a function reads. It is filled in when a frame
// starts.
type SpecialReg struct {
	Name string
	Slot Slot
	Wide bool
}

// BasedReg is a register with an address that depends on the caller of the function. It is
// filled in when a frame starts.
type BasedReg struct {
	Off    uint64
	Shared bool // relative to dynamic shared memory, else to the frame's local memory
	Wide   bool
	Slot   Slot
}
