package sfu

import "testing"

func BenchmarkEx2(b *testing.B) { bench(b, Ex2) }
func BenchmarkRcp(b *testing.B) { bench(b, Rcp) }
func BenchmarkSin(b *testing.B) { bench(b, Sin) }

// bench calls fn with arguments around one. For ex2 and sin they have both signs.
func bench(b *testing.B, fn func(uint32, bool) uint32) {
	var sum uint32
	x := uint32(one)
	for b.Loop() {
		sum += fn(x, false)
		x += 0x1357
	}
	_ = sum
}
