package check

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Kind names a class of defects. The names are stable: they appear in JSON and on
// the command line.
type Kind string

// The kinds.
const (
	SharedRace        Kind = "shared-race"
	GlobalRace        Kind = "global-race"
	AsyncRace         Kind = "async-race"
	ProxyFence        Kind = "proxy-fence"
	UninitShared      Kind = "uninit-shared"
	UninitLocal       Kind = "uninit-local"
	UninitRegister    Kind = "uninit-register"
	OOBGlobal         Kind = "oob-global"
	OOBShared         Kind = "oob-shared"
	OOBLocal          Kind = "oob-local"
	Misaligned        Kind = "misaligned"
	BarrierDivergence Kind = "barrier-divergence"
	Deadlock          Kind = "deadlock"
	MbarrierMisuse    Kind = "mbarrier-misuse"
	WgmmaHazard       Kind = "wgmma-hazard"
	ShuffleInactive   Kind = "shuffle-inactive"
	AsyncLeak         Kind = "async-leak"
)

// Kinds are all kinds, in the order of the documents.
var Kinds = []Kind{
	SharedRace, GlobalRace, AsyncRace, ProxyFence, UninitShared, UninitLocal, UninitRegister,
	OOBGlobal, OOBShared, OOBLocal, Misaligned, BarrierDivergence, Deadlock, MbarrierMisuse,
	WgmmaHazard, ShuffleInactive, AsyncLeak,
}

// Severity is how sure it is that a defect can do harm.
type Severity string

// The severities. A warning is against the rules and widely done, or changes
// nothing: a store of the value that was there.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Defect is one thing that is wrong with a kernel. What many threads or iterations
// do wrong in the same way is one defect with a count.
type Defect struct {
	Kind     Kind
	Severity Severity
	Kernel   string
	Message  string   // what happened, in one line
	Access   Access   // where, and by whom
	Other    *Access  // the other access of a race, or what the defect refers to
	Why      string   // the rule that it breaks
	Fix      string   // what usually mends it
	Waiters  []Access // of a deadlock: everyone who waits, with Note saying for what
	Count    int      // how often it was seen
}

// Access is an instruction executed by threads, and the memory it touched.
type Access struct {
	Func   string  // the PTX function it is in
	Pos    ptx.Pos // its line of PTX
	Source string  // "kernel.cu:12:3", from .loc, or ""
	// Callers are the lines that call the function which Source is in, inlined or not,
	// the innermost first.
	Callers []string
	Inst    string // "st.shared.f32"
	Action  string // "write", "read", "asynchronous write", …
	Block   [3]int
	Warp    int
	Lanes   uint32
	Space   ptx.Space // it touched; Generic when it touched no memory
	Var     string    // variable or allocation that it lies in, or ""
	Owner   string    // of Var: "block 1 of the cluster", or ""
	Offset  int64     // from the start of Var, or the address itself
	Size    int       // bytes
	Note    string    // of a waiter: what it waits for
}

// from fills in the lines of the source, where they are known.
func (a *Access) from(at *site) {
	if at != nil && at.line != "" {
		a.Source, a.Callers = at.line, at.callers
	}
}

// Where is the address as people write it: "tile+0x40", "tile+0x40 of block 1 of the
// cluster".
func (a *Access) Where() string {
	if a.Owner != "" {
		return a.within() + " of " + a.Owner
	}
	return a.within()
}

func (a *Access) within() string {
	switch {
	case a.Size == 0 && a.Var == "":
		return ""
	case a.Var == "":
		return fmt.Sprintf("%#x", a.Offset)
	case a.Offset == 0:
		return a.Var
	case a.Offset < 0:
		return fmt.Sprintf("%s-%#x", a.Var, -a.Offset)
	}
	return fmt.Sprintf("%s+%#x", a.Var, a.Offset)
}

// Who is the threads as people write them: "block (0,0,0), warp 2, lanes 0-3,8".
func (a *Access) Who() string {
	s := fmt.Sprintf("block (%d,%d,%d), warp %d", a.Block[0], a.Block[1], a.Block[2], a.Warp)
	if a.Lanes != 0 {
		s += ", " + Lanes(a.Lanes)
	}
	return s
}

// Lanes writes a set of lanes as ranges: "lane 3", "lanes 0-3,8", "lanes 0,2,…,30",
// "all lanes".
func Lanes(m uint32) string {
	if m == 1<<32-1 {
		return "all lanes"
	}
	if lo, step := bits.TrailingZeros32(m), stride(m); step > 1 {
		return fmt.Sprintf("lanes %d,%d,…,%d", lo, lo+step, 31-bits.LeadingZeros32(m))
	}
	var parts []string
	for rest := m; rest != 0; {
		lo := bits.TrailingZeros32(rest)
		n := bits.TrailingZeros32(^(rest >> lo))
		rest &^= uint32((uint64(1)<<n - 1) << lo)
		if n == 1 {
			parts = append(parts, fmt.Sprint(lo))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", lo, lo+n-1))
		}
	}
	if bits.OnesCount32(m) == 1 {
		return "lane " + parts[0]
	}
	return "lanes " + strings.Join(parts, ",")
}

// stride is the distance between the lanes of a set of four or more that are all as
// far apart, else 0.
func stride(m uint32) int {
	if bits.OnesCount32(m) < 4 {
		return 0
	}
	lo := bits.TrailingZeros32(m)
	step := bits.TrailingZeros32(m >> lo &^ 1) // from the first to the second
	even := uint32(0)
	for l := lo; l <= 31-bits.LeadingZeros32(m); l += step {
		even |= 1 << l
	}
	if even != m {
		return 0
	}
	return step
}

// String is the defect in one line, without its explanation.
func (d *Defect) String() string {
	return fmt.Sprintf("line %d: %s: %s [%s]", d.Access.Pos.Line, d.Severity, d.Message, d.Kind)
}
