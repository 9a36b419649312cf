package machine

import "math/bits"

// branchTable executes brx.idx: each lane continues at the target that its index selects.
func (w *Warp) branchTable(o *Op, m uint32) {
	s := &w.splits[w.cur]
	idx := &s.f.R32[o.Index]
	if m != s.mask {
		w.SplitOff(s.mask&^m, s.pc+1)
	}
	for m != 0 {
		lane := bits.TrailingZeros32(m)
		i := idx[lane]
		if int(i) >= len(o.Table) {
			s.f.Raise(lane, "index %d into a table of %d targets", i, len(o.Table))
		}
		var same uint32
		for l := range 32 {
			if m>>l&1 != 0 && idx[l] == i {
				same |= 1 << l
			}
		}
		m &^= same
		if m == 0 {
			w.splits[w.cur].pc = o.Table[i]
			return
		}
		w.SplitOff(same, o.Table[i])
	}
}
