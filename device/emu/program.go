package emu

import (
	"sync"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// exec runs one instruction for the lanes in m, which are never none.
type exec func(f *frame, m uint32)

// status is what became of an instruction that may have to wait.
type status uint8

const (
	done  status = iota // go on
	again               // not possible yet: run it again when something has changed
	yield               // done, but let others run: a poll that failed
	sleep               // done, and time has passed
)

// opKind is how the warp's loop treats an instruction.
type opKind uint8

const (
	opRun     opKind = iota // exec
	opTry                   // try: may have to wait
	opPoll                  // exec that may find what it found before
	opBra                   // branch to target
	opBrx                   // branch by table
	opCall                  // call
	opRet                   // return from a device function, or end the thread
	opExit                  // end the thread
	opSync                  // wait for the lanes of a mask to be here, then exec
	opWatched               // announces itself first: control flow
)

// op is a decoded instruction.
type op struct {
	run    exec
	try    func(f *frame, m uint32) status
	kind   opKind
	real   opKind                                // opWatched: what it announces
	said   func(f *frame, mask, together uint32) // announces the instruction to an observer, or nil
	skips  bool                                  // opWatched: also when no lane executes it
	neg    bool                                  // the guard is negated
	guard  slot                                  // predicate, or -1
	target int32                                 // of a branch
	prio   int32                                 // place in the function's reverse postorder: lower runs first
	table  []int32
	index  slot // brx: the index; opSync: the member mask
	call   *callSite
	cells  []cell                          // opPoll: what is read
	warp   *warpOp                         // opSync: an exchange that lanes may join from different places
	why    func(f *frame, m uint32) string // opTry, opSync: what lanes wait for, for reports
	in     *ptx.Inst
	id     int32 // in the program's list of instructions, when it is observed
}

// program is a module decoded for a target.
type program struct {
	file    string
	mod     *ptx.Module
	target  ptx.Target
	funcs   map[string]*function // by name
	byAddr  map[uint64]*function
	addrOf  map[string]uint64 // of functions, by name
	globals map[*ptx.Symbol]*alloc
	// shared is where the variables of module scope lie in shared memory; dynamic
	// is the .extern one.
	shared   map[*ptx.Symbol]int64
	statics  int64 // bytes that all kernels have,
	declared int64 // and without guards between
	dynamic  []*ptx.Symbol
	guard    int64 // bytes between shared variables

	numbered sync.Once
	insts    []observe.Inst
}

// function is a decoded function.
type function struct {
	prog  *program
	f     *ptx.Func
	code  []op
	n32   int
	n64   int
	nPred int
	// tmpl32 and tmpl64 are the registers a frame starts with: constants filled in.
	tmpl32    []lanes32
	tmpl64    []lanes64
	specials  []specialReg
	based     []basedReg
	index     int        // in the program
	regs      []slot     // by register ID
	params    []argPlace // formal parameters
	returns   []argPlace
	localSize int64
	paramSize int64
	offsets   map[*ptx.Symbol]int64 // of .param, .local and .shared variables
	statics   int64                 // bytes of static shared memory, an entry's
	declared  int64                 // and without guards between
	serial    bool                  // may talk to other blocks: see order.go
	lines     *sourceLines
}

// specialReg is a special register that a function reads, filled when a frame
// starts.
type specialReg struct {
	name string
	slot slot
	wide bool
}

// basedReg is a register with an address that depends on who called the function,
// filled when a frame starts.
type basedReg struct {
	off    uint64
	shared bool // from the start of dynamic shared memory, else of the frame's local memory
	wide   bool
	slot   slot
}
