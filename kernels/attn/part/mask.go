package part

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
)

// Mask decides which keys a query row sees: those within the sequence and, when Causal,
// those that do not come after the query. This file answers every question that a kernel has
// about visible keys. The last query sees all keys, so query i sees the keys 0 to
// i+SeqKV-SeqQ.
type Mask struct {
	K           *build.Kernel
	SeqQ, SeqKV build.U32
	Causal      bool
}

// end returns the end of the keys that row sees: 0 for a row that sees none.
func (m Mask) end(row build.U32) build.U32 {
	if !m.Causal {
		return m.SeqKV
	}
	return m.before(row.Add(1)).Min(m.SeqKV)
}

// before returns the end of the keys that the row before row n sees under the causal
// mask: n+SeqKV-SeqQ, or 0.
func (m Mask) before(n build.U32) build.U32 {
	sum := n.Add(m.SeqKV)
	return sum.Max(m.SeqQ).Sub(m.SeqQ)
}

// fromZero reports whether every row sees key 0 if it sees any.
func (m Mask) fromZero() bool { return true }

// Tiles returns the range of KV tiles that the rows from row0 on see, the first tile and
// how many there are. The last of the rows sees the most keys.
func (m Mask) Tiles(row0 build.U32, rows, keys int) (first, tiles build.U32) {
	k := m.K
	return k.U32(0), Divide(k, m.End(row0, rows).Add(keys-1), keys)
}

// End returns the end of the keys that at least one of the rows from row0 on sees.
func (m Mask) End(row0 build.U32, rows int) build.U32 {
	if !m.Causal {
		return m.SeqKV
	}
	return m.before(row0.Add(rows).Min(m.SeqQ))
}

// Apply gives the score -∞ to the keys that a row does not see. S holds the scores of the
// keys from key0 on for the query rows from row on; thread is the thread's number in the
// fragment's layout. A branch skips tiles in which every row sees every key, which most
// are.
func (m Mask) Apply(S *tile.Frag, thread, key0, row build.U32) {
	k, n := m.K, uint32(S.Cols)
	end := m.end(row) // the first row sees the fewest keys
	k.If(key0.Add(n).SetpGt(end), func() {
		r, c := S.Base(k, thread)
		key := key0.Add(c)
		var visible []build.S32 // keys from the lane's first column on, by row slot
		for s := range S.Slots() {
			visible = append(visible, build.Cast[build.S32](m.slotEnd(row, r, S.SlotRow(s)).Sub(key)))
		}
		S.Map(func(x build.F32, slot int, at tile.Pos) build.F32 {
			return x.Selp(tile.NegInf(k), visible[slot].SetpGt(at.Col))
		})
	})
}

// slotEnd returns the end of the keys that a lane's row sees: the lane's first row is r
// below row, and the slot's is below that.
func (m Mask) slotEnd(row, r build.U32, slot int) build.U32 {
	if !m.Causal {
		return m.SeqKV
	}
	return m.before(row.Add(r).Add(slot + 1)).Min(m.SeqKV)
}
