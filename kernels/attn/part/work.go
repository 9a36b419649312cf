package part

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/build"
)

// Work deals the items of a problem out over the blocks of a grid. An item is one tile of
// query rows of one head.
type Work struct {
	K     *build.Kernel
	Rows  int // query rows of an item
	Keys  int // keys of a KV tile
	Heads build.U32
	Mask  Mask
	// Persistent blocks take one item after the other, from a grid of one dimension. Other
	// blocks have one item.
	Persistent bool
	// Linear grids have one dimension also when blocks are not persistent: block i has item
	// i. Otherwise a block has its item by its place in a grid of query tiles × heads,
	// which saves a division before the first copy.
	Linear bool
	// PerBatch, if it is not nil, is the number of heads of one sequence. The grid then has a
	// dimension for the sequences of the batch, so that no block divides to find its sequence:
	// query tiles × heads × batch, and heads × batch × query tiles under a causal mask.
	PerBatch *build.U32
	// Split blocks of a cluster share the KV tiles of an item, one range each. Rank is the
	// block's number in its cluster.
	Split int
	Rank  build.U32
	// Balance, if it is not nil, divides the items that are left over when persistent blocks have
	// equally many.
	Balance *Balance
	// Ranges, if it is not nil, divides a causal problem into ranges of equally many KV tiles.
	Ranges *Ranges
}

// Item is one tile of query rows of one head: what a block computes at a time.
type Item struct {
	Number build.U32 // how many items the block has done before
	Head   build.U32 // the head of Q, counted over the whole batch
	// Batch is the sequence and HeadInBatch the head of Q within it, if [Work.PerBatch] is set.
	Batch, HeadInBatch build.U32
	Row0               build.U32 // its first query row
	First              build.U32 // its first KV tile
	Tiles              build.U32 // how many KV tiles it has

	fromZero bool // First is 0 in every item
}

// Tile returns the number of the item's n-th KV tile.
func (it Item) Tile(n build.U32) build.U32 {
	if it.fromZero {
		return n
	}
	return it.First.Add(n)
}

// Each runs body for each item of the block. Neighbouring blocks work on the same head,
// whose K and V then come from the L2 cache. Under a causal mask the last query tiles of
// all heads come first: they have the most keys, and only short items are left for the
// end.
func (w Work) Each(body func(Item)) {
	k := w.K
	if w.PerBatch != nil {
		body(w.placed())
		return
	}
	if !w.Persistent && !w.Linear {
		t, head := Divide(k, k.CtaidX(), w.Split), k.CtaidY()
		if w.Mask.Causal {
			head, t = t, k.NctaidY().Sub(1).Sub(head)
		}
		body(w.item(k.U32(0), head, t))
		return
	}
	if w.Ranges != nil {
		w.Ranges.each(w, body)
		return
	}
	rowTiles := Divide(k, w.Mask.SeqQ.Add(w.Rows-1), w.Rows)
	outer, inner := w.Heads, rowTiles // items count through inner first
	if w.Mask.Causal {
		outer, inner = rowTiles, w.Heads
	}
	place := func(i, o build.U32) (head, t build.U32) { // the head and the query tile of item i = o·inner + …
		head, t = o, i.Sub(o.MulLo(inner))
		if w.Mask.Causal {
			head, t = t, rowTiles.Sub(1).Sub(o)
		}
		return head, t
	}
	if !w.Persistent {
		i := k.CtaidX()
		o := i.Div(inner)
		k.If(o.SetpLt(outer), func() {
			head, t := place(i, o)
			body(w.item(k.U32(0), head, t))
		})
		return
	}
	number := build.NewVar(k.U32(0))
	var i, o, first, tiles build.U32
	k.While(func() build.Pred {
		if w.Balance != nil {
			i, first, tiles = w.Balance.nth(k, number.Get())
		} else {
			i = w.nth(number.Get())
		}
		o = i.Div(inner)
		return o.SetpLt(outer)
	}, func() {
		head, t := place(i, o)
		it := w.item(number.Get(), head, t)
		if w.Balance != nil {
			it.First, it.Tiles, it.fromZero = first, tiles, false
		}
		body(it)
		number.Set(number.Get().Add(1))
	})
}

// EachGiven runs body for each item that another warp has dealt out. next returns the head and the
// first row of the block's n-th item, and whether there is such an item.
func (w Work) EachGiven(next func(n build.U32) (head, row0 build.U32, more build.Pred), body func(Item)) {
	number := build.NewVar(w.K.U32(0))
	var head, row0 build.U32
	w.K.While(func() (more build.Pred) {
		head, row0, more = next(number.Get())
		return more
	}, func() {
		body(w.at(number.Get(), head, row0))
		number.Set(number.Get().Add(1))
	})
}

