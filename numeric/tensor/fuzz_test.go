package tensor

import (
	"encoding/binary"
	"testing"
)

// FuzzMulAdd compares a product of any bits with the oracle. The first byte selects the
// product. The other bytes, repeated as needed, fill the factors.
func FuzzMulAdd(f *testing.F) {
	all := specs()
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7})
	f.Add([]byte{20, 0x7f, 0xff, 0x80, 0x00})
	f.Add([]byte{77, 0x38, 0xb8, 0x01, 0x81, 0x7e})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 2 {
			return
		}
		s := all[int(data[0])%len(all)]
		at := 0
		next := func() uint32 {
			var word [4]byte
			for i := range word {
				word[i] = data[1+at%(len(data)-1)]
				at++
			}
			return binary.LittleEndian.Uint32(word[:])
		}
		words := func(k Kind, n int) []uint32 { return draw(n, func(int) uint32 { return next() & mask(k) }) }
		a, b, c := words(s.a, s.k), words(s.b, s.k), words(s.d, 1)[0]
		got := dotBits(mustFloat(t, s.arch, s.inst, s.a, s.b, s.d), pack(s.a, a), pack(s.b, b), s.k, c)
		if want := oracleDot(s.arch, s.inst, s.a, s.b, s.d, a, b, c); got != want {
			t.Errorf("%v: got %#x, want %#x\na = %#x\nb = %#x\nc = %#x", s, got, want, a, b, c)
		}
	})
}
