package attention

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/english"
)

// Input is Q, K or V in host memory, [B,H,S,D]: [F32], [F16], [BF16] or [Quantised].
type Input interface {
	// quantised returns the tensor in the format, with one scale per head.
	quantised(f fp8.Format, d fp8.Dims) (*fp8.Tensor, error)
}

// F32 is an input of float32. It is quantised with one scale per head.
func F32(x []float32) Input { return floats(x) }

// F16 is an input of half-precision numbers, given by their bits.
func F16(bits []uint16) Input { return widen(bits, fp8.FromF16) }

// BF16 is an input of bfloat16 numbers, given by their bits.
func BF16(bits []uint16) Input { return widen(bits, fp8.FromBF16) }

// Quantised is an input that is quantised already, in the format of the problem, with one
// scale per tensor or one per head.
func Quantised(t *fp8.Tensor) Input { return quantised{t} }

type floats []float32

func widen(bits []uint16, from func(uint16) float32) floats {
	x := make(floats, len(bits))
	for i, b := range bits {
		x[i] = from(b)
	}
	return x
}

func (x floats) quantised(f fp8.Format, d fp8.Dims) (*fp8.Tensor, error) {
	if len(x) != d.Len() {
		return nil, fmt.Errorf("%s given, but %v has %d", english.Are(len(x), "element"), d, d.Len())
	}
	return fp8.Quantise(f, fp8.PerHead, d, x)
}

type quantised struct{ t *fp8.Tensor }

func (q quantised) quantised(f fp8.Format, d fp8.Dims) (*fp8.Tensor, error) {
	t := q.t
	switch {
	case t == nil:
		return nil, errors.New("the tensor is nil")
	case t.Shape != d:
		return nil, fmt.Errorf("the tensor has the extents %v, the problem has %v", t.Shape, d)
	case decoding(t.Format) != decoding(f):
		return nil, fmt.Errorf("the format of the tensor is %v, the problem has %v", t.Format, f)
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	scales, err := perHead(t)
	return &fp8.Tensor{Format: t.Format, Scaling: fp8.PerHead, Shape: t.Shape, Data: t.Data, Scales: scales}, err
}

// decoding returns the format that a kernel decodes. u8-legacy differs from u8 only in the
// encoding.
func decoding(f fp8.Format) fp8.Format {
	if f == fp8.U8Legacy {
		return fp8.U8
	}
	return f
}

// perHead returns one scale per head, as kernels need them.
func perHead(t *fp8.Tensor) ([]float32, error) {
	switch {
	case t.Scaling == fp8.PerTensor:
		return slices.Repeat(t.Scales, t.Shape.H), nil
	case t.Scaling == fp8.PerHead || len(t.Scales) == t.Shape.H && t.Shape.B == 1:
		return t.Scales, nil
	}
	return nil, fmt.Errorf("the tensor has %[2]d scales (%[1]v), but kernels need one for each of %[3]d heads: quantise with fp8.PerHead or fp8.PerTensor", t.Scaling, len(t.Scales), t.Shape.H)
}

// bytesOf returns floats in their memory order.
func bytesOf(x []float32) []byte {
	b := make([]byte, 0, 4*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}
