package finding

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Kind names a class of findings: "shared-race", "type-mismatch". The names are
// stable, because they appear in JSON, in evidence and on the command line.
type Kind string

// Severity says how certain it is that a finding does harm.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // it cannot work, or its result is not determined
	Warning Severity = "warning" // it is legal or common, but very likely a mistake
	Note    Severity = "note"    // it breaks a rule, but it cannot change a result or all kernels do it
)

// worse reports whether s does more certain harm than t.
func (s Severity) worse(t Severity) bool { return s.rank() > t.rank() }

func (s Severity) rank() int {
	switch s {
	case Error:
		return 2
	case Warning:
		return 1
	}
	return 0
}

// Finding is one thing that is wrong with a kernel. What many threads or many
// iterations do wrong in the same way is one finding with a count.
//
// The JSON names are part of the contract of attest exec --json. Evidence holds
// the same names, so fields may be added and never renamed.
type Finding struct {
	Kind     Kind     `json:"kind"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"` // what happened
	Place             // where it happened, and which threads did it
	Kernel   string   `json:"kernel"` // the entry that was launched, or ""
	Other    *Place   `json:"other"`  // the other access of a race, or what the message refers to
	// Wait is the wait that came before a race with an asynchronous copy and did not cover
	// the copy, or nil. Its Note says what the wait left in flight.
	Wait *Place `json:"wait,omitempty"`
	// Pairs are other pairs of warps that race in the same way, a few of them.
	Pairs    Items[Pair]   `json:"pairs,omitempty"`
	Why      string        `json:"why"`      // the rule that is broken, or ""
	Fix      string        `json:"fix"`      // what usually repairs it, or ""
	Waiters  Items[Waiter] `json:"waiters"`  // all threads that wait in a deadlock
	Count    int           `json:"count"`    // how often it was seen
	Schedule uint64        `json:"schedule"` // the seed of the warp order in which it was seen first
}

// NoWarp is the Warp of a Place that names no threads.
const NoWarp = -1

// Place is an instruction, the threads that executed it and the memory that they
// touched. What is not known is empty; where no threads are known, Warp is NoWarp.
type Place struct {
	ptx.Pos               // of the instruction in the PTX text; zero when it has none
	Inst    string        `json:"instruction"`    // the opcode: "st.shared.f32"
	Source  string        `json:"source"`         // what the PTX was made from: "kernel.cu:12:3"
	Callers Items[string] `json:"callers"`        // the source lines that call the function which Source is in, innermost first
	Block   [3]int        `json:"block"`          // the index of the block in the grid
	Warp    int           `json:"warp"`           // the number of the warp in the block, or NoWarp
	Lanes   Lanes         `json:"lanes"`          // the lanes of the warp
	Func    string        `json:"function"`       // the PTX function that the instruction is in
	Action  string        `json:"action"`         // "read", "asynchronous write", …
	Space   string        `json:"space"`          // "shared", "global", …; "" when no memory was touched
	Address string        `json:"address"`        // as people write it: "tile+0x40"
	Var     string        `json:"variable"`       // the variable or allocation that the address lies in
	Offset  int64         `json:"offset"`         // the offset in bytes from the start of Var, or the address itself
	Span    Span          `json:"span,omitzero"`  // the offsets of all accesses that the finding counts, by these threads
	Size    int           `json:"size"`           // the size in bytes
	Note    string        `json:"note,omitempty"` // the role of the place in the finding
}

