//go:build !amd64

package simd

// Has says whether this processor can run the loops.
const Has = false

// Run8 and Run16 are never called here.

func (s *Sweep) Run8()  { panic("simd: no loops for this processor") }
func (s *Sweep) Run16() { panic("simd: no loops for this processor") }
