package part

import (
	"math"

	"github.com/GOATnote-Inc/attest/build"
)

// Scales are the factors that turn bytes into values: one per head, of which K and V may
// have fewer than Q, or one per tensor.
type Scales struct {
	K            *build.Kernel
	Q, Key, V    build.Global[build.F32]
	Softmax      build.F32 // what scores are multiplied by, usually 1/√D
	HeadsInBatch build.U32 // heads of Q in one sequence of the batch
	Grouped      bool      // Group heads of Q share one head of K and V
	Group        build.U32
	PerTensor    bool // one scale for all heads
	InBatch      bool // Logit and Value take a head within its sequence
	// Step is the value of one step of a byte's code before its scale. It is 1 for
	// floating-point formats, whose codes are values.
	Step float64
}

// Logit returns c = log₂e·scale·step²·qs·ks for a head of Q, counted through the batch unless
// InBatch is set: the factor that turns scores into logits to base 2.
func (s Scales) Logit(head build.U32) build.F32 {
	qs, ks := s.scale(s.Q, func() build.U32 { return s.headQ(head) }), s.scale(s.Key, func() build.U32 { return s.headKV(head) })
	return s.logit(qs, ks)
}

func (s Scales) logit(qs, ks build.F32) build.F32 {
	return s.Softmax.Mul(math.Log2E*s.Step*s.Step, build.Rn).Mul(qs, build.Rn).Mul(ks, build.Rn)
}

// Value returns vs·step for a head of Q: the factor of the output.
func (s Scales) Value(head build.U32) build.F32 {
	return s.value(s.scale(s.V, func() build.U32 { return s.headKV(head) }))
}

func (s Scales) value(vs build.F32) build.F32 {
	if s.Step == 1 {
		return vs
	}
	return vs.Mul(s.Step, build.Rn)
}

// Load starts to read the scales of a head. It returns a function that computes what Logit and
// Value return, for a kernel that does other work until the scales have arrived.
func (s Scales) Load(head build.U32) (factors func() (logit, value build.F32)) {
	c := s.LoadLogit(head)
	vs := s.scale(s.V, func() build.U32 { return s.headKV(head) })
	return func() (logit, value build.F32) { return c(), s.value(vs) }
}

// LoadLogit is Load without Value, for a kernel that reads the scale of V when it needs it.
func (s Scales) LoadLogit(head build.U32) (logit func() build.F32) {
	qs, ks := s.scale(s.Q, func() build.U32 { return s.headQ(head) }), s.scale(s.Key, func() build.U32 { return s.headKV(head) })
	return func() build.F32 { return s.logit(qs, ks) }
}

// scale reads one of the scales in list: that of a head, or the only one.
func (s Scales) scale(list build.Global[build.F32], head func() build.U32) build.F32 {
	if s.PerTensor {
		return list.Ld()
	}
	return list.At(head()).Ld()
}

// Magnitude returns |c| for a factor c of the scores. The softmax finds the maximum before it
// multiplies, so its factor must be above zero: the caller moves a negative sign to Q. A zero
// becomes a number so small that all logits still round to zero.
func Magnitude(c build.F32) build.F32 { return c.Abs().Max(0x1p-100, build.NaN) }

// headQ returns a head of Q within its sequence.
func (s Scales) headQ(head build.U32) build.U32 {
	if s.InBatch {
		return head
	}
	return head.Rem(s.HeadsInBatch)
}

// headKV returns the head of K and V that a head of Q uses, within its sequence.
func (s Scales) headKV(head build.U32) build.U32 {
	h := s.headQ(head)
	if !s.Grouped {
		return h
	}
	return h.Div(s.Group)
}
