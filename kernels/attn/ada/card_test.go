package ada

import (
	"math/rand/v2"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
)

// TestCardBits compares every bit of a GPU and of an emulated GPU of the same architecture, and of
// repeated runs on the GPU. On Hopper, FP8 products of mma.sync are computed in f16 and have other
// bits than on Ada.
func TestCardBits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, d := range headDims {
		for _, c := range variants(d) {
			card := kerneltest.Card(t, c.target())
			for range 2 {
				p := c.fit(randomProblem(r, d))
				in := generate(t, "normal", p, r.Uint64())
				b := newBench(t, card, in)
				got := b.run(c)
				want := newBench(t, kerneltest.Emulator(t, card.Info().Target, emu.Options{}), in).run(c)
				if !got.Same(want) {
					t.Errorf("%v, %v: the card's bits are not the emulator's", c, p)
					judge(t, c, in, got)
				}
				k, err := New(p, c)
				if err != nil {
					t.Fatal(err)
				}
				kernel, launch := b.Only(k)
				for range 20 {
					if err := kernel.Launch(t.Context(), launch); err != nil {
						t.Fatal(err)
					}
					if again := b.Read(); !again.Same(got) {
						t.Errorf("%v, %v gives other bits when run again", c, p)
						break
					}
				}
			}
		}
	}
}
