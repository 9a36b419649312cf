//go:build !amd64

package simd

// HasWide reports whether this processor can run the loops for AVX-512.
const HasWide = false

// HasTwins reports whether this processor can run the loops on two rows at a time.
const HasTwins = false

// Only amd64 has these loops. They are never called elsewhere, because the constants above are false.

func (s *Sweep) Wide8()     { absent() }
func (s *Sweep) Wide16()    { absent() }
func (s *Sweep) WideHalf8() { absent() }
func (s *Sweep) Twin8()     { absent() }
func (s *Sweep) Twin16()    { absent() }
func (s *Sweep) TwinHalf8() { absent() }

func absent() { panic("simd: no loops for this processor") }
