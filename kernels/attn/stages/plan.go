package stages

import "github.com/GOATnote-Inc/attest/build/tile"

// slots is how many decoded tiles producers may be ahead: K, V, K, V.
const slots = 4

// lutEntries is the number of bytes there are.
const lutEntries = 256

// plan is where everything lies in shared memory, in bytes from its start.
type plan struct {
	q      int // Q, TileM×D halves
	k, v   int // decoded K and V, TileN×D halves; with producers the first of four slots
	half   int // bytes of one decoded tile
	rawK   int // bytes of K and V under way, Stages of each
	rawV   int
	raw    int // bytes of one raw tile
	scores int // S, TileM×TileN floats; P as well when it is f32 or reuses it
	probs  int // P, TileM×TileN halves
	factor int // the factor w of each row's earlier sums, one float per row
	norm   int // the factor of each row's output
	lut    int // 256 halves
	ring   int // mbarriers of the slots
	total  int
}

// scorePitch is the floats from row to row of the scores: eight more than a multiple
// of 32, so that four rows of two floats a lane fall into 32 different banks.
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
