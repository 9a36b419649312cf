package problem

import "github.com/GOATnote-Inc/attest/fp8"

// Format is the format of numbers in memory.
type Format string

// The formats. U8 is a simulated FP8: a byte u from 0 to 255 stands for (u-128)/127·448 times
// the scale. U8Legacy decodes like U8 but is encoded with another zero and another step.
const (
	E4M3     Format = "e4m3"
	E5M2     Format = "e5m2"
	U8       Format = "u8"
	U8Legacy Format = "u8-legacy"
	F16      Format = "f16"
	BF16     Format = "bf16"
	F32      Format = "f32"
)

var (
	inputFormats  = []Format{E4M3, E5M2, U8, U8Legacy, F16, BF16, F32}
	outputFormats = []Format{F16, BF16, F32}
)

// FP8 returns the codec of a one-byte format. ok is false for the others.
func (f Format) FP8() (codec fp8.Format, ok bool) {
	codec, err := fp8.ParseFormat(string(f))
	return codec, err == nil
}

// OneByte reports whether numbers of the format take one byte, and so have scales.
func (f Format) OneByte() bool {
	_, ok := f.FP8()
	return ok
}

// Bytes returns the size of a number in bytes.
func (f Format) Bytes() int {
	switch f {
	case F32:
		return 4
	case F16, BF16:
		return 2
	}
	return 1
}

// FractionBits returns how many bits of a number follow the leading one. U8 has steps of equal
// size and counts as 7 bits, which its largest numbers have.
func (f Format) FractionBits() int {
	return map[Format]int{E4M3: 3, E5M2: 2, U8: 7, U8Legacy: 7, F16: 10, BF16: 7, F32: 23}[f]
}

// Decoded returns the format that a kernel decodes. U8Legacy differs from U8 only in the
// encoding.
func (f Format) Decoded() Format {
	if f == U8Legacy {
		return U8
	}
	return f
}

// Scaling says how many elements share a scale.
type Scaling string

// The scalings.
const (
	PerHead   Scaling = "per-head"   // one float per head of Q, and of K and V
	PerTensor Scaling = "per-tensor" // one float each for Q, K and V
	PerBatch  Scaling = "per-batch"  // one float per sequence and head
	PerToken  Scaling = "per-token"  // one float per row of each head
	PerBlock  Scaling = "per-block"  // one float per block of rows of each head
	// PerPage is one float per page of each head of K and V, and one per head of Q.
	PerPage Scaling = "per-page"
	NoScale Scaling = "none"
)

var scalings = []Scaling{PerHead, PerTensor, PerBatch, PerToken, PerBlock, PerPage, NoScale}

// Rotation says which columns of a row are rotated together.
type Rotation string

// The rotations.
const (
	RotateHalves Rotation = "halves" // column i and column i+D/2
	RotatePairs  Rotation = "pairs"  // columns 2i and 2i+1
)

var rotations = []Rotation{RotateHalves, RotatePairs}

// Columns returns the two columns that the i-th angle rotates.
func (r Rotation) Columns(i, d int) (x, y int) {
	if r == RotatePairs {
		return 2 * i, 2*i + 1
	}
	return i, i + d/2
}

// Layout is the order of the extents in memory, the outermost first.
type Layout string

// The layouts.
const (
	BHSD Layout = "BHSD"
	BSHD Layout = "BSHD"
)

var layouts = []Layout{BHSD, BSHD}
