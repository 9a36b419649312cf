package stages

import "github.com/GOATnote-Inc/attest/build/tile"

// slots is the number of decoded tiles in the ring of producers: K, V, K, V.
const slots = 4

// lutEntries is the number of values of a byte.
const lutEntries = 256

// plan is the layout of shared memory, in bytes from its start.
type plan struct {
	q      int // Q, TileM×D f16
	k, v   int // decoded K and V, TileN×D f16; with producers k is the first of four slots
	half   int // bytes of one decoded tile
	rawK   int // bytes of K that cp.async copies, Stages tiles
	rawV   int // the same for V
	raw    int // bytes of one raw tile
	scores int // S, TileM×TileN f32; also P if it is f32 or overwrites S
	probs  int // P, TileM×TileN f16
	factor int // the factor w of each row's earlier sums, one f32 per row
	norm   int // the factor that normalises each row
	lut    int // the lookup table, 256 f16
	ring   int // mbarriers of the slots
	total  int
}

// scorePitch returns the distance between rows of scores, in f32. It is eight more than a
// multiple of 32, so that two f32 per lane in four rows lie in 32 different banks.
func (c Config) scorePitch() int { return (c.TileN+31)/32*32 + 8 }

func (c Config) plan(d int) plan {
	var p plan
	take := func(bytes int) int {
		at := p.total
		p.total += (bytes + 15) / 16 * 16
		return at
	}
	p.half, p.raw = tile.Bytes(c.TileN, 2*d, c.Swizzle), c.TileN*d
	p.q = take(tile.Bytes(c.TileM, 2*d, c.Swizzle))
	p.k, p.v = take(p.half), take(p.half)
	if c.Producers > 0 {
		take((slots - 2) * p.half)
	}
	p.rawK, p.rawV = take(c.Stages*p.raw), take(c.Stages*p.raw)
	if !c.FusedSoftmax {
		p.scores = take(4 * c.TileM * c.scorePitch())
		p.probs = p.scores
		if c.TensorPV && !c.ReuseScores {
			p.probs = take(tile.Bytes(c.TileM, 2*c.TileN, c.Swizzle))
		}
		p.factor, p.norm = take(4*c.TileM), take(4*c.TileM)
	}
	if c.LUT {
		p.lut = take(2 * lutEntries)
	}
	if c.Producers > 0 {
		p.ring = take(tile.RingBytes(slots))
	}
	return p
}
