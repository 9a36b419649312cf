package tile

import "github.com/GOATnote-Inc/attest/build"

// PingPong lets the warps of several warpgroups take turns at a unit that they share:
// while one warpgroup uses the tensor cores, another computes exponentials. Warps that
// come to the same unit at the same time would each take as long as all of them
// together, and would then leave it idle together.
//
// Each member has an mbarrier, at which the member before it arrives.
type PingPong struct {
	k       *build.Kernel
	bars    build.Shared[build.B64]
	members int
}

// PingPongBytes is how many bytes of shared memory the barriers of the members take.
func PingPongBytes(members int) int { return 8 * members }

// NewPingPong is a schedule of so many members with their barriers at mem.
func NewPingPong(k *build.Kernel, mem build.Shared[build.B64], members int) PingPong {
	return PingPong{k, mem, members}
}

// Init initialises the barriers. One thread calls it, and the block synchronises before
// a member waits.
func (p PingPong) Init() {
	for i := range p.members {
		p.k.MbarrierInit(p.bars.Plus(i), 1)
	}
}

// Turn is one member's place in the schedule.
type Turn struct {
	k          *build.Kernel
	mine, next build.Shared[build.B64]
	first      build.U32 // the parity to wait for in the first round
	parity     *build.Var[build.U32]
}

// Member is the place of warp i. Its turn comes after that of warp i-stride and before
// that of warp i+stride; the last is followed by the first. Members 0 to stride-1 are
// the first of their rounds.
func (p PingPong) Member(i build.U32, stride int) *Turn {
	k := p.k
	after := i.Add(stride)
	wrapped := after.SetpGe(p.members)
	after = after.Sub(p.members).Selp(after, wrapped)
	// A barrier in its phase 0 answers as if a phase of parity 1 had ended.
	first := k.U32(1).Selp(0, i.SetpLt(stride))
	return &Turn{k, p.bars.At(i), p.bars.At(after), first, first.Var()}
}

// Wait waits for the warp's turn.
func (u *Turn) Wait() {
	u.k.MbarrierWait(u.mine, u.parity.Get())
	u.parity.Set(u.parity.Get().Xor(1))
}

// WaitIn is Wait for callers that already know the number of the round, of which the
// lowest bit is enough. Use it for all waits of a Turn or for none.
func (u *Turn) WaitIn(round build.U32) {
	u.k.MbarrierWait(u.mine, round.Xor(u.first).And(1))
}

// Pass hands the turn to the next member. last is a number above zero, or NaN, that must
// be computed before: apart from a branch, nothing else keeps ptxas from moving
// arithmetic past this call.
func (u *Turn) Pass(w Warp, last build.F32) {
	done := last.SetpGeu(0).And(w.One())
	u.k.If(done, func() { u.k.MbarrierArrive(u.next) })
}
