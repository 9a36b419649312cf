package lab

import (
	"crypto/rand"
	"encoding/binary"
	"math"
	random "math/rand/v2"

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
}

// seedBits is the size of a drawn seed: JSON readers in other languages keep 53 bits.
const seedBits = 53

// FreshSeed draws a seed that nobody can predict. It is never 0.
func FreshSeed() uint64 {
	var b [8]byte
	rand.Read(b[:]) // it never fails
	return binary.LittleEndian.Uint64(b[:])>>(64-seedBits) | 1
}

// resolved returns a case with the seed and the scale that the plan's seed gives it.
func (m *measurement) resolved(c Case) Case {
	r := random.New(random.NewPCG(m.p.Seed, c.Seed))
	if c.Fresh {
		c.Seed = r.Uint64() >> (64 - seedBits)
	}
	if c.Scaled {
		factor := 0.5 + 0.3*r.Float64()
		if r.Uint64()%2 == 0 {
			factor = 1 / factor // 1.25 to 2
		}
		c.scale = float64(float32(factor / math.Sqrt(float64(m.dim))))
	}
	return c
}

// scaled returns the subject for a problem with a scale of the softmax; 0 is 1/√D.
func (s *Subject) scaled(scale float64) *Subject {
	c := *s
	c.Problem.Scale = scale
	return &c
}
