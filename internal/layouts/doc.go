// Package layouts shows where the matrix instructions keep their elements: which lane and
// register hold row r, column c, and where a swizzle puts a byte. The places come from
// numeric/tensor/layout, which the emulator computes with and which was compared with a GPU.
package layouts
