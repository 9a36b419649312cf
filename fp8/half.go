package fp8

import (
	"encoding/binary"
	"math"

	"github.com/GOATnote-Inc/attest/numeric/scalar"
)

// F16 rounds to half precision as cvt.rn.f16.f32 does: ties to even, and numbers from 65520
// on become infinity.
func F16(x float32) uint16 { return scalar.CvtF16F32(math.Float32bits(x)) }

// FromF16 returns a half-precision number as a float32, without loss.
func FromF16(b uint16) float32 { return math.Float32frombits(scalar.CvtF32F16(b)) }

// BF16 rounds to bfloat16 as cvt.rn.bf16.f32 does.
func BF16(x float32) uint16 { return scalar.CvtBF16F32(math.Float32bits(x)) }

// FromBF16 returns a bfloat16 number as a float32, without loss.
func FromBF16(b uint16) float32 { return math.Float32frombits(scalar.CvtF32BF16(b)) }

// FromF16s reads half-precision numbers from memory, little-endian.
func FromF16s(b []byte) []float32 { return from16(b, FromF16) }

// FromBF16s reads bfloat16 numbers from memory, little-endian.
func FromBF16s(b []byte) []float32 { return from16(b, FromBF16) }

func from16(b []byte, from func(uint16) float32) []float32 {
	x := make([]float32, len(b)/2)
	for i := range x {
		x[i] = from(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return x
}
