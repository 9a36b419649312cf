package hopper

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
	"github.com/GOATnote-Inc/attest/problem"
)

// produce is the role of the producing warpgroup: warp 0 starts copies, the others transpose
// V.
func (g *gen) produce() {
	k := g.k
	g.setRegisters(g.c.registers().producer)
	warp := g.uniform(g.wg.Thread.Shr(5))
	k.If(warp.SetpEq(0), g.load).Else(g.transpose)
	if g.c.Split > 1 { // every thread of a cluster must wait at the cluster's barrier
		k.BarWarpSync(k.FullMask())
		k.BarrierClusterWait()
	}
}

// load starts the copies of all items, as far ahead as the rings have room. If two
// warpgroups split the keys, both begin with a tile of K, so K is one tile ahead of V. If the
// queries wait for the only slot of Q, the first keys of an item come before them.
func (g *gen) load() {
	k := g.k
	c := g.newCopies()
	lastTile := func(it part.Item) build.U32 { return it.First.Add(it.Tiles).Sub(1) }
	firstKeys := func(it part.Item) {
		last := lastTile(it)
		k.If(it.Tiles.SetpGt(0), func() { c.keys(it, last, c.k.Wait()) })
	}
	g.work.Each(func(it part.Item) {
		if g.queriesAwaited() {
			firstKeys(it)
		}
		var describe func()
		if g.c.Descriptors {
			describe = c.describe(it)
		}
		c.queries(it, c.q.Wait())
		if g.c.SplitInBlock {
			firstKeys(it)
		}
		g.work.EachTile(it, k.U32(0), 1, func(j build.U32) {
			switch {
			case g.c.SplitInBlock:
				k.If(j.SetpGt(it.First), func() { c.keys(it, j.Sub(1), c.k.Wait()) })
			case g.queriesAwaited():
				k.If(j.SetpLt(lastTile(it)), func() { c.keys(it, j, c.k.Wait()) })
			default:
				c.keys(it, j, c.k.Wait())
			}
			c.values(it, j, c.raw.Wait())
			if g.c.Descriptors {
				k.If(j.SetpEq(lastTile(it)), describe)
			}
		})
		if g.c.Descriptors {
			k.If(it.Tiles.SetpEq(0), describe)
		}
	})
	if g.c.Descriptors {
		c.endItems()
	}
}

// copies are the loading warp's sides of the rings. Each method fills a slot, which Wait
// returned, and moves on to the next. Rows beyond the end of a sequence arrive as
// zeros.
type copies struct {
	g         *gen
	q, k, raw *tile.Side
}

func (g *gen) newCopies() copies {
	return copies{g, g.ringQ.Producer(), g.ringK.Producer(), g.ringRaw.Producer()}
}

// queries copies the item's rows of Q, 64 at a time: all columns of the first 64 rows, block
// by block, then those of the next.
func (c copies) queries(it part.Item, slot build.U32) {
	g := c.g
	width := tile.KMajorWidth(g.d)
	blocks := g.d / width
	c.q.Load(g.wg.Warp, slot, g.q, g.c.rows()/warpgroupRows*blocks, func(box int) build.Coords {
		return []build.U32{g.k.U32(uint32(box % blocks * width)), it.Row0.Add(box / blocks * warpgroupRows), it.Head}
	})
	if !g.c.Descriptors { // which moves on after its descriptor
		c.q.Next()
	}
}

// keys copies tile j of K.
func (c copies) keys(it part.Item, j, slot build.U32) { c.tile(c.k, c.g.kk, c.g.d, it, j, slot) }

// values copies tile j of V.
func (c copies) values(it part.Item, j, slot build.U32) { c.tile(c.raw, c.g.v, c.g.dv, it, j, slot) }

func (c copies) tile(side *tile.Side, from build.TensorMap, d int, it part.Item, j, slot build.U32) {
	g := c.g
	head := g.headKV(it)
	width := tile.KMajorWidth(d)
	side.Load(g.wg.Warp, slot, from, d/width, func(box int) build.Coords {
		return []build.U32{g.k.U32(uint32(box * width)), j.MulLo(g.c.TileN), head}
	})
	side.Next()
}

