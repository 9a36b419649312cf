package hopper

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// lift multiplies P by 2^8: P reaches from 0 to 256, where e4m3 ends at 448.
const lift = 8

// slots is the number of rows of an accumulator in which a lane has elements.
const slots = 2

// numerics returns how the softmax is computed.
func (c Config) numerics() part.Numerics {
	return part.Numerics{
		Lift:       lift,
		Exp2:       part.Exp2{Every: c.Polynomial, Polynomial: part.ForE4M3},
		Codes:      part.Codes{Every: c.Codes},
		TileMaxima: c.TileMaxima,
		SumsInV:    c.SumsInV,
		IntegerMax: true,
	}
}

// stepKeys are the keys of one wgmma of P·V.
const stepKeys = 32

// schedule says where, among the exponentials of a tile, a consumer hands over, waits for V
// and computes the weight of the tile.
type schedule struct {
	pingPong bool
	// first is the number of keys whose exponentials a warp computes before it hands over: all keys
	// of the tile if it does not hand over early.
	first int
	// early hands the exponentials over to the next warpgroup after the first keys. The
	// consumer waits for V at the same place, because V has arrived by then and ptxas moves
	// no exponential across the branch of a wait. A late hand-over comes after the last
	// exponential, and the consumer waits for V before P·V.
	early bool
	// weightEarly computes the weight of the tile, which takes a branch, right after an early
	// hand-over. If the hand-over is in the second half of the tile, the weight comes after
	// the last key instead.
	weightEarly bool
	// weightFirst computes the weight before the exponentials, while the warpgroup waits for its turn. It suits
	// wide heads, whose two warpgroups wait for each other more than for a branch.
	weightFirst bool
	// round is how many keys are rounded to e4m3 at a time. Sums in registers are fastest
	// 32 keys at a time, unless a hand-over cuts the tile.
	round int
}

func (c Config) schedule() schedule {
	s := schedule{pingPong: c.PingPong > 0, first: c.TileN, round: c.TileN}
	if s.early = s.pingPong && c.PingPong < c.TileN; s.early {
		s.first = c.PingPong
	}
	s.weightFirst = c.TileMaxima && c.ProductColumns > 0
	s.weightEarly = !s.weightFirst && s.early && c.TileMaxima && c.PingPong <= c.TileN/2
	if !s.pingPong && !c.SumsInV {
		s.round = stepKeys
	}
	return s
}

// weights computes P of the keys [from, to) and rounds it to e4m3, round keys at a time.
// It also returns the last P before rounding: code that depends on it comes after all of
// them.
func (s schedule) weights(t *part.Tile, from, to int) (P tile.Bytes8, last build.F32) {
	if t.Codes.Every > 0 {
		return t.E4M3(from, to)
	}
	for ; from < to; from += s.round {
		xs := t.Exp(from, min(from+s.round, to))
		P = append(P, tile.PackE4M3(xs)...)
		t.Sum(xs)
		last = xs[len(xs)-1]
	}
	return P, last
}
