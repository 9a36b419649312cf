package check

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// shuffleSource returns the source lane of a lane in a shuffle. ok is false if the source is out
// of range: then the lane gets its own value.
func shuffleSource(mode string, lane int, b, c uint32) (j int, ok bool) {
	n, segment, clamp := int(b&31), int(c>>8&31), int(c&31)
	low := lane & segment
	high := low | clamp&^segment
	switch mode {
	case "up":
		j = lane - n
		return j, j >= high
	case "down":
		j = lane + n
	case "bfly":
		j = lane ^ n
	default:
		j = low | n&^segment
	}
	return j, j <= high
}

// safeShuffles finds the exchanges of a function in which all lanes always take part: the warps
// are full, the mask is the constant of all lanes, and no lane reaches the instruction without
// the others.
type safeShuffles struct {
	full    bool
	movs    map[int32]*observe.Inst // by register: the one instruction that writes it
	blocks  map[*ptx.Inst]int
	uniform *verify.Uniform
}

func newSafeShuffles(l *launch, f *ptx.Func, g *verify.CFG) *safeShuffles {
	s := &safeShuffles{full: l.Launch.Block.Count()%32 == 0 && f.Entry, blocks: map[*ptx.Inst]int{}}
	for b := range g.Blocks {
		for _, st := range f.Body[g.Blocks[b].Start:g.Blocks[b].End] {
			if in, ok := st.(*ptx.Inst); ok && in.Op.Has("sync") {
				s.blocks[in] = b
			}
		}
	}
	if !s.full || len(s.blocks) == 0 {
		return s
	}
	s.uniform = verify.Uniformity(f, g)
	s.movs = map[int32]*observe.Inst{}
	writes := map[int32]int{}
	for id := range l.Program {
		in := &l.Program[id]
		if in.Func != f {
			continue
		}
		for _, d := range newUndefInst(in, int32(len(f.Regs))).dst {
			writes[d.id]++
			delete(s.movs, d.id)
			if writes[d.id] == 1 && in.Op.Name == "mov" && in.Guard.Sym == nil {
				s.movs[d.id] = in
			}
		}
	}
	return s
}

func (s *safeShuffles) is(in *observe.Inst) bool {
	mask := in.Arg("membermask")
	if !s.full || mask == nil || in.Guard.Sym != nil || s.uniform == nil {
		return false
	}
	if v, ok := constantIn(mask, s.movs); !ok || uint32(v) != 1<<32-1 {
		return false
	}
	b, ok := s.blocks[in.Inst]
	if !ok {
		return false
	}
	v, _ := s.uniform.Control(b)
	return v == verify.Invariant && !s.uniform.Partial
}

// membersPart checks the member masks of .sync exchanges.
type membersPart struct {
	want []bool // by instruction
}

// ShuffleInactive is a value from a lane that does not take part in an exchange.
const ShuffleInactive finding.Kind = "shuffle-inactive"

func init() {
	register(checker{kinds: []kind{{
		Rule: finding.Rule{
			Kind:  ShuffleInactive,
			Short: "a shuffle reads from a lane that does not take part",
			Full:  "shfl.sync gives an undefined value when its source lane is not executing the same shuffle.",
			Help:  "Execute the shuffle in all lanes of the mask, before any branch between them, and choose the value afterwards.",
		},
		why: "a lane gets an undefined value from a lane that does not execute the shuffle with it: a lane outside the member mask, a lane that has ended, or a lane that the warp never had",
		fix: "let all lanes that are read take part, with a mask that names them, or choose offset and width so that no other lane is read",
	}}, also: []finding.Kind{BarrierDivergence}, start: newMembers})
}

func newMembers(l *launch) part {
	return l.once("members", func() part { return findMembers(l) })
}

// findMembers finds exchanges in which lanes may be missing. It returns nil if there is none.
func findMembers(l *launch) part {
	p := &membersPart{want: make([]bool, len(l.Program))}
	var safe *safeShuffles
	var of *ptx.Func
	any := false
	for id := range l.Program {
		in := &l.Program[id]
		if !hasMembers(in) {
			continue
		}
		if in.Func != of {
			of = in.Func
			safe = newSafeShuffles(l, of, verify.NewCFG(of))
		}
		p.want[id] = !safe.is(in)
		any = any || p.want[id]
	}
	if !any {
		return nil
	}
	return p
}

// hasMembers reports whether the instruction names the lanes that execute it together.
func hasMembers(in *observe.Inst) bool { return in.Arg("membermask") != nil }

func (p *membersPart) wants(in *observe.Inst) bool { return p.want[in.ID] }

func (p *membersPart) cluster(c *cluster) any { return &membersWatch{c: c} }

type membersWatch struct{ c *cluster }

var (
	outsideMask = rule{
		"a lane that executes a .sync exchange must be in its own member mask",
		"compute the mask from the lanes that execute it, before the branch: __ballot_sync or __activemask, or write the mask of these lanes",
	}
	endedMask = rule{
		"the member mask names lanes that have ended and can take no part",
		"leave ended lanes out of the mask, or let all lanes live until the exchange is done",
	}
)

func (w *membersWatch) step(s *observe.Step) {
	mask := s.Arg("membermask")
	var stranger, ended uint32
	s.Lanes(func(l int) {
		members := uint32(s.Value(mask, l))
		if members>>l&1 == 0 {
			stranger |= 1 << l
		}
		ended |= members &^ s.Live
	})
	ended &= w.existing(s)
	if stranger != 0 {
		a := w.c.at(s.ID, s.Rank, s.Warp, stranger)
		w.c.report(outsideMask.of(finding.Finding{
			Kind: membersKind(s), Severity: finding.Error, Place: a,
			Message: fmt.Sprintf("%s: the member mask of %s does not name the lane itself", s.Op.Text, finding.Lanes(stranger)),
		}))
		return
	}
	if ended != 0 && !readsAbsent(s) {
		a := w.c.at(s.ID, s.Rank, s.Warp, s.Mask)
		w.c.report(endedMask.of(finding.Finding{
			Kind: membersKind(s), Severity: finding.Warning, Place: a,
			Message: fmt.Sprintf("%s: the member mask names %s, which %s ended", s.Op.Text, finding.Lanes(ended), have(ended)),
		}))
	}
}

// membersKind returns the kind of a finding about a wrong mask. bar.warp.sync is a barrier and
// exchanges no values.
func membersKind(s *observe.Step) finding.Kind {
	if s.Op.Name == "bar" {
		return BarrierDivergence
	}
	return ShuffleInactive
}

// readsAbsent reports whether a shuffle reads from a lane that does not take part. The checker of
// undefined values reports that at the use of the value.
func readsAbsent(s *observe.Step) (absent bool) {
	if s.Op.Name != "shfl" {
		return false
	}
	b, c, mode := s.Arg("b"), s.Arg("c"), s.Match.Mod("mode")
	s.Lanes(func(l int) {
		j, ok := shuffleSource(mode, l, uint32(s.Value(b, l)), uint32(s.Value(c, l)))
		absent = absent || ok && s.Together>>j&1 == 0
	})
	return absent
}

// existing returns the lanes that the warp started with. A mask may name other lanes.
func (w *membersWatch) existing(s *observe.Step) uint32 {
	if n := w.c.Blocks[s.Rank].Threads - 32*s.Warp; n < 32 {
		return 1<<n - 1
	}
	return 1<<32 - 1
}

func have(lanes uint32) string {
	if lanes&(lanes-1) == 0 {
		return "has"
	}
	return "have"
}
