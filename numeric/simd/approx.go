//go:build amd64 || arm64

package simd

// These functions compute the approximate functions of package sfu on the 32 lanes of a warp.
// table points to the coefficients of the segments, three for each. They return a mask of the
// lanes that the caller must compute again. d and a must not be the same.

// Ex2 computes all lanes. mode is MaxUint32, or 0 with .ftz.
//
//go:noescape
func Ex2(d, a *[32]uint32, table *uint32, mode uint32) uint32

// Rcp leaves arguments and results that are not normal numbers.
//
//go:noescape
func Rcp(d, a *[32]uint32, table *uint32, mode uint32) uint32

// Sqrt leaves arguments that are not positive normal numbers.
//
//go:noescape
func Sqrt(d, a *[32]uint32, table *uint32, mode uint32) uint32

// Rsqrt leaves arguments that are not positive normal numbers, and even powers of two.
//
//go:noescape
func Rsqrt(d, a *[32]uint32, table *uint32, mode uint32) uint32

// Lg2 leaves arguments that are not positive normal numbers, and 1.
//
//go:noescape
func Lg2(d, a *[32]uint32, table *uint32, mode uint32) uint32

// SinCos computes all lanes: the sine with mode 0, the cosine with mode 1.
//
//go:noescape
func SinCos(d, a *[32]uint32, table *uint32, mode uint32) uint32

// Tanh computes all lanes.
//
//go:noescape
func Tanh(d, a *[32]uint32, table *uint32, mode uint32) uint32
