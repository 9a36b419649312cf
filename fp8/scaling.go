package fp8

import "fmt"

// Dims are the extents of a tensor [B,H,S,D] in row-major order: batch, heads, rows
// (positions of a sequence) and columns (the dimension of a head).
type Dims struct{ B, H, S, D int }

// Len returns the number of elements.
func (d Dims) Len() int { return d.B * d.H * d.S * d.D }

// Rows returns the number of rows of all heads.
func (d Dims) Rows() int { return d.B * d.H * d.S }

// Row returns the index of a row among all rows.
func (d Dims) Row(b, h, s int) int { return (b*d.H+h)*d.S + s }

func (d Dims) String() string { return fmt.Sprintf("[%d,%d,%d,%d]", d.B, d.H, d.S, d.D) }

// Check refuses extents below one and sizes that overflow.
func (d Dims) Check() error {
	const most = 1 << 40
	n := 1
	for _, e := range []int{d.B, d.H, d.S, d.D} {
		if e < 1 {
			return fmt.Errorf("a tensor %v: every extent must be at least 1", d)
		}
		if n > most/e {
			return fmt.Errorf("a tensor %v has more than %d elements", d, most)
		}
		n *= e
	}
	return nil
}

// Scaling says which elements of a tensor share a scale: [PerHead], [PerTensor] or
// [PerBlock] of a number of rows.
type Scaling int

const (
	// PerHead is one scale per head, shared by all of the batch: [H].
	PerHead Scaling = 0
	// PerTensor is one scale.
	PerTensor Scaling = -1
)

// PerBlock returns the scaling with one scale per block of rows of a head: [B,H,⌈S/rows⌉].
// The last block of a head may be short.
func PerBlock(rows int) Scaling { return Scaling(max(rows, 1)) }

func (s Scaling) String() string {
	switch s {
	case PerHead:
		return "per-head"
	case PerTensor:
		return "per-tensor"
	}
	return fmt.Sprintf("per-block-%d", int(s))
}

// Check refuses a number that is not a scaling.
func (s Scaling) Check() error {
	if s < PerTensor {
		return fmt.Errorf("scaling %d is not known: use PerHead, PerTensor or PerBlock(rows)", int(s))
	}
	return nil
}

// Count returns how many scales a tensor has.
func (s Scaling) Count(d Dims) int {
	switch s {
	case PerHead:
		return d.H
	case PerTensor:
		return 1
	}
	return d.B * d.H * s.blocks(d)
}

// Index returns the index of a row's scale.
func (s Scaling) Index(d Dims, b, h, row int) int {
	switch s {
	case PerHead:
		return h
	case PerTensor:
		return 0
	}
	return (b*d.H+h)*s.blocks(d) + row/int(s)
}

func (s Scaling) blocks(d Dims) int { return (d.S + int(s) - 1) / int(s) }
