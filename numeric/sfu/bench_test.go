package sfu

import "testing"

func BenchmarkEx2(b *testing.B) { bench(b, Ex2) }
func BenchmarkRcp(b *testing.B) { bench(b, Rcp) }
func BenchmarkSin(b *testing.B) { bench(b, Sin) }

// bench runs over arguments around one, of both signs for ex2 and sin.
func bench(b *testing.B, fn func(uint32, bool) uint32) {
	var sum uint32
	x := uint32(one)
	for b.Loop() {
		sum += fn(x, false)
		x += 0x1357
	}
	_ = sum
}
