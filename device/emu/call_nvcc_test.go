package emu

import (
	"bytes"
	"context"
	"math"
	"os"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// nvcc runs the kernels of testdata/language.ptx.
type nvcc struct {
	t   *testing.T
	dev *Device
	mod device.Module
	out bytes.Buffer
}

func newNvcc(t *testing.T) *nvcc {
	n := &nvcc{t: t}
	text, err := os.ReadFile("testdata/language.ptx")
	if err != nil {
		t.Fatal(err)
	}
	n.dev = deviceFor(t, ptx.SM80, Options{Output: &n.out})
	if n.mod, err = n.dev.Load("language.ptx", string(text)); err != nil {
		t.Fatal(err)
	}
	return n
}

func (n *nvcc) buffer(words ...uint32) device.Buffer {
	data := bytesOf(words...)
	b, err := n.dev.Alloc(int64(len(data)))
	if err != nil {
		n.t.Fatal(err)
	}
	if err := b.Write(0, data); err != nil {
		n.t.Fatal(err)
	}
	return b
}

func (n *nvcc) words(b device.Buffer) []uint32 {
	data := make([]byte, b.Size())
	if err := b.Read(0, data); err != nil {
		n.t.Fatal(err)
	}
	return u32s(data)
}

func (n *nvcc) run(kernel string, grid, block, shared int, bufs ...device.Buffer) {
	n.t.Helper()
	k, err := n.mod.Kernel(kernel)
	if err != nil {
		n.t.Fatal(err)
	}
	l := device.Launch{Grid: device.D(grid), Block: device.D(block), Shared: shared}
	for _, b := range bufs {
		l.Params = append(l.Params, device.Ptr(b))
	}
	if err := k.Launch(context.Background(), l); err != nil {
		n.t.Fatal(err)
	}
}

func ackermann(m, n int) int {
	switch {
	case m == 0:
		return n + 1
	case n == 0:
		return ackermann(m-1, 1)
	}
	return ackermann(m-1, ackermann(m, n-1))
}

func TestNvccFunctions(t *testing.T) {
	n := newNvcc(t)
	out := n.buffer(make([]uint32, 64)...)
	n.run("functions", 2, 32, 0, out)
	for i, v := range n.words(out) {
		want := 3 * i
		if i&1 == 1 {
			want = i * i
		}
		want += ackermann(2, i%4) + ((i%7+i%20)%20+i)*2 + 4000
		if i%3 == 0 {
			want += 26000
		}
		if int(v) != want {
			t.Errorf("thread %d has %d, want %d", i, v, want)
		}
	}
	const printed = "t=0 x=30003 even 3750.38\nt=16 x= 4119 even 514.875\nt=32 x= 4195 odd 524.375\nt=48 x=30271 odd 3783.88\n"
	if n.out.String() != printed {
		t.Errorf("printed\n%s", n.out.String())
	}
}

func TestNvccGroups(t *testing.T) {
	n := newNvcc(t)
	in := make([]uint32, 256)
	for i := range in {
		in[i] = uint32(i*7919) % 101
	}
	out := n.buffer(make([]uint32, 6*256)...)
	n.run("groups", 2, 128, 512, out, n.buffer(in...))
	for i, got := range n.words(out) {
		if want := groupsWant(in, i/6)[i%6]; got != want {
			t.Errorf("thread %d, value %d: %d, want %d", i/6, i%6, got, want)
		}
	}
}

// groupsWant returns the expected results of a thread of the kernel groups.
func groupsWant(in []uint32, t int) [6]uint32 {
	var sum, most, same, count, hist uint32
	for _, v := range in[t&^7:][:8] {
		sum += v
	}
	for i, v := range in[t&^31:][:32] {
		most = max(most, v)
		if v%5 == in[t]%5 {
			same |= 1 << i
		}
	}
	for _, v := range in[t&^127:][:128] {
		if v > 50 {
			count++
		}
		if v&15 == uint32(t)&15 {
			hist++
		}
	}
	c := uint32(5 + t&3)
	o := [3]uint32{in[t] + c, in[t] - c, in[t] * c}[in[t]%3]
	if t%2 == 1 {
		o += 16*100000 + uint32(t%32/2)
	}
	return [6]uint32{sum, most, same, count, o, hist}
}

func TestNvccAtomics(t *testing.T) {
	n := newNvcc(t)
	const blocks = 40
	in := make([]uint32, 256*blocks)
	total := float32(0)
	for i := range in {
		v := float32(i % 17)
		total += v
		in[i] = math.Float32bits(v)
	}
	floats := n.buffer(in...)
	sum := n.buffer(0)
	n.run("lastblock", blocks, 256, 0, sum, n.buffer(0), n.buffer(make([]uint32, blocks)...), floats)
	if got := math.Float32frombits(n.words(sum)[0]); got != total {
		t.Errorf("the sum is %v, want %v", got, total)
	}
	most, count, indices := n.buffer(0), n.buffer(0), n.buffer(0, 0)
	n.run("locked", 10, 128, 0, most, n.buffer(0), count, indices, floats)
	if got := n.words(most)[0]; got != f32bits(16) {
		t.Errorf("the maximum is %#x", got)
	}
	if got := n.words(count)[0]; got != 1280 {
		t.Errorf("%d threads had the lock, want 1280", got)
	}
	if got := n.words(indices)[0]; got != 1280*1279/2 {
		t.Errorf("the sum of the indices is %d", got)
	}
}
