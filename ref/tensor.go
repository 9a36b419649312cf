package ref

import (
	"encoding/binary"
	"fmt"

	"github.com/GOATnote-Inc/attest/fp8"
)

// Tensor is a tensor [B,H,S,D] that is read row by row: a quantised tensor (*fp8.Tensor),
// plain numbers, or the output of a kernel.
type Tensor interface {
	Dims() fp8.Dims
	// Row writes the D numbers of a row.
	Row(b, h, s int, to []float64)
}

// Floats is a tensor of float32.
type Floats struct {
	Shape fp8.Dims
	Data  []float32
}

// Dims returns the extents.
func (t *Floats) Dims() fp8.Dims { return t.Shape }

// Row writes a row.
func (t *Floats) Row(b, h, s int, to []float64) {
	for i, v := range t.row(b, h, s) {
		to[i] = float64(v)
	}
}

func (t *Floats) row(b, h, s int) []float32 {
	at := t.Shape.Row(b, h, s) * t.Shape.D
	return t.Data[at : at+t.Shape.D]
}

// F32 returns a tensor of float32. The number of values must be the number of elements.
func F32(d fp8.Dims, data []float32) (*Floats, error) {
	if err := fits(d, len(data), d.Len(), "elements"); err != nil {
		return nil, err
	}
	return &Floats{d, data}, nil
}

// F16 returns a tensor of half-precision numbers in memory, such as the output of a kernel.
func F16(d fp8.Dims, data []byte) (Tensor, error) { return newHalves(d, data, fp8.FromF16) }

// BF16 returns a tensor of bfloat16 numbers in memory.
func BF16(d fp8.Dims, data []byte) (Tensor, error) { return newHalves(d, data, fp8.FromBF16) }

// halves is a tensor of 16-bit numbers.
type halves struct {
	shape fp8.Dims
	data  []byte
	from  func(uint16) float32
}

func newHalves(d fp8.Dims, data []byte, from func(uint16) float32) (Tensor, error) {
	if err := fits(d, len(data), 2*d.Len(), "bytes"); err != nil {
		return nil, err
	}
	return &halves{d, data, from}, nil
}

func (t *halves) Dims() fp8.Dims { return t.shape }

func (t *halves) Row(b, h, s int, to []float64) {
	at := t.shape.Row(b, h, s) * t.shape.D
	for i := range t.shape.D {
		to[i] = float64(t.from(binary.LittleEndian.Uint16(t.data[2*(at+i):])))
	}
}

func fits(d fp8.Dims, have, want int, what string) error {
	if err := d.Check(); err != nil {
		return err
	}
	if have != want {
		return fmt.Errorf("%d %s given, a tensor %v has %d", have, what, d, want)
	}
	return nil
}