// placed returns the item of a block in a grid with a dimension for the batch.
func (w Work) placed() Item {
	k := w.K
	t, head, batch := k.CtaidX(), k.CtaidY(), k.CtaidZ()
	if w.Mask.Causal {
		t, head, batch = k.NctaidZ().Sub(1).Sub(batch), t, head
	}
	it := w.item(k.U32(0), batch.MadLo(*w.PerBatch, head), t)
	it.Batch, it.HeadInBatch = batch, head
	return it
}

// nth returns the number of the item that a persistent block takes in its round n. Under a
// causal mask items get shorter, so every other round goes through the blocks backwards:
// otherwise the same block would get the longest item of every round.
func (w Work) nth(n build.U32) build.U32 {
	k := w.K
	place := k.CtaidX()
	if w.Mask.Causal {
		back := k.NctaidX().Sub(1).Sub(place)
		place = back.Selp(place, n.And(1).SetpEq(1))
	}
	return n.MadLo(k.NctaidX(), place)
}

// item returns the item of a head and its query tile t, with this block's KV tiles.
func (w Work) item(number, head, t build.U32) Item { return w.at(number, head, t.MulLo(w.Rows)) }

// at returns the item of a head that begins at row0.
func (w Work) at(number, head, row0 build.U32) Item {
	k := w.K
	it := Item{Number: number, Head: head, Row0: row0}
	first, tiles := w.Mask.Tiles(it.Row0, w.Rows, w.Keys)
	it.First, it.Tiles, it.fromZero = first, tiles, w.Mask.fromZero()
	if w.Split > 1 {
		share := func(rank build.U32) build.U32 { return Divide(k, rank.MulLo(tiles), w.Split) }
		from := share(w.Rank)
		it.Tiles = share(w.Rank.Add(1)).Sub(from)
		it.First, it.fromZero = it.Tile(from), false
	}
	return it
}

// IsPart reports whether an item is a part of one whose keys are split over blocks.
func (w Work) IsPart(it Item) build.Pred {
	if w.Ranges != nil {
		return w.Ranges.IsPart(w, it)
	}
	return w.Balance.IsPart(w.K, it)
}

// Shared returns the item that a part belongs to.
func (w Work) Shared(it Item) Shared {
	if w.Ranges != nil {
		return w.Ranges.Shared(w, it)
	}
	return w.Balance.Shared(w.K, it)
}

// EachTile runs body for KV tiles of an item from the last to the first, so that the tile
// with keys beyond the end comes first. It skips the first skip tiles of that order and
// then takes every step-th.
func (w Work) EachTile(it Item, skip build.U32, step int, body func(j build.U32)) {
	k := w.K
	k.If(skip.SetpLt(it.Tiles), func() {
		left := build.NewVar(it.Tiles.Sub(skip)) // all that the loop carries from round to round
		k.Until(func() build.Pred {
			body(it.First.Add(left.Get()).Sub(1))
			left.Set(left.Get().Sub(step))
			return build.Cast[build.S32](left.Get()).SetpLe(0)
		})
	})
}

// Unseen returns how many of an item's last KV tiles no row from row to row+rows-1 sees. Rows beyond the
// end of the sequence see none.
func (w Work) Unseen(it Item, row build.U32, rows int) build.U32 {
	k := w.K
	seen := Divide(k, w.Mask.End(row, rows).Add(w.Keys-1), w.Keys)
	seen = seen.Selp(0, row.SetpLt(w.Mask.SeqQ))
	end := it.First.Add(it.Tiles)
	return end.Max(seen).Sub(seen).Min(it.Tiles)
}

// Divide returns x/n rounded down, for x below 2^31. Powers of two and three times such
// powers need no division. For a division, even by a constant, ptxas emits a reciprocal and a
// dozen other instructions, and the first copy of a block would wait for them.
func Divide(k *build.Kernel, x build.U32, n int) build.U32 {
	shift := bits.TrailingZeros(uint(n))
	switch odd := n >> shift; {
	case odd == 1 && shift == 0:
		return x
	case odd == 1:
		return x.Shr(shift)
	case odd == 3:
		return x.MulHi((1<<33 + 1) / 3).Shr(shift + 1)
	}
	return x.Div(n)
}
