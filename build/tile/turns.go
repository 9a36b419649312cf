package tile

import "github.com/GOATnote-Inc/attest/build"

// Turns lets warps of several groups use a unit that they share one after the other,
// round and round: the first group's, the second's, and so on. Warps that come to the
// same unit at the same time would each take as long as all of them together, and then
// leave it idle together.
//
// Each member has an mbarrier, which the one before it arrives at.
type Turns struct {
	k       *build.Kernel
	bars    build.Shared[build.B64]
	members int
}

// TurnsBytes is the memory that the barriers of so many members take.
func TurnsBytes(members int) int { return 8 * members }

// NewTurns is the turns of so many members with their barriers at mem.
func NewTurns(k *build.Kernel, mem build.Shared[build.B64], members int) Turns {
	return Turns{k, mem, members}
}

// Init makes the barriers. One thread does it, and the block synchronises before
// anybody waits.
func (t Turns) Init() {
	for i := range t.members {
		t.k.MbarrierInit(t.bars.Plus(i), 1)
	}
}

// Turn is one member's place.
type Turn struct {
	t          Turns
	mine, next build.Shared[build.B64]
	first      build.U32 // the parity to wait for in the first round
	parity     *build.Var[build.U32]
}

// Member is the place of a warp whose turn comes after that of the warp stride numbers
// before it, and before the one stride after it; the last is followed by the first.
// The members 0 to stride-1 are the first of their rounds.
func (t Turns) Member(i build.U32, stride int) *Turn {
	k := t.k
	after := i.Add(stride)
	wrapped := after.SetpGe(t.members)
	after = after.Sub(t.members).Selp(after, wrapped)
	// A barrier in its phase 0 answers as if a phase of parity 1 had ended.
	first := k.U32(1).Selp(0, i.SetpLt(stride))
	return &Turn{t, t.bars.At(i), t.bars.At(after), first, first.Var()}
}

// Wait waits for the warp's turn.
func (u *Turn) Wait() {
	k := u.t.k
	k.MbarrierWait(u.mine, u.parity.Get())
	u.parity.Set(u.parity.Get().Xor(1))
}

// WaitIn is Wait for who counts the rounds anyhow: all waits or none say their number, of
// which the last bit will do.
func (u *Turn) WaitIn(round build.U32) {
	k := u.t.k
	k.MbarrierWait(u.mine, round.Xor(u.first).And(1))
}

// Pass hands the turn on. last is a number above zero, or NaN, whose computation is to
// come before: nothing else, but for a branch, keeps an assembler from moving arithmetic
// past this call.
func (u *Turn) Pass(w Warp, last build.F32) {
	k := u.t.k
	done := last.SetpGeu(0).And(w.One())
	k.If(done, func() { k.MbarrierArrive(u.next) })
}
