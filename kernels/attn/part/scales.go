package part

import (
	"math"

	"github.com/GOATnote-Inc/attest/build"
)

// Scales are the factors that turn bytes into values: one per head, of which K and V may
// have fewer than Q.
type Scales struct {
	K            *build.Kernel
	Q, Key, V    build.Global[build.F32]
	Softmax      build.F32 // what scores are multiplied by, usually 1/√D
	HeadsInBatch build.U32 // heads of Q in one sequence of the batch
	Group        build.U32 // heads of Q that share one head of K and V
}

// Logit returns c = log₂e·scale·qs·ks for a head of Q, counted through the batch: the
// factor that turns scores into logits to base 2.
func (s Scales) Logit(head build.U32) build.F32 {
	qs, ks := s.Q.At(head.Rem(s.HeadsInBatch)).Ld(), s.Key.At(s.headKV(head)).Ld()
	return s.Softmax.Mul(s.K.F32(math.Log2E), build.Rn).Mul(qs, build.Rn).Mul(ks, build.Rn)
}

// Value returns vs for a head of Q: the factor of the output.
func (s Scales) Value(head build.U32) build.F32 { return s.V.At(s.headKV(head)).Ld() }

// headKV returns the head of K and V that a head of Q uses, within its sequence.
func (s Scales) headKV(head build.U32) build.U32 { return head.Rem(s.HeadsInBatch).Div(s.Group) }
