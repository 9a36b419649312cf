package lab

import (
	"crypto/rand"
	"encoding/binary"
	"math"
	random "math/rand/v2"
	"slices"

	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
)

// freshCases are cases whose inputs nobody knows before the measurement. Most have heads of
// different magnitudes, so that the scales of one head do not fit another. Cases with a random
// scale of the softmax do not have normal inputs, because the bound on the error of rounding
// normal inputs holds for 1/√D.
var freshCases = []Case{
	{Shape: length(2, 3, 65), Seed: 1, Distribution: "heads", Fresh: true},
	{Shape: length(1, 2, 80), Seed: 2, Distribution: "heads", Fresh: true, Scaled: true},
	{Shape: problem.Shape{B: 2, Hq: 4, Hkv: 2, Sq: 33, Skv: 97}, Seed: 3, Distribution: "normal", Fresh: true, Optional: true},
	{Shape: length(1, 2, 72), Seed: 4, Distribution: "large-q", Fresh: true},
	{Shape: length(1, 2, 72), Seed: 5, Distribution: "large-k", Fresh: true},
	{Shape: length(1, 2, 80), Seed: 7, Distribution: "heads", Fresh: true, Scaled: true},
	{Shape: length(1, 2, 72), Seed: farSeed, Distribution: "heads", Fresh: true, Scaled: true},
	{Shape: length(1, 2, 72), Seed: farSeed + 1, Distribution: "heads", Fresh: true, Scaled: true},
}

// farSeed is the first seed of fresh cases whose scale of the softmax is far from 1/√D.
const farSeed = 8

// seedBits is the size of a drawn seed: JSON readers in other languages keep 53 bits.
const seedBits = 53

// FreshSeed draws a seed that nobody can predict. It is never 0.
func FreshSeed() uint64 {
	var b [8]byte
	rand.Read(b[:]) // it never fails
	return binary.LittleEndian.Uint64(b[:])>>(64-seedBits) | 1
}

// resolved returns a case with the seed and the arguments that the plan's seed gives it.
func (m *measurement) resolved(c Case) Case {
	r := random.New(random.NewPCG(m.p.Seed, c.Seed))
	if c.Distribution == negativeInputs && m.s.Accumulator() != problem.F32 {
		c.Distribution = "normal" // sums in f16 are not precise enough
	}
	own := c.Seed + shapeBits(c.Shape)
	c = m.masks(c, random.New(random.NewPCG(m.p.Seed, own^0xa5)))
	if c.Distribution == gate.Equal && m.s.Problem.Format == problem.E5M2 {
		c.Distribution = gate.EqualHalf // right kernels have errors on either side of the tolerance
	}
	if m.outOfRange(c.Distribution) {
		c.Distribution = "heads"
	}
	c.vary.batch = m.drawBatch(c.Shape, c.Own, c.Whole, random.New(random.NewPCG(m.p.Seed, own^0xb7)))
	odd, far := c.Seed%2 == 1, c.Seed >= farSeed
	if c.Fresh {
		c.Seed = r.Uint64() >> (64 - seedBits)
	}
	if c.Scaled {
		factor := 0.5 + 0.3*r.Float64()
		if far && !fixedRange(m.s.Problem.QueryFormat(), m.s.Problem.Filled().Scaling) {
			factor *= factor * factor * factor / 4 // 1/64 to 0.1
		}
		if odd {
			factor = 1 / factor // 1.25 to 2, or 10 to 64: a kernel may bound the scale
		}
		c.vary.scale = float64(float32(factor / math.Sqrt(float64(m.heads.D))))
	}
	if c.Own {
		c.vary = m.s.given.over(c.vary)
	}
	return c
}

// outOfRange reports whether inputs are too large or too small for the format, because it has no scales, or O is
// too large for sums in f16.
func (m *measurement) outOfRange(distribution string) bool {
	p := m.s.Problem.Filled()
	switch distribution {
	case gate.LargeV:
		return fixedRange(p.Format, p.Scaling) || m.s.Accumulator() != problem.F32
	case "small-v", "large-q", "large-k", "large-scales":
		return fixedRange(p.Format, p.Scaling)
	}
	return false
}

// fixedRange reports whether numbers of a format have one byte and no scales, so that they must be neither large nor small.
func fixedRange(f problem.Format, s problem.Scaling) bool { return f.OneByte() && s == problem.NoScale }

// shapeBits returns a number that differs between shapes, so that cases with the same seed have different
// windows and lengths.
func shapeBits(s problem.Shape) (n uint64) {
	for _, extent := range []int{s.B, s.Hq, s.Hkv, s.Sq, s.Skv} {
		n = 1009*n + uint64(extent)
	}
	return n << 16
}

// variation holds the arguments of a kernel that differ between cases of the same shape.
type variation struct {
	scale   float64 // the scale of the softmax; 0 is 1/√D
	window  problem.Window
	softcap float64
	batch   problem.Batch // the lengths of the sequences
}

// varied returns the subject for a problem with other arguments.
func (s *Subject) varied(v variation) *Subject {
	c := *s
	c.Problem.Scale, c.Problem.Softcap = v.scale, v.softcap
	if v.window.Limited() {
		c.Problem.Window = v.window
	}
	if v.batch != (problem.Batch{}) {
		c.Problem.Batch, c.given.Shape = v.batch, problem.Shape{}
	}
	return &c
}

// wideWindow is more keys than a tile has, so that a kernel has tiles without a mask.
const wideWindow = 256

// longKeys is the number of keys from which on every other window shows at least half of them.
const longKeys = 500

// onlyAfter reports whether a window of a case may begin at the query's own key. Only cases with many rows have such
// windows, because the last rows see few keys.
func (m *measurement) onlyAfter(c Case) bool {
	const many = 32
	usual := c.Distribution == "normal" || c.Distribution == "heads"
	return usual && !c.watched && !m.s.Problem.Causal && c.Shape.Sq >= many && c.Shape.Skv >= 2*many
}

// masks draws a window for a kernel that takes one, and a softcap for every other case of a
// kernel that supports it. Most windows have at least eight keys: with fewer, wrong outputs are near
// the right one. Some windows are wide on both sides.
func (m *measurement) masks(c Case, r *random.Rand) Case {
	if m.s.Problem.Window.Limited() {
		left, right := 8+r.IntN(64), r.IntN(16)
		switch r.IntN(5) {
		case 0:
			left = -1
		case 1:
			right = 0
		case 2:
			right = -1
		case 3:
			left += wideWindow
			right *= 16
		}
		switch {
		case m.onlyAfter(c) && r.IntN(3) == 0:
			left, right = 0, -1 // a kernel may take 0 for no limit
		case c.Shape.Skv >= longKeys && r.IntN(2) == 0:
			left = c.Shape.Skv/2 + r.IntN(c.Shape.Skv) // a narrow window hides most of a long sequence
		}
		if of := structureOf(m.s.Kernel); c.watched && c.Shape.Skv > 2*of.ring && left >= 0 {
			left = max(left, 2*of.ring, of.chunk) // enough keys for blocks to split them
		}
		c.vary.window = problem.NewWindow(left, right)
	}
	if slices.Contains(m.s.Supports, problem.SoftCapped) && c.Seed%2 == 1 {
		c.vary.softcap = float64(float32(2 + 20*r.Float64()))
		if c.Seed%4 == 3 { // models have 30 and 50
			c.vary.softcap = float64(float32(24 + 40*r.Float64()))
		}
	}
	return c
}
