package hopper

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
	"github.com/GOATnote-Inc/attest/problem"
)

// produce is the producing warpgroup: warp 0 starts copies, the others transpose V.
func (g *gen) produce() {
	k := g.k
	g.setRegisters(g.c.registers().producer)
	warp := g.uniform(g.wg.Thread.Shr(5))
	k.If(warp.SetpEq(0), g.load).Else(g.transpose)
	if g.c.Split > 1 { // every thread of a cluster passes its barrier
		k.BarWarpSync(k.FullMask())
		k.BarrierClusterWait()
	}
}

// load starts the copies of all items, as far ahead as the rings have room. Where two
// warpgroups begin with a tile of keys each, keys are one tile ahead of values, which are
// multiplied last.
func (g *gen) load() {
	k := g.k
	c := g.newCopies()
	g.work.Each(func(it part.Item) {
		c.queries(it, c.q.Wait())
		if g.c.SplitInBlock {
			last := it.First.Add(it.Tiles).Sub(1)
			k.If(it.Tiles.SetpGt(0), func() { c.keys(it, last, c.k.Wait()) })
		}
		g.work.EachTile(it, k.U32(0), 1, func(j build.U32) {
			if g.c.SplitInBlock {
				k.If(j.SetpGt(it.First), func() { c.keys(it, j.Sub(1), c.k.Wait()) })
			} else {
				c.keys(it, j, c.k.Wait())
			}
			c.values(it, j, c.raw.Wait())
		})
	})
}

// copies are the copy engine's sides of the rings. Each method fills the slot in turn,
// which is empty, and goes on to the next.
type copies struct {
	g         *gen
	q, k, raw *tile.Side
}

func (g *gen) newCopies() copies {
	return copies{g, g.ringQ.Producer(), g.ringK.Producer(), g.ringRaw.Producer()}
}

// queries brings the item's rows of Q.
func (c copies) queries(it part.Item, slot build.U32) {
	k := c.g.k
	c.fill(c.q, slot, c.g.q, c.g.plan.q, c.g.plan.qTile, func(i int) []build.U32 {
		return []build.U32{k.U32(0), it.Row0.Add(i * warpgroupRows), it.Head}
	}, c.g.c.rows()/warpgroupRows)
}

// keys brings tile j of K.
func (c copies) keys(it part.Item, j, slot build.U32) {
	c.fill(c.k, slot, c.g.kk, c.g.plan.k, c.g.plan.tile, c.tile(it, j), 1)
}

// values brings tile j of V.
func (c copies) values(it part.Item, j, slot build.U32) {
	c.fill(c.raw, slot, c.g.v, c.g.plan.raw, c.g.plan.tile, c.tile(it, j), 1)
}

// tile is where tile j of K or V is.
func (c copies) tile(it part.Item, j build.U32) func(int) []build.U32 {
	k, kv := c.g.k, c.g.headKV(it)
	return func(int) []build.U32 {
		return []build.U32{k.U32(0), j.MulLo(c.g.c.TileN), kv}
	}
}

// fill fills a slot with so many boxes, one after the other. What lies beyond the end of
// a sequence arrives as zeros. One lane starts them, but all work out what it needs: of
// numbers that lanes differ in, the assembler would make a loop over lanes.
func (c copies) fill(side *tile.Side, slot build.U32, m build.TensorMap, at, bytes int, where func(i int) []build.U32, boxes int) {
	k := c.g.k
	to := slot.MulLo(bytes)
	full := side.Full()
	var dst []build.Shared[build.B8]
	var from [][]build.U32
	for i := range boxes {
		dst, from = append(dst, build.SharedAs[build.B8](c.g.mem, at+i*bytes/boxes).At(to)), append(from, where(i))
	}
	k.If(c.g.wg.One(), func() {
		k.MbarrierArriveExpectTx(full, bytes)
		for i := range boxes {
			k.CpAsyncBulkTensorSharedClusterGlobal(dst[i], m, from[i], full)
		}
	})
	side.Next()
}

