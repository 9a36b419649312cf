package cuda_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestMatrixAgainstEmulator runs matrix products on the GPU and on the emulator, on all kinds
// of numbers including random bits. Both must give the same bits.
func TestMatrixAgainstEmulator(t *testing.T) {
	d := gpu(t)
	e, err := emu.New(ptx.SM90a, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !d.Info().Target.Runs(ptx.SM90a) {
		t.Skipf("%s is not sm_90a", d.Info().Name)
	}
	for _, p := range products() {
		t.Run(p.kernel.Name(), func(t *testing.T) {
			for _, style := range []string{"bits", "near", "tiny", "wide", "few"} {
				data := p.inputs(style)
				compareWords(t, style, p.run(t, e, data), p.run(t, d, data), nil)
			}
		})
	}
}

// compareWords reports words that differ between the emulator and the GPU. It calls explain, unless
// it is nil, for the first of them.
func compareWords(t *testing.T, style string, got, want []byte, explain func(word int) string) {
	t.Helper()
	bad := 0
	for i := 0; i < len(got); i += 4 {
		x, y := binary.LittleEndian.Uint32(got[i:]), binary.LittleEndian.Uint32(want[i:])
		if x == y {
			continue
		}
		if bad++; bad <= 4 {
			t.Errorf("%s: word %d: emulator %08x, GPU %08x", style, i/4, x, y)
			if explain != nil {
				t.Log(explain(i / 4))
			}
		}
	}
	if bad > 0 {
		t.Errorf("%s: %d of %d words differ", style, bad, len(got)/4)
	}
}

// product is a kernel that multiplies once. Each block of 128 threads reads tile words for
// shared memory. Each thread reads its factor words of A (and B) and its accumulator words,
// and writes the same number of result words.
type product struct {
	kernel               *build.Kernel
	kind, cKind          string
	tile, factors, words int
}

const blocks = 16

// inputs returns random words of the product's types in one style.
func (p *product) inputs(style string) (data []byte) {
	r := rand.New(rand.NewPCG(uint64(len(p.kernel.Name())), uint64(len(style))))
	add := func(kind string, n int) {
		for range n {
			data = binary.LittleEndian.AppendUint32(data, randomWord(r, kind, style))
		}
	}
	for range blocks {
		add(p.kind, p.tile)
		for range 128 {
			add(p.kind, p.factors)
			add(p.cKind, p.words)
		}
	}
	return data
}

func (p *product) run(t *testing.T, d device.Device, data []byte) []byte {
	t.Helper()
	text, err := p.kernel.PTX()
	if err != nil {
		t.Fatal(err)
	}
	return runProduct(t, d, p.kernel.Name(), text, data, p.words)
}

// runProduct runs a kernel with the parameters in and out, in which each thread writes words.
func runProduct(t *testing.T, d device.Device, name, text string, data []byte, words int) []byte {
	t.Helper()
	m, err := d.Load(name+".ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	k, err := m.Kernel(name)
	if err != nil {
		t.Fatal(err)
	}
	in, err := d.Alloc(int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Free()
	out, err := d.Alloc(int64(blocks * 128 * words * 4))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Free()
	if err := in.Write(0, data); err != nil {
		t.Fatal(err)
	}
	err = k.Launch(context.Background(), device.Launch{
		Grid: device.D(blocks), Block: device.D(128), Params: []device.Param{device.Ptr(in), device.Ptr(out)},
	})
	if err != nil {
		t.Fatal(err)
	}
	result := make([]byte, out.Size())
	if err := out.Read(0, result); err != nil {
		t.Fatal(err)
	}
	return result
}

// randomWord returns 32 bits in a style: random bits, numbers near one, tiny numbers, numbers
// of all exponents, or mostly zeros.
func randomWord(r *rand.Rand, kind, style string) uint32 {
	field := func(exp, frac, least, most int) uint32 { // sign, exponent, fraction
		e := uint32(least + r.IntN(most-least))
		return uint32(r.IntN(2))<<(exp+frac) | e<<frac | r.Uint32()&(1<<frac-1)
	}
	number := func(exp, frac int) uint32 {
		one := 1<<(exp-1) - 1
		switch style {
		case "bits":
			return r.Uint32() & (1<<(1+exp+frac) - 1)
		case "near":
			return field(exp, frac, one-3, one+3)
		case "tiny":
			return field(exp, frac, 0, one/3+1)
		case "few":
			if r.IntN(4) != 0 {
				return uint32(r.IntN(2)) << (exp + frac)
			}
		}
		return field(exp, frac, 0, 1<<exp-1)
	}
	switch kind {
	case "f16":
		return number(5, 10) | number(5, 10)<<16
	case "bf16":
		return number(8, 7) | number(8, 7)<<16
	case "e4m3":
		return number(4, 3) | number(4, 3)<<8 | number(4, 3)<<16 | number(4, 3)<<24
	case "e5m2":
		return number(5, 2) | number(5, 2)<<8 | number(5, 2)<<16 | number(5, 2)<<24
	case "f32":
		return number(8, 23)
	}
	panic(fmt.Sprintf("no numbers of kind %s", kind))
}
