package hopper

import "testing"

// TestHeadDims runs the designs on every head dimension, with several items per block.
func TestHeadDims(t *testing.T) {
	for turn, d := range headDims() {
		p := mixed(d, 200, 300, turn)
		for i, c := range designed(p) {
			if !*full && d != 256 && (i+turn)%3 != 0 {
				continue
			}
			in := generate(t, "normal", p, uint64(turn))
			b := newBench(t, emulator(t, 0, nil), in)
			b.SMs = 3
			judge(t, in, b.run(c))
		}
	}
}
