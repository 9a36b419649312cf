package part

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
)

// LSE is the log-sum-exp of each row in global memory: float [heads of the whole batch,
// SeqQ].
type LSE struct {
	K    *build.Kernel
	To   build.Global[build.F32]
	SeqQ build.U32
}

// Store writes the values of a lane's row slots. row is the lane's first row. The first of
// the four lanes that share a row writes.
func (l LSE) Store(f *tile.Frag, lane, head, row build.U32, values []build.F32) {
	k := l.K
	for s := range values {
		at := row.Add(f.SlotRow(s))
		first := lane.And(3).SetpEq(0).And(at.SetpLt(l.SeqQ))
		k.If(first, func() {
			offset := head.MulWide(l.SeqQ).Add(at.CvtU64()).Shl(2)
			build.GlobalAt[build.F32](l.To.Addr().Add(offset)).St(values[s])
		})
	}
}
