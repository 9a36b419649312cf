package attention

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/english"
)

// Input is Q, K or V of the host, [B,H,S,D]: [F32], [F16], [BF16] or [Quantised].
type Input interface {
	// quantised is the input in the format, a scale a head.
	quantised(f fp8.Format, d fp8.Dims) (data []byte, scales []float32, err error)
}

// F32 is an input of float32, to be quantised with a scale a head.
func F32(x []float32) Input { return floats(x) }

// F16 is an input of halves, given by their bits.
func F16(bits []uint16) Input { return widen(bits, fp8.FromF16) }

// BF16 is an input of bfloat16s, given by their bits.
func BF16(bits []uint16) Input { return widen(bits, fp8.FromBF16) }

// Quantised is an input that is quantised already, in the format of the problem, with
// one scale or a scale a head.
func Quantised(t *fp8.Tensor) Input { return quantised{t} }

type floats []float32

func widen(bits []uint16, from func(uint16) float32) floats {
	x := make(floats, len(bits))
	for i, b := range bits {
		x[i] = from(b)
	}
	return x
}

func (x floats) quantised(f fp8.Format, d fp8.Dims) ([]byte, []float32, error) {
	if len(x) != d.Len() {
		return nil, nil, fmt.Errorf("%s given, but %v has %d", english.Are(len(x), "element"), d, d.Len())
	}
	t, err := fp8.Quantise(f, fp8.PerHead, d, x)
	if err != nil {
		return nil, nil, err
	}
	return t.Data, t.Scales, nil
}

type quantised struct{ t *fp8.Tensor }

func (q quantised) quantised(f fp8.Format, d fp8.Dims) ([]byte, []float32, error) {
	t := q.t
	switch {
	case t == nil:
		return nil, nil, fmt.Errorf("there is no tensor")
	case t.Shape != d:
		return nil, nil, fmt.Errorf("the tensor is %v, the problem %v", t.Shape, d)
	case decoding(t.Format) != decoding(f):
		return nil, nil, fmt.Errorf("the tensor is %v, the problem takes %v", t.Format, f)
	}
	if err := t.Check(); err != nil {
		return nil, nil, err
	}
	scales, err := perHead(t)
	return t.Data, scales, err
}

// decoding is the format as far as kernels see it: u8-legacy differs in encoding
// only.
func decoding(f fp8.Format) fp8.Format {
	if f == fp8.U8Legacy {
		return fp8.U8
	}
	return f
}

// perHead is the scales as kernels take them, one a head.
func perHead(t *fp8.Tensor) ([]float32, error) {
	switch {
	case t.Scaling == fp8.PerTensor:
		return slices.Repeat(t.Scales, t.Shape.H), nil
	case t.Scaling == fp8.PerHead || len(t.Scales) == t.Shape.H && t.Shape.B == 1:
		return t.Scales, nil
	}
	return nil, fmt.Errorf("the tensor's scales are %v, %d of them: kernels take one a head, %d, so quantise with fp8.PerHead or fp8.PerTensor", t.Scaling, len(t.Scales), t.Shape.H)
}

// bytesOf is floats as they lie in memory.
func bytesOf(x []float32) []byte {
	b := make([]byte, 0, 4*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}
