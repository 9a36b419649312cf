package tile

import (
	"math"

	"github.com/GOATnote-Inc/attest/build"
)

// PingPong is ping-pong scheduling: the warps of several warpgroups use a unit that they
// share one after the other. While one warpgroup uses the tensor cores, another computes
// exponentials. Warps that come to the same unit at the same time would each take as long
// as all of them together, and would then leave it idle together.
//
// Each member has an mbarrier, at which the member before it arrives.
type PingPong struct {
	k       *build.Kernel
	bars    build.Shared[build.B64]
	members int
}

// PingPongBytes returns the bytes of shared memory for the barriers of the members.
func PingPongBytes(members int) int { return 8 * members }

// NewPingPong returns a schedule for a number of members, with their barriers at mem.
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

// Member is one warp's place in the schedule.
type Member struct {
	k          *build.Kernel
	mine, next build.Shared[build.B64]
	first      build.U32 // the parity to wait for in the first round
	parity     *build.Var[build.U32]
}

// Member returns the place of warp i. It follows warp i-stride and comes before warp
// i+stride; the last warps are followed by the first. Warps 0 to stride-1 are the first of
// their rounds.
func (p PingPong) Member(i build.U32, stride int) *Member {
	k := p.k
	after := i.Add(stride)
	wrapped := after.SetpGe(p.members)
	after = after.Sub(p.members).Selp(after, wrapped)
	// A barrier in its phase 0 answers as if a phase of parity 1 had ended.
	first := k.U32(1).Selp(0, i.SetpLt(stride))
	return &Member{k, p.bars.At(i), p.bars.At(after), first, build.NewVar(first)}
}

// Wait waits until the member before has passed the unit on.
func (m *Member) Wait() {
	m.k.MbarrierWait(m.mine, m.parity.Get())
	m.parity.Set(m.parity.Get().Xor(1))
}

// WaitIn is Wait for callers that already know the number of the round, of which the
// lowest bit is enough. Use it for all waits of a member or for none.
func (m *Member) WaitIn(round build.U32) {
	m.k.MbarrierWait(m.mine, round.Xor(m.first).And(1))
}

// Pass lets the next member begin. last is a number that must be computed before: without it, ptxas
// would move arithmetic past this call. last must not be -∞: the member would then never pass, and
// the others would wait for ever.
func (m *Member) Pass(w Warp, last build.F32) {
	done := last.SetpGeu(-math.MaxFloat32).And(w.One())
	m.k.If(done, func() { m.k.MbarrierArrive(m.next) })
}