// transpose is a transposing warp: it turns its share of each tile of V, 16 tokens at
// a time, from token by token to dimension by dimension.
//
// ldmatrix.trans moves pairs of bytes, so a lane gets two dimensions of two tokens in
// a word; two words of tokens 8 apart make one of four tokens for either dimension, in
// the order of tile.FP8Order. Even dimensions go to the first eight rows of sixteen
// and odd ones to the last: eight neighbouring rows have no bank in common.
func (g *gen) transpose() {
	k := g.k
	raw := tile.NewKMajor(k, build.SharedAs[build.B8](g.mem, g.plan.raw), g.c.TileN, g.d)
	v := g.valueTile()
	rawSlot, vSlot := g.ringRaw.Consumer(), g.ringV.Producer()
	together := g.c.slots(ringRaw) == g.c.slots(ringV)
	if together {
		vSlot = g.ringV.ProducerWith(rawSlot)
	}
	from := g.wg.ByRows(raw.Block(0))
	perBlock := v.Width() / 16
	g.work.Each(func(it part.Item) {
		g.work.EachTile(it, k.U32(0), 1, func(build.U32) {
			rawAt := g.slotBytes(rawSlot.Wait())
			vAt := vSlot.Wait().MulLo(g.plan.vTile)
			// Which warp this is, is worked out each time: there is no register for it.
			first := g.wg.Thread.Shr(5).Sub(1)
			k.Loop(first, g.c.TileN/16, transposers, func(t build.U32) { // tokens 16·t to 16·t+15
				tokens := from.Plus(rawAt.Add(t.MulLo(16 * g.d)))
				block := part.Divide(k, t, perBlock) // of columns in v
				col := t.Sub(block.MulLo(perBlock)).MulLo(8)
				to := v.Block(0).Cursor(g.wg.Lane, col).Plus(vAt.Add(block.MulLo(v.Rows * v.Width())))
				g.transpose16(tokens, to)
			})
			// Both rings go on to the asynchronous side: the copy engine writes raw
			// again, and wgmma reads v.
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

// transpose16 moves all dimensions of 16 tokens: as many are read before they are written
// as a producer has registers for, 64 or half of that.
func (g *gen) transpose16(tokens, to tile.Cursor[build.F16]) {
	k := g.k
	even, odd := k.B32(0x6420), k.B32(0x7531)
	atOnce := 64
	if g.d > 64 && g.c.Warpgroups > 2 {
		atOnce = 32
	}
	for d := 0; d < g.d; d += atOnce {
		var words [][4]build.B32
		for i := 0; i < atOnce; i += 32 {
			words = append(words, k.LdmatrixM8n8X4(tokens.At(0, (d+i)/2), build.Trans))
		}
		for i, w := range words {
			rows := []build.B32{w[0].Prmt(w[1], even), w[0].Prmt(w[1], odd), w[2].Prmt(w[3], even), w[2].Prmt(w[3], odd)}
			k.StmatrixM8n8(to.At(d+32*i, 0), rows)
		}
	}
}

// valueTile is the first slot of transposed V: a row a dimension, a column a token.
func (g *gen) valueTile() tile.KMajor {
	return tile.NewKMajor(g.k, build.SharedAs[build.B8](g.mem, g.plan.v), g.c.columns(g.d), g.c.TileN)
}

// fillSumColumns gives each slot of V eight dimensions more, for columns come in eights:
// four are 1 for a part of the tokens each and 0 for the others, four are 0. Nobody
// overwrites them. An accumulator of FP8 products keeps 14 bits and cuts the rest off,
// so a sum of all tokens in one would come out too small, by a bit for every 32 of them.
// A lane keeps one of the four and adds it up as it does O's.
func (g *gen) fillSumColumns() {
	k := g.k
	one := uint32(fp8.E4M3.Encode(1))
	if g.p.Format == problem.E5M2 {
		one = uint32(fp8.E5M2.Encode(1))
	}
	v := g.valueTile()
	block := v.Rows * v.Width()
	word := k.TidX()
	inSlot := g.c.TileN / v.Width()
	for i := range g.c.slots(ringV) * inSlot { // the last eight rows of each block of columns
		at := g.plan.v + i/inSlot*g.plan.vTile + i%inSlot*block + g.d*v.Width()
		k.If(word.SetpLt(8*v.Width()/4), func() {
			ones := k.U64(sumUnits(g.c.TileN, v.Width(), i%inSlot))
			is := ones.Shr(word.Shr(2)).CvtU32().And(1)
			build.SharedAs[build.U32](g.mem, at).At(word).St(is.MulLo(one * 0x01010101))
		})
	}
	k.FenceProxyAsyncSharedCta()
}

// sumUnits is the set of units of 16 bytes that are ones in the eight rows of sums of a
// block of columns, in the order in which they lie in memory: row 2·i has part i of the
// products' steps of 32 tokens.
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
