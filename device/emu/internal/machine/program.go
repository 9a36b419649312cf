package machine

import (
	"sync"

	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// FuncBase is where the addresses of functions start.
const FuncBase = 4 << memory.WindowBits

func (p *Program) FuncAddr(s *ptx.Symbol) uint64 {
	if fn := p.Function(s); fn != nil {
		return p.AddrOf[fn.Decl.Sym.Name]
	}
	return 0
}

// Function is the function that a name stands for, or nil when it has no body
// here.
func (p *Program) Function(s *ptx.Symbol) *Function {
	for _, it := range p.Module.Items {
		if a, ok := it.(*ptx.Alias); ok && a.Name.Name == s.Name {
			s = a.Target
		}
	}
	return p.Funcs[s.Name]
}

// Exec runs one instruction for the lanes in m, which are never none.
type Exec func(f *Frame, m uint32)

// Status is what became of an instruction that may have to wait.
type Status uint8

const (
	Done  Status = iota // go on
	Again               // not possible yet: run it again when something has changed
	Yield               // done, but let others run: a poll that failed
	Sleep               // done, and time has passed
)

// opKind is how the warp's loop treats an instruction.
type opKind uint8

const (
	opRun     opKind = iota // exec
	OpTry                   // try: may have to wait
	OpPoll                  // exec that may find what it found before
	OpBra                   // branch to target
	OpBrx                   // branch by table
	OpCall                  // call
	OpRet                   // return from a device function, or end the thread
	OpExit                  // end the thread
	OpSync                  // wait for the lanes of a mask to be here, then exec
	opWatched               // announces itself first: control flow
)

// Op is a decoded instruction.
type Op struct {
	Run    Exec
	Try    func(f *Frame, m uint32) Status
	Kind   opKind
	real   opKind                                // opWatched: what it announces
	said   func(f *Frame, mask, together uint32) // announces the instruction to an observer, or nil
	skips  bool                                  // opWatched: also when no lane executes it
	Neg    bool                                  // the guard is negated
	Guard  Slot                                  // predicate, or -1
	Target int32                                 // of a branch
	Prio   int32                                 // place in the function's reverse postorder: lower runs first
	Table  []int32
	Index  Slot // brx: the index; opSync: the member mask
	Call   *CallSite
	Cells  []Cell                          // opPoll: what is read
	Warp   *WarpOp                         // opSync: an exchange that lanes may join from different places
	Why    func(f *Frame, m uint32) string // opTry, opSync: what lanes wait for, for reports
	Inst   *ptx.Inst
	id     int32 // in the program's list of instructions, when it is observed
}

// Program is a module decoded for a target.
type Program struct {
	File    string
	Module  *ptx.Module
	Target  ptx.Target
	Funcs   map[string]*Function // by name
	ByAddr  map[uint64]*Function
	AddrOf  map[string]uint64 // of functions, by name
	Globals map[*ptx.Symbol]*memory.Alloc
	// shared is where the variables of module scope lie in shared memory; dynamic
	// is the .extern one.
	Shared   map[*ptx.Symbol]int64
	Statics  int64 // bytes that all kernels have,
	Declared int64 // and without guards between
	Dynamic  []*ptx.Symbol
	Guard    int64 // bytes between shared variables

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
	// tmpl32 and tmpl64 are the registers a frame starts with: constants filled in.
	Init32    []Lanes32
	Init64    []Lanes64
	Specials  []SpecialReg
	Based     []BasedReg
	Index     int        // in the program
	Regs      []Slot     // by register ID
	params    []ArgPlace // formal parameters
	returns   []ArgPlace
	LocalSize int64
	ParamSize int64
	Offsets   map[*ptx.Symbol]int64 // of .param, .local and .shared variables
	Statics   int64                 // bytes of static shared memory, an entry's
	Declared  int64                 // and without guards between
	Serial    bool                  // may talk to other blocks: see order.go
	Lines     *SourceLines
}

// SpecialReg is a special register that a function reads, filled when a frame
// starts.
type SpecialReg struct {
	Name string
	Slot Slot
	Wide bool
}

// BasedReg is a register with an address that depends on who called the function,
// filled when a frame starts.
type BasedReg struct {
	Off    uint64
	Shared bool // from the start of dynamic shared memory, else of the frame's local memory
	Wide   bool
	Slot   Slot
}
