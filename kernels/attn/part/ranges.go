package part

import "github.com/GOATnote-Inc/attest/build"

// Ranges divides the work of a causal problem, whose items have different numbers of KV tiles. The
// tiles of all items, one item after the other, are cut into ranges of Quota tiles, and block b gets
// range b: the end of an item, some whole items, and the beginning of another. The items of a head
// come in the order of their rows, so the number of tiles before an item has a closed form.
//
// Every query must see at least one key: Skv >= Sq.
type Ranges struct {
	Quota   build.U32 // KV tiles of a block
	PerHead build.U32 // KV tiles of the items of a head
}

// unit is what the rows and the keys of a tile are multiples of.
const unit = 64

// before returns the KV tiles of the first n items of a head. None of them is the last item of the
// head, which may have fewer rows.
//
// Item i sees the keys up to (i+1)·rows + Skv - Sq, which are ⌊(a·(i+1) + e)/b⌋ tiles, with
// a = rows/64, b = keys/64 and e = ⌊(Skv - Sq + keys - 1)/64⌋.
func (w Work) before(n build.U32) build.U32 {
	a, b := w.Rows/unit, w.Keys/unit
	e := w.Mask.SeqKV.Sub(w.Mask.SeqQ).Add(w.Keys - 1).Shr(6)
	triangle := n.MulLo(n.Add(1)).Shr(1) // 1 + … + n
	if a%b == 0 {
		return triangle.MulLo(a / b).Add(n.MulLo(Divide(w.K, e, b)))
	}
	// b is 2 and a is odd. Rounding down takes off a half where a·k + e is odd: for k of the other
	// parity than e.
	odd := n.Add(1).Sub(e.And(1)).Shr(1)
	return triangle.MulLo(a).Add(e.MulLo(n)).Sub(odd).Shr(1)
}

// Divisible reports whether the tiles of causal items with these rows and keys can be counted.
func Divisible(rows, keys int) bool {
	a, b := rows/unit, keys/unit
	return rows%unit == 0 && keys%unit == 0 && b > 0 && (a%b == 0 || b == 2)
}

// each runs body for each item of the block's range, or the part of it that is in the range.
func (r Ranges) each(w Work, body func(Item)) {
	k := w.K
	start := k.CtaidX().MulLo(r.Quota)
	head := start.Div(r.PerHead)
	within := start.Sub(head.MulLo(r.PerHead))
	rowTiles := Divide(k, w.Mask.SeqQ.Add(w.Rows-1), w.Rows)
	first := r.find(w, within, rowTiles)

	number, heads, t := build.NewVar(k.U32(0)), build.NewVar(head), build.NewVar(first)
	from := build.NewVar(within.Sub(w.before(first)))
	left := build.NewVar(r.Quota)
	k.While(func() build.Pred {
		return left.Get().SetpGt(0).And(heads.Get().SetpLt(w.Heads))
	}, func() {
		it := w.item(number.Get(), heads.Get(), t.Get())
		it.Tiles = it.Tiles.Sub(from.Get()).Min(left.Get())
		it.First, it.fromZero = from.Get(), false
		body(it)
		left.Set(left.Get().Sub(it.Tiles))
		from.Set(0)
		number.Set(number.Get().Add(1))
		next := t.Get().Add(1)
		wraps := next.SetpEq(rowTiles)
		t.Set(k.U32(0).Selp(next, wraps))
		heads.Set(heads.Get().Add(k.U32(1).Selp(0, wraps)))
	})
}

// find returns the item of a head that has the head's KV tile number tile: the last one with no more
// tiles before it.
func (r Ranges) find(w Work, tile, rowTiles build.U32) build.U32 {
	k := w.K
	low, high := build.NewVar(k.U32(0)), build.NewVar(rowTiles) // low is not too far, high is
	k.While(func() build.Pred { return low.Get().Add(1).SetpLt(high.Get()) }, func() {
		middle := low.Get().Add(high.Get()).Shr(1)
		reached := w.before(middle).SetpLe(tile)
		low.Set(middle.Selp(low.Get(), reached))
		high.Set(high.Get().Selp(middle, reached))
	})
	return low.Get()
}

// whole returns how many KV tiles the whole item has.
func (r Ranges) whole(w Work, it Item) build.U32 {
	_, tiles := w.Mask.Tiles(it.Row0, w.Rows, w.Keys)
	return tiles
}

// IsPart reports whether an item of the block is a part.
func (r Ranges) IsPart(w Work, it Item) build.Pred { return it.Tiles.SetpNe(r.whole(w, it)) }

// Shared returns the item of a part. Only one item begins in a block's range and ends beyond it, so
// the number of that block tells items apart. Block b has the place 2·b for the item with which its
// range begins, and 2·b+1 for the last item, if that is another.
func (r Ranges) Shared(w Work, it Item) Shared {
	k := w.K
	begin := it.Head.MulLo(r.PerHead).Add(w.before(Divide(k, it.Row0, w.Rows)))
	firstBlock := begin.Div(r.Quota)
	lastBlock := begin.Add(r.whole(w, it)).Sub(1).Div(r.Quota)
	inside := k.U32(1).Selp(0, firstBlock.MulLo(r.Quota).SetpLt(begin)) // the item begins within the range
	place := func(part build.U32) build.U32 {
		return firstBlock.Add(part).Shl(1).Add(inside.Selp(0, part.SetpEq(0)))
	}
	return Shared{
		Number: firstBlock, Parts: lastBlock.Sub(firstBlock).Add(1),
		Mine: place(k.CtaidX().Sub(firstBlock)), Place: place,
	}
}
