package ref

import (
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
)

// Rotated is a tensor whose rows are rotated by their positions: a rotary embedding.
type Rotated struct {
	Tensor
	By       problem.Rotation
	Cos, Sin []float32 // [position, D/2]
	Position func(b, s int) int
}

// Row writes a rotated row.
func (t *Rotated) Row(b, h, s int, to []float64) {
	t.Tensor.Row(b, h, s, to)
	half := len(to) / 2
	at := t.Position(b, s) * half
	for i := range half {
		j, k := t.By.Columns(i, len(to))
		c, d := float64(t.Cos[at+i]), float64(t.Sin[at+i])
		to[j], to[k] = to[j]*c-to[k]*d, to[j]*d+to[k]*c
	}
}

// Dims returns the extents.
func (t *Rotated) Dims() fp8.Dims { return t.Tensor.Dims() }
