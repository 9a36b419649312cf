package cuda_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
)

// nearlyOne holds factors of 2^k - 1 with at most eight bits.
var nearlyOne = map[int][2]int{
	2: {3, 1}, 3: {7, 1}, 4: {15, 1}, 5: {31, 1}, 6: {63, 1}, 7: {127, 1}, 8: {255, 1},
	9: {7, 73}, 10: {33, 31}, 11: {23, 89}, 12: {63, 65}, 14: {129, 127}, 15: {217, 151},
}

// TestAlignmentFloor adds (2^k-1)·2^(-149-k) and 2^(-149-k). The sum is the smallest f32 if
// and only if bits of this weight are kept. This shows the smallest exponent to which terms
// are aligned. The emulator and the GPU must agree.
func TestAlignmentFloor(t *testing.T) {
	d := gpu(t)
	e, err := emu.New(ptx.SM90a, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range products() {
		name := p.kernel.Name()
		if !strings.Contains(name, "bf16") && !strings.Contains(name, "tf32") {
			continue
		}
		var got, want []uint32
		for k := 2; k <= 15; k++ {
			f, ok := nearlyOne[k]
			if !ok {
				continue
			}
			data := p.tinySum(f, -149-k, strings.Contains(name, "bf16"))
			got = append(got, binary.LittleEndian.Uint32(p.run(t, e, data)))
			want = append(want, binary.LittleEndian.Uint32(p.run(t, d, data)))
		}
		t.Logf("%s: %v", name, want)
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: emulator %v, GPU %v", name, got, want)
				break
			}
		}
	}
}

// tinySum returns an input whose first result is f[0]·f[1]·2^exp + 2^exp.
func (p *product) tinySum(f [2]int, exp int, halves bool) []byte {
	data := make([]byte, 4*blocks*(p.tile+128*(p.factors+p.words)))
	x, y := exp/2, exp-exp/2
	a := [2]uint32{bits(f[0], x), bits(1, x)} // elements k = 0 and 1 of a row of A
	b := [2]uint32{bits(f[1], y), bits(1, y)} // and of a column of B
	first := p.tile                           // lane 0's words
	put := func(word int, v uint32) { binary.LittleEndian.PutUint32(data[4*word:], v) }
	switch {
	case halves && p.tile > 0: // B in shared memory
		put(first, a[0]>>16|a[1])
		put(0, b[0]>>16|b[1])
	case halves:
		put(first, a[0]>>16|a[1])
		put(first+4, b[0]>>16|b[1])
	case p.tile > 0: // tf32: lane 1 holds k = 1
		put(first, a[0])
		put(first+p.factors+p.words, a[1])
		put(0, b[0])
		put(1, b[1])
	default:
		put(first, a[0])
		put(first+p.factors+p.words, a[1])
		put(first+4, b[0])
		put(first+p.factors+p.words+4, b[1])
	}
	return data
}

// bits returns the bits of n·2^exp as an f32.
func bits(n, exp int) uint32 { return math.Float32bits(float32(math.Ldexp(float64(n), exp))) }
