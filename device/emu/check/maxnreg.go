package check

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

func init() {
	register(checker{also: []finding.Kind{Deadlock, BarrierDivergence}, start: newRegisterPool})
}

// poolPart checks setmaxnreg, which the emulator executes as nothing: a GPU waits until the block has the registers.
type poolPart struct {
	entry int // registers of a thread when the block starts
}

// fixed are the directives of which setmaxnreg needs one. The verifier warns without them.
var fixed = []string{".maxnreg", ".maxntid", ".reqntid"}

func newRegisterPool(l *launch) part {
	f := l.Module.Func(l.Kernel)
	uses := func() bool {
		for id := range l.Program {
			if setsRegisters(&l.Program[id]) {
				return true
			}
		}
		return false
	}
	if f == nil || !hasDirective(f, fixed) || !uses() {
		return nil
	}
	return poolPart{entry: verify.RegisterLimit(f)}
}

func hasDirective(f *ptx.Func, names []string) bool {
	for _, name := range names {
		if f.Directive(name) != nil {
			return true
		}
	}
	return false
}

func setsRegisters(in *observe.Inst) bool { return in.Op.Name == "setmaxnreg" }

func (poolPart) wants(in *observe.Inst) bool { return setsRegisters(in) }

func (p poolPart) cluster(c *cluster) any {
	w := &poolWatch{c: c, entry: p.entry}
	for i := range c.Blocks {
		w.warps = append(w.warps, make([]warpRegisters, (c.Blocks[i].Threads+31)/32))
	}
	return w
}

// warpRegisters is what a warp has done to its registers.
type warpRegisters struct {
	times, now int
	last       int // the ID of the last setmaxnreg
}

// poolWatch follows the registers of the warps of each block. When all have ended, they must not have more than the block
// had at its start, and the warps of a warpgroup must have executed the same instructions.
type poolWatch struct {
	c     *cluster
	entry int
	warps [][]warpRegisters // by block and warp
}

func (w *poolWatch) step(s *observe.Step) {
	one := &w.warps[s.Rank][s.Warp]
	one.times++
	one.now, one.last = int(s.Arg("immRegCount").Val), s.ID
}

// The warps of a warpgroup.
const groupWarps = 4

func (w *poolWatch) end() {
	for rank, warps := range w.warps {
		have, most := 0, 0
		for i, one := range warps {
			if one.times == 0 {
				one.now = w.entry
			}
			have += one.now
			if one.now > warps[most].now {
				most = i
			}
			first := i / groupWarps * groupWarps
			if first+groupWarps > len(warps) || warps[i] == warps[first] {
				continue
			}
			at := i
			if one.times == 0 {
				at = first
			}
			w.c.report(groupSets.of(finding.Finding{
				Kind: BarrierDivergence, Severity: finding.Error, Place: w.c.at(warps[at].last, rank, at, full),
				Message: fmt.Sprintf("warp %d and warp %d of a warpgroup do not execute the same setmaxnreg", first, i),
			}))
			return
		}
		if all := w.entry * len(warps); have > all {
			w.c.report(poolEmpty.of(finding.Finding{
				Kind: Deadlock, Severity: finding.Error, Place: w.c.at(warps[most].last, rank, most, full),
				Message: fmt.Sprintf("setmaxnreg waits forever: %s want %d registers per lane in all, and the block has %d", english.Count(len(warps), "warp"), have, all),
			}))
			return
		}
	}
}

// full is the mask of all lanes.
const full = 1<<32 - 1

var (
	poolEmpty = rule{
		"setmaxnreg.inc waits until other warps have given back as many registers as it asks for",
		"let other warps execute setmaxnreg.dec, or ask for fewer registers: the sum over all warps must not exceed that at the start",
	}
	groupSets = rule{
		"all warps of a warpgroup must execute the same setmaxnreg",
		"execute it before the branch between the warps of a warpgroup",
	}
)
