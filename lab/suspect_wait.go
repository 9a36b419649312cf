package lab

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/kernel"
)

// earlyUses finds accesses of a dependent launch before griddepcontrol.wait, to memory that an earlier launch of the same
// call uses. The emulator runs launches one after the other; on a GPU the earlier one may still run. After the first wait
// of a cluster, all its threads count as waiting: they may wait for the one that did.
type earlyUses struct {
	watches bool // whether the subject has a dependent launch
	before  map[*observe.Alloc]*touched
	now     map[*observe.Alloc]*touched // by the launch that runs
}

// touched holds the bytes of an allocation that launches have read and written.
type touched struct{ read, written observe.ByteSet }

func newEarlyUses(s *Subject) earlyUses {
	dependent := slices.ContainsFunc(s.Launches, func(l kernel.Launch) bool { return l.Dependent })
	return earlyUses{watches: dependent && len(s.Launches) > 1, before: map[*observe.Alloc]*touched{}, now: map[*observe.Alloc]*touched{}}
}

// begin is called when a launch begins. One that is not dependent begins when all earlier ones have ended.
func (e *earlyUses) begin(info *observe.LaunchInfo) {
	if !info.Launch.Dependent {
		clear(e.before)
	}
}

// end is called when a launch has ended.
func (e *earlyUses) end() {
	for alloc, t := range e.now {
		was := touchedOf(e.before, alloc)
		was.read, was.written = union(was.read, t.read), union(was.written, t.written)
	}
	clear(e.now)
}

// conflicts adds an access to those of its launch. With early, it reports whether it uses bytes that an earlier launch writes,
// or writes bytes that one uses.
func (e *earlyUses) conflicts(a *observe.Access, reads, writes, early bool) (found bool) {
	was, t := e.before[a.Alloc], touchedOf(e.now, a.Alloc)
	each := func(offset int) {
		if early && was != nil {
			found = found || was.written.Has(offset, a.Size) || writes && was.read.Has(offset, a.Size)
		}
		if reads {
			t.read.Add(offset, a.Size)
		}
		if writes {
			t.written.Add(offset, a.Size)
		}
	}
	if a.Offsets == nil {
		for _, offset := range a.Units {
			each(int(offset))
		}
		return found
	}
	for m := a.Mask; m != 0; m &= m - 1 {
		each(int(a.Offsets[bits.TrailingZeros32(m)]))
	}
	return found
}

func touchedOf(m map[*observe.Alloc]*touched, alloc *observe.Alloc) *touched {
	if m[alloc] == nil {
		m[alloc] = &touched{}
	}
	return m[alloc]
}

func union(a, b observe.ByteSet) observe.ByteSet {
	if len(a) < len(b) {
		a = append(a, make(observe.ByteSet, len(b)-len(a))...)
	}
	for i, bits := range b {
		a[i] |= bits
	}
	return a
}

// earlyFinding returns the finding about an access before griddepcontrol.wait.
func earlyFinding(in *observe.Inst, name string) finding.Finding {
	f := finding.Finding{
		Kind: check.GlobalRace, Severity: finding.Error, Place: finding.At(in.Pos), Count: 1,
		Message: fmt.Sprintf("%s is used before griddepcontrol.wait, and an earlier launch uses it too", name),
		Why:     "a dependent launch may start while the launch before it still runs",
		Fix:     "execute griddepcontrol.wait before the access",
	}
	f.Inst, f.Var = in.Op.Text, name
	return f
}