// Span is a range of offsets in a variable, in bytes. The zero value stands for one access.
type Span struct {
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

// Pair is two warps of a block that race, the lower number first, and the offsets that they
// share.
type Pair struct {
	Warp  int  `json:"warp"`
	Other int  `json:"other"`
	Span  Span `json:"span"`
}

// Waiter is threads that wait in a deadlock.
type Waiter struct {
	Place
	For string `json:"waits_for"` // what would end the wait, or ""
}

// At returns a place in the PTX text that names no threads. The zero position
// gives the place of a finding about the whole text.
func At(pos ptx.Pos) Place { return Place{Pos: pos, Warp: NoWarp} }

// Touch records that the place touched size bytes at an offset of a variable in a
// state space. An empty variable makes offset the address itself. owner says which
// copy of the variable it is, "block 1 of the cluster", where there are several.
func (p *Place) Touch(space, variable string, offset int64, size int, owner string) {
	p.Space, p.Var, p.Offset, p.Size = space, variable, offset, size
	switch {
	case size == 0 && variable == "":
		p.Address = ""
		return
	case variable == "":
		p.Address = fmt.Sprintf("%#x", offset)
	case offset == 0:
		p.Address = variable
	case offset < 0:
		p.Address = fmt.Sprintf("%s-%#x", variable, -offset)
	default:
		p.Address = fmt.Sprintf("%s+%#x", variable, offset)
	}
	if owner != "" {
		p.Address += " of " + owner
	}
}

// Elements returns which elements of its variable a place touched, "elements 16 to 31 of m (4
// bytes each)". An element is as large as the access of one lane. It returns "" when the
// variable is not known or the accesses are not aligned to their size.
func (p *Place) Elements() string {
	first, last := p.span()
	size := int64(p.Size)
	switch {
	case p.Var == "" || p.Action == "" || size < 1 || size > 16 || first < 0 || first%size != 0 || last%size != 0:
		return ""
	case first == last:
		return fmt.Sprintf("element %d of %s (%s each)", first/size, p.Var, english.Count(p.Size, "byte"))
	}
	return fmt.Sprintf("elements %d to %d of %s (%s each)", first/size, last/size, p.Var, english.Count(p.Size, "byte"))
}

// ElementsOf is Elements for another pair of warps.
func (f *Finding) ElementsOf(p Pair) string {
	at := f.Place
	at.Offset, at.Span = p.Span.First, p.Span
	return at.Elements()
}

func (p *Place) span() (first, last int64) {
	if p.Span == (Span{}) {
		return p.Offset, p.Offset
	}
	return p.Span.First, p.Span.Last
}

// widen adds the accesses of q, by the same threads, to the span of p.
func (p *Place) widen(q *Place) {
	if p.Var != q.Var || p.Size != q.Size {
		return
	}
	first, last := p.span()
	more, end := q.span()
	if more < first || end > last {
		p.Span = Span{min(first, more), max(last, end)}
	}
}

// In returns the position in a file as compilers write it: "k.ptx:12:3". What is
// not known is left out.
func (p *Place) In(file string) string {
	switch {
	case !p.IsValid():
		return file
	case p.Col <= 0:
		return fmt.Sprintf("%s:%d", file, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", file, p.Line, p.Col)
}

// Who names the threads: "block (0,0,0), warp 2, lanes 0-3,8". It returns "" when
// no threads are known.
func (p *Place) Who() string {
	if p.Warp == NoWarp {
		return ""
	}
	s := fmt.Sprintf("block (%d,%d,%d), warp %d", p.Block[0], p.Block[1], p.Block[2], p.Warp)
	if p.Lanes != 0 {
		s += ", " + p.Lanes.String()
	}
	return s
}

// sameThreads reports whether two places were executed by the same warp.
func sameThreads(p, q *Place) bool { return p.Block == q.Block && p.Warp == q.Warp }

// String returns the finding in one line, without its explanation.
func (f *Finding) String() string {
	return fmt.Sprintf("line %d: %s: %s [%s]", f.Line, f.Severity, f.Message, f.Kind)
}

// Format returns the finding in one line as compilers write it. The position in
// the PTX text comes first. A module that was built in Go has no such positions,
// so there the position in its source comes first.
func (f *Finding) Format(file string) string {
	var b strings.Builder
	switch {
	case f.IsValid():
		b.WriteString(f.In(file))
	case f.Source != "":
		b.WriteString(f.Source)
	default:
		b.WriteString(file)
	}
	fmt.Fprintf(&b, ": %s: %s", f.Severity, f.Message)
	if f.IsValid() && f.Source != "" {
		b.WriteString(" (" + f.Source + ")")
	}
	return b.String()
}
