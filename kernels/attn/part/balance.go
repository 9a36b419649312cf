package part

import "github.com/GOATnote-Inc/attest/build"

// Balance divides the items that are left over when every persistent block has the same number of
// whole items. Their KV tiles, one item after the other, are cut into shares of Quota tiles, and
// block b gets share b. A share is at most as long as an item, so it has parts of at most two
// items. Several blocks then have parts of the same item; the last one merges them.
//
// Blocks begin with their shares. While one warpgroup merges, the others go on with the block's
// whole items.
//
// All items must have the same number of KV tiles.
type Balance struct {
	Left  build.U32 // how many items are left over: items 0 to Left-1
	Quota build.U32 // KV tiles of a share
	Tiles build.U32 // KV tiles of an item
}

// share is what a block has of the items that are left over.
type share struct {
	first build.U32 // the item of its first part
	from  build.U32 // the first KV tile of its first part
	parts build.U32 // how many parts it has, 0 to 2
}

// share returns the share of a block.
func (b Balance) share(k *build.Kernel, block build.U32) share {
	start := block.MulLo(b.Quota)
	first := start.Div(b.Tiles)
	from := start.Sub(first.MulLo(b.Tiles))
	two := from.Add(b.Quota).SetpGt(b.Tiles).And(first.Add(1).SetpLt(b.Left))
	parts := k.U32(2).Selp(1, two).Selp(0, first.SetpLt(b.Left))
	return share{first, from, parts}
}

// nth returns the number of the block's n-th item, and its KV tiles if it is a part.
func (b Balance) nth(k *build.Kernel, n build.U32) (item, first, tiles build.U32) {
	s := b.share(k, k.CtaidX())
	whole := n.Sub(s.parts).MadLo(k.NctaidX(), k.CtaidX()).Add(b.Left)
	isPart, second := n.SetpLt(s.parts), n.SetpNe(0)
	item = s.first.Add(n).Selp(whole, isPart)
	first = k.U32(0).Selp(s.from, second.Or(isPart.Not()))
	rest := b.Tiles.Sub(s.from) // of the first item
	tiles = b.Quota.Sub(rest).Selp(b.Quota.Min(rest), second).Selp(b.Tiles, isPart)
	return item, first, tiles
}

// Shared is an item of which several blocks have parts. Each part has a place in memory.
type Shared struct {
	Number build.U32                      // tells such items apart
	Parts  build.U32                      // how many parts it has
	Mine   build.U32                      // the place of the block's own part
	Place  func(part build.U32) build.U32 // the place of a part
}

// Shared returns the item of a part. Block b has place b+i for its part of item i. No two parts have
// the same place: the next part in the order of tiles belongs to the next block or to the next item.
func (b Balance) Shared(k *build.Kernel, it Item) Shared {
	item := b.share(k, k.CtaidX()).first.Add(it.Number)
	begin := item.MulLo(b.Tiles)
	firstBlock := begin.Div(b.Quota)
	lastBlock := begin.Add(b.Tiles).Sub(1).Div(b.Quota)
	first := firstBlock.Add(item)
	return Shared{
		Number: item, Parts: lastBlock.Sub(firstBlock).Add(1), Mine: k.CtaidX().Add(item),
		Place: func(part build.U32) build.U32 { return first.Add(part) },
	}
}

// IsPart reports whether an item of the block is a part.
func (b Balance) IsPart(k *build.Kernel, it Item) build.Pred {
	return it.Number.SetpLt(b.share(k, k.CtaidX()).parts)
}
