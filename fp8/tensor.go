package fp8

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
)

// smallest is the limit below which all elements of a group count as zero. The group then
// has the scale 1, so that no scale is zero or subnormal.
const smallest = 1e-6

// Tensor is a quantised tensor.
type Tensor struct {
	Format  Format
	Scaling Scaling
	Shape   Dims
	Data    []byte    // row-major
	Scales  []float32 // Scaling.Count of them
}

// Quantise scales and rounds a tensor. It refuses elements that are not finite, because they
// would spoil all elements with the same scale.
func Quantise(f Format, s Scaling, d Dims, x []float32) (*Tensor, error) {
	t := &Tensor{Format: f, Scaling: s, Shape: d, Data: make([]byte, len(x))}
	if err := t.checkKind(); err != nil {
		return nil, err
	}
	if len(x) != d.Len() {
		return nil, fmt.Errorf("quantise: %s given, but a tensor %v has %d", english.Are(len(x), "element"), d, d.Len())
	}
	largest, err := absmax(s, d, x)
	if err != nil {
		return nil, err
	}
	t.Scales = make([]float32, len(largest))
	for i, m := range largest {
		t.Scales[i] = scale(f, m)
	}
	eachPiece(d, func(b, h, first, last int) {
		for row := first; row < last; row++ {
			at := d.Row(b, h, row) * d.D
			t.encodeRow(t.Scales[s.Index(d, b, h, row)], x[at:at+d.D], t.Data[at:at+d.D])
		}
	})
	return t, nil
}

// scale returns the scale of elements whose largest magnitude is given.
func scale(f Format, largest float32) float32 {
	if largest <= smallest {
		return 1
	}
	return largest / float32(f.Max())
}

// encodeRow divides in float64, so that only the rounding to the format matters. u8-legacy
// divides in float32, as its original did.
func (t *Tensor) encodeRow(s float32, x []float32, to []byte) {
	f := t.Format
	switch f {
	case U8:
		over := 1 / (float64(s) * f.Max())
		for i, v := range x {
			to[i] = encodeU8(float64(v) * over)
		}
	case U8Legacy:
		largest := float32(s * float32(f.Max()))
		for i, v := range x {
			to[i] = encodeLegacy(v, largest)
		}
	case E4M3:
		for i, v := range x {
			to[i] = scalar.CvtE4M3F32(roundOdd(float64(v) / float64(s)))
		}
	case E5M2:
		for i, v := range x {
			to[i] = scalar.CvtE5M2F32(roundOdd(float64(v) / float64(s)))
		}
	}
}

// absmax returns the largest magnitude under each scale. It compares the bits of floats,
// which have the order of the magnitudes, with infinity and NaN last.
func absmax(s Scaling, d Dims, x []float32) ([]float32, error) {
	largest := make([]uint32, s.Count(d))
	var mu sync.Mutex // guards largest: pieces may share a scale
	eachPiece(d, func(b, h, first, last int) {
		for row := first; row < last; {
			scale, most := s.Index(d, b, h, row), uint32(0)
			for ; row < last && s.Index(d, b, h, row) == scale; row++ {
				for _, v := range x[d.Row(b, h, row)*d.D:][:d.D] {
					most = max(most, math.Float32bits(v)&^signBit)
				}
			}
			mu.Lock()
			largest[scale] = max(largest[scale], most)
			mu.Unlock()
		}
	})
	out := make([]float32, len(largest))
	for i, most := range largest {
		if most >= infBits {
			return nil, notFinite(d, x)
		}
		out[i] = math.Float32frombits(most)
	}
	return out, nil
}

const (
	signBit = 1 << 31
	infBits = 0x7f800000
)

// notFinite names the first element that is infinite or NaN.
func notFinite(d Dims, x []float32) error {
	i := slices.IndexFunc(x, func(v float32) bool { return math.Float32bits(v)&^signBit >= infBits })
	row := i / d.D
	return fmt.Errorf("quantise: element [%d,%d,%d,%d] is %v: only finite numbers have a scale", row/d.S/d.H, row/d.S%d.H, row%d.S, i%d.D, x[i])
}

// rowsOfPiece is the number of rows of a head that one core works on at a time.
const rowsOfPiece = 1024

// eachPiece calls a function for pieces of all heads, in parallel: the rows from first up to last,
// without last. Long heads have several pieces, so that a tensor with one head uses all cores too.
func eachPiece(d Dims, do func(b, h, first, last int)) {
	var wait sync.WaitGroup
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	for head := range d.B * d.H {
		for first := 0; first < d.S; first += rowsOfPiece {
			limit <- struct{}{}
			wait.Go(func() {
				do(head/d.H, head%d.H, first, min(first+rowsOfPiece, d.S))
				<-limit
			})
		}
	}
	wait.Wait()
}

func (t *Tensor) checkKind() error {
	if int(t.Format) >= len(names) {
		return fmt.Errorf("quantise: no format has the number %d", uint8(t.Format))
	}
	if err := t.Scaling.Check(); err != nil {
		return err
	}
	return t.Shape.Check()
}

// Check returns an error if the parts of a tensor do not fit together. A tensor that
// Quantise returned is always correct.
func (t *Tensor) Check() error {
	if err := t.checkKind(); err != nil {
		return err
	}
	if len(t.Data) != t.Shape.Len() {
		return fmt.Errorf("%s of data, but a tensor %v has %d", english.Count(len(t.Data), "byte"), t.Shape, t.Shape.Len())
	}
	if n := t.Scaling.Count(t.Shape); len(t.Scales) != n {
		return fmt.Errorf("%s, but a tensor %v has %d %v", english.Count(len(t.Scales), "scale"), t.Shape, n, t.Scaling)
	}
	for i, s := range t.Scales {
		if !(s > 0 && s <= math.MaxFloat32) {
			return fmt.Errorf("scale %d is %v: scales must be finite and above zero", i, s)
		}
	}
	return nil
}

// Dims returns the extents.
func (t *Tensor) Dims() Dims { return t.Shape }

// Row writes the values of a row: Decode(byte)·scale.
func (t *Tensor) Row(b, h, s int, to []float64) {
	scale := float64(t.Scales[t.Scaling.Index(t.Shape, b, h, s)])
	at := t.Shape.Row(b, h, s) * t.Shape.D
	table := &decoded[t.Format]
	for i, c := range t.Data[at : at+t.Shape.D] {
		to[i] = table[c] * scale
	}
}

// Dequantise returns the values, rounded to float32.
func (t *Tensor) Dequantise() []float32 {
	d := t.Shape
	x := make([]float32, d.Len())
	eachPiece(d, func(b, h, first, last int) {
		row := make([]float64, d.D)
		for s := first; s < last; s++ {
			t.Row(b, h, s, row)
			to := x[d.Row(b, h, s)*d.D:]
			for i, v := range row {
				to[i] = float32(v)
			}
		}
	})
	return x
}
