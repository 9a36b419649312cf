package lab

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
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
