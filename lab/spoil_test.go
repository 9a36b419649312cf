package lab

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestSpoilKernel runs the spoiling kernel on the emulator and compares its inputs with those
// that the host computes.
func TestSpoilKernel(t *testing.T) {
	dev, err := emu.New(ptx.SM80, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, f := range []problem.Format{problem.E4M3, problem.U8, problem.F16, problem.F32} {
		base := make([]byte, 4*(4*300+3)) // with words that do not fill a unit of 16 bytes
		for i := range base {
			base[i] = byte(random.Uint32())
		}
		k := loadSpoiler(t, dev)
		in, out, from := k.alloc(len(base)), k.alloc(len(base)), k.alloc(len(base))
		write(t, from, base)
		write(t, out, base)
		elem, words := elementBitsOf(f), uint64(len(base)/4)
		k.ranges = []spoilRange{
			{op: renewRange, to: in.Addr(), words: words, from: from.Addr(), elem: elem, id: 7},
			{op: flipRange, to: in.Addr(), words: words, elem: elem, id: 7},
			{op: fillRange, to: out.Addr(), words: words, digest: 1, id: 9},
		}
		k.state = spoilState{first: 40, start: 40, turn: 3, salt: 5}
		k.run(0, 1, 0)
		k.run(1, 2, 0)
		k.run(1, 2, 1)
		k.run(1, 2, 2)
		want := slices.Clone(base)
		renewBytes(want, elem, 7, 3)
		flipBytes(want, elem, 7, 42)
		if got := read(t, in); !bytes.Equal(got, want) {
			t.Errorf("%s: the inputs of pass 2 are not what the host computes", f)
		}
		if differ := different(want, base); differ < len(base)/16 {
			t.Errorf("%s: only %d bytes are new", f, differ)
		}
		flipBytes(want, elem, 7, 42)
		flipBytes(want, elem, 7, 41)
		k.run(0, 1, 0)
		k.state.first = 41
		k.run(1, 2, 1)
		if got := read(t, in); !bytes.Equal(got, want) {
			t.Errorf("%s: the first pass of a turn undoes flips of an earlier one", f)
		}
		k.close()
	}
}

// TestSpoilDigest wants digests that depend on every bit of an output and on its set alone, and
// outputs whose bytes change.
func TestSpoilDigest(t *testing.T) {
	dev, err := emu.New(ptx.SM80, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	k := loadSpoiler(t, dev)
	defer k.close()
	data := make([]byte, 4*37)
	out := k.alloc(len(data))
	k.ranges = []spoilRange{{op: fillRange, to: out.Addr(), words: 37, digest: 1, id: 9}}
	k.state = spoilState{first: 5, start: 5}
	digest := func(data []byte) uint32 {
		write(t, k.digests, make([]byte, 64))
		write(t, out, data)
		k.run(0, 1, 1)
		all := read(t, k.digests)
		for i, v := range all[:64] {
			if i/4 != 1 && v != 0 {
				t.Fatalf("digests of other sets or passes: %v", all[:64])
			}
		}
		return binary.LittleEndian.Uint32(all[4:])
	}
	plain := digest(data)
	first := read(t, out)
	if digest(data) != plain || !bytes.Equal(first, read(t, out)) {
		t.Error("the same output and pass give another digest or other bytes")
	}
	for bit := range 8 * len(data) {
		if bit%7 != 0 {
			continue
		}
		changed := slices.Clone(data)
		changed[bit/8] ^= 1 << (bit % 8)
		if digest(changed) == plain {
			t.Errorf("the digest does not depend on bit %d", bit)
		}
	}
	twice := slices.Clone(data)
	twice[3], twice[7] = 0x80, 0x80 // two signs, which cancel in a sum
	if digest(twice) == plain {
		t.Error("two signs cancel")
	}
	k.state.salt = 1
	digest(data)
	if n := different(first, read(t, out)); n < 100 {
		t.Errorf("another salt changes only %d of %d bytes", n, len(first))
	}
	k.state.first = 6 // nothing precedes the first pass
	write(t, k.digests, make([]byte, 64))
	k.run(0, 1, 1)
	if got := read(t, k.digests); slices.Max(got[:64]) != 0 {
		t.Errorf("the first pass has a digest: %v", got[:64])
	}
}

// TestSpoilSum wants similar outputs to have similar digests, and others different ones, for a kernel
// whose bits vary.
func TestSpoilSum(t *testing.T) {
	dev, err := emu.New(ptx.SM80, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		name   string
		kind   digestKind
		encode func([]float32) []byte
		last   float64 // the largest change of a digest by 300 last bits
	}{
		{"f16", f16Digest, func(x []float32) []byte { return halves(x, fp8.F16) }, 8 * digestUnit * math.Sqrt(300) / 1024},
		{"bf16", bf16Digest, func(x []float32) []byte { return halves(x, fp8.BF16) }, 8 * digestUnit * math.Sqrt(300) / 128},
		{"f32", f32Digest, float32s, 300},
	} {
		k := loadSpoiler(t, dev)
		values := make([]float32, 300)
		for i := range values {
			values[i] = float32(random.NormFloat64())
		}
		data := c.encode(values)
		out := k.alloc(len(data))
		size := len(data) / len(values)
		k.state = spoilState{first: 5, start: 5}
		digest := func(op spoilOp, data []byte) int32 {
			k.ranges = []spoilRange{{op: op, to: out.Addr(), words: uint64(len(data) / 4), digest: 1, from: uint64(c.kind), id: 9}}
			write(t, k.digests, make([]byte, 64))
			write(t, out, data)
			k.run(0, 1, 1)
			return int32(binary.LittleEndian.Uint32(read(t, k.digests)[4:]))
		}
		off := func(data []byte) float64 {
			return math.Abs(float64(digest(fillRange, data) - digest(fillRange, c.encode(values))))
		}
		if digest(zeroRange, data) != digest(fillRange, data) || slices.Max(read(t, out)) == 0 {
			t.Errorf("%s: the digest depends on what is written afterwards", c.name)
		}
		if digest(zeroRange, data); slices.Max(read(t, out)) != 0 {
			t.Errorf("%s: the output is not zero", c.name)
		}
		near := slices.Clone(data)
		for i := 0; i < len(near); i += size {
			near[i] ^= byte(random.IntN(2))
		}
		swapped := slices.Clone(values)
		for i := 1; i < len(values); i += 2 {
			swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
		}
		one := slices.Clone(values)
		one[7]++
		if got := off(near); got == 0 || got > c.last {
			t.Errorf("%s: last bits change the digest by %g, at most %g is expected", c.name, got, c.last)
		}
		for name, other := range map[string][]float32{"no output": make([]float32, 300), "swapped elements": swapped} {
			if got := off(c.encode(other)); got < digestUnit*math.Sqrt(300)/50 {
				t.Errorf("%s: %s: the digest changes by %g only", c.name, name, got)
			}
		}
		if got := off(c.encode(one)); math.Abs(got-digestUnit) > digestUnit/50 {
			t.Errorf("%s: an element that is larger by 1 changes the digest by %g", c.name, got)
		}
		k.close()
	}
}

// spoilerUnderTest launches the spoiling kernel directly.
type spoilerUnderTest struct {
	t       *testing.T
	dev     device.Device
	module  device.Module
	kernel  device.Kernel
	digests device.Buffer
	ranges  []spoilRange
	state   spoilState
}

func loadSpoiler(t *testing.T, dev device.Device) *spoilerUnderTest {
	t.Helper()
	k := spoilKernel()
	k.Strict()
	text, err := k.PTX()
	if err != nil {
		t.Fatal(err)
	}
	s := &spoilerUnderTest{t: t, dev: dev}
	if s.module, err = dev.Load("spoil.ptx", text); err != nil {
		t.Fatal(err)
	}
	if s.kernel, err = s.module.Kernel("spoil"); err != nil {
		t.Fatal(err)
	}
	s.digests = s.alloc(64)
	write(t, s.digests, make([]byte, 64))
	return s
}

func (s *spoilerUnderTest) close() { s.module.Close() }

func (s *spoilerUnderTest) alloc(n int) device.Buffer {
	b, err := s.dev.Alloc(int64(n))
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

// run spoils n ranges from the range at on.
func (s *spoilerUnderTest) run(at, n, pass int) {
	s.t.Helper()
	table, state := s.alloc(spoilRangeBytes*len(s.ranges)), s.alloc(spoilStateBytes)
	var all []byte
	for i := range s.ranges {
		all = append(all, s.ranges[i].encode()...)
	}
	write(s.t, table, all)
	write(s.t, state, s.state.encode())
	const chunks = 2
	err := s.kernel.Launch(s.t.Context(), spoilLaunch(n, chunks, device.Ptr(table), device.U32(uint32(at)), device.Ptr(state), device.Ptr(s.digests),
		device.U32(16), device.U32(4), device.U32(chunks), device.U32(uint32(pass))))
	if err != nil {
		s.t.Fatal(err)
	}
}

func write(t *testing.T, b device.Buffer, data []byte) {
	t.Helper()
	if err := b.Write(0, data); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, b device.Buffer) []byte {
	t.Helper()
	data := make([]byte, b.Size())
	if err := b.Read(0, data); err != nil {
		t.Fatal(err)
	}
	return data
}

func different(a, b []byte) (n int) {
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}