// transpose is the role of a transposing warp. It transposes its share of each tile of V,
// 16 tokens at a time: rows of raw are tokens, rows of V are dimensions.
//
// ldmatrix.trans moves pairs of bytes, so a lane gets two dimensions of two tokens in a
// word. From two words, of tokens 8 apart, prmt makes one word of four tokens for each of the
// two dimensions, in the order of tile.FP8Order. Even dimensions go to the first eight rows
// of sixteen and odd ones to the last eight, so that stores have no bank conflicts.
func (g *gen) transpose() {
	k := g.k
	raw := tile.NewKMajor(k, g.ringRaw.First(), g.c.TileN, g.dv)
	v := g.valueTile()
	rawSlot, vSlot := g.ringRaw.Consumer(), g.ringV.Producer()
	together := g.c.slots(ringRaw, g.d) == g.c.slots(ringV, g.d)
	if together {
		vSlot = g.ringV.ProducerWith(rawSlot)
	}
	from := g.wg.ByRows(raw.Block(0))
	perBlock := v.Width() / 16
	g.eachItem(func(it part.Item) {
		if g.c.Descriptors {
			g.ringQ.ConsumerAt(it.Number).Signal(g.wg.Warp)
		}
		g.work.EachTile(it, k.U32(0), 1, func(build.U32) {
			rawAt := g.ringRaw.Offset(rawSlot.Wait())
			vAt := g.ringV.Offset(vSlot.Wait())
			// The warp's number is computed each time, because there is no register to hold it.
			first := g.wg.Thread.Shr(5).Sub(1)
			k.Loop(first, g.c.TileN/16, transposers, func(t build.U32) { // tokens 16·t to 16·t+15
				tokens := from.Plus(rawAt.Add(t.MulLo(16 * raw.Width())))
				block := part.Divide(k, t, perBlock) // the block of columns in v
				col := t.Sub(block.MulLo(perBlock)).MulLo(8)
				to := v.Block(0).Cursor(g.wg.Lane, col).Plus(vAt.Add(block.MulLo(v.Rows * v.Width())))
				g.transpose16(tokens, to)
			})
			// The asynchronous proxy uses both slots next: the copy engine writes raw again,
			// and wgmma reads V.
			k.FenceProxyAsyncSharedCta()
			rawSlot.Signal(g.wg.Warp)
			vSlot.Signal(g.wg.Warp)
			rawSlot.Next()
			if !together {
				vSlot.Next()
			}
		})
	})
}

// transpose16 transposes all dimensions of 16 tokens. It reads 64 dimensions before it writes
// them, or 32 if producers have no registers for more.
func (g *gen) transpose16(tokens, to tile.Cursor[build.F16]) {
	k := g.k
	even, odd := k.B32(0x6420), k.B32(0x7531)
	atOnce, width := 64, tile.KMajorWidth(g.dv)
	if g.dv > 64 && g.c.Warpgroups > 2 || g.dv%64 != 0 {
		atOnce = 32
	}
	for d := 0; d < g.dv; d += atOnce {
		var words [][4]build.B32
		for i := d; i < d+atOnce; i += 32 {
			block := i / width * g.c.TileN // the rows of tokens before the block of columns
			words = append(words, k.LdmatrixM8n8X4(tokens.At(block, i%width/2), build.Trans))
		}
		for i, w := range words {
			rows := []build.B32{w[0].Prmt(w[1], even), w[0].Prmt(w[1], odd), w[2].Prmt(w[3], even), w[2].Prmt(w[3], odd)}
			k.StmatrixM8n8(to.At(d+32*i, 0), rows)
		}
	}
}

// valueTile returns the first slot of transposed V. Each row is one
// dimension of V, each column one token.
func (g *gen) valueTile() tile.KMajor {
	return tile.NewKMajor(g.k, g.ringV.First(), g.c.columns(g.dv), g.c.TileN)
}

// writeOnes fills the extra dimensions of each slot of V, with which the tensor cores sum
// the rows of P. No other code writes them. There are eight, because columns come in
// eights. Four of them are 1 for a quarter of the tokens each and 0 for the others; the
// other four are 0. One sum over all tokens would come out too small: an accumulator of
// FP8 products keeps 14 bits and cuts off the rest, one bit for every 32 tokens. Each lane
// keeps one of the four sums and adds it up as it does with O.
func (g *gen) writeOnes() {
	k := g.k
	one := uint32(fp8.E4M3.Encode(1))
	if g.p.Format == problem.E5M2 {
		one = uint32(fp8.E5M2.Encode(1))
	}
	v := g.valueTile()
	word := k.TidX()
	for slot := range g.c.slots(ringV, g.d) {
		for block := range g.c.TileN / v.Width() { // its last eight rows
			to := build.SharedAs[build.U32](g.ringV.At(slot), (block*v.Rows+g.dv)*v.Width())
			k.If(word.SetpLt(8*v.Width()/4), func() {
				ones := k.U64(sumUnits(g.c.TileN, v.Width(), block))
				isOne := ones.Shr(word.Shr(2)).CvtU32().And(1)
				to.At(word).St(isOne.MulLo(one * 0x01010101))
			})
		}
	}
	k.FenceProxyAsyncSharedCta()
}

// sumUnits returns which units of 16 bytes hold ones in the eight extra rows of a block of
// columns, one bit per unit in the order of memory. Row 2·i is 1 for the i-th quarter of the
// steps of 32 tokens.
func sumUnits(tokens, width, block int) (ones uint64) {
	units, steps := width/16, tokens/32
	for row := 0; row < 8; row += 2 {
		for u := range units {
			column := u ^ row*units/8 // as tile.Swizzled has it
			if step := block*width/32 + column/2; row/2 == step*4/steps {
				ones |= 1 << (row*units + u)
			}
		}
	}
	return ones
}
