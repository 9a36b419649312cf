package emu

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// im2colText returns a kernel that loads pixels of src at the first coordinates with the offsets,
// copies them from shared memory to out, and stores them to dst at the second coordinates.
func im2colText(rank, size int) string {
	var loads strings.Builder
	list := func(name string, n, at int) string {
		var regs []string
		for i := range n {
			fmt.Fprintf(&loads, "ld.param.u32 %s%d, [at+%d];\n", name, i, at+4*i)
			regs = append(regs, fmt.Sprintf("%s%d", name, i))
		}
		return strings.Join(regs, ", ")
	}
	from, to := list("c", rank, 0), list("d", rank, 20)
	var offsets []string
	for i := range rank - 2 {
		fmt.Fprintf(&loads, "ld.param.u16 o%d, [at+%d];\n", i, 40+2*i)
		offsets = append(offsets, fmt.Sprintf("o%d", i))
	}
	return fmt.Sprintf(`.version 8.4
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 pout, .param .align 64 .b8 src[128], .param .align 64 .b8 dst[128], .param .align 4 .b8 at[48])
{
	.reg .pred p; .reg .b32 a, b, v, n, c<5>, d<5>; .reg .b16 o<3>; .reg .b64 out, state, map;
	.shared .align 1024 .b8 buf[%[2]d];
	.shared .align 8 .b64 bar;
	ld.param.u64 out, [pout];
	%[3]s
	mov.u32 a, buf;
	mov.u32 b, bar;
	mbarrier.init.shared.b64 [b], 1;
	mbarrier.arrive.expect_tx.shared.b64 state, [b], %[2]d;
	mov.b64 map, src;
	cvta.param.u64 map, map;
	cp.async.bulk.prefetch.tensor.%[1]dd.L2.global.im2col [map, {%[4]s}], {%[6]s};
	cp.async.bulk.tensor.%[1]dd.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [a], [map, {%[4]s}], [b], {%[6]s};
wait: mbarrier.try_wait.parity.shared.b64 p, [b], 0;
	@!p bra wait;
	mov.b64 map, dst;
	cvta.param.u64 map, map;
	cp.async.bulk.tensor.%[1]dd.global.shared::cta.im2col_no_offs.bulk_group [map, {%[5]s}], [a];
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
	mov.u32 n, 0;
loop:
	ld.shared.u32 v, [a];
	st.global.u32 [out], v;
	add.u32 a, a, 4;
	add.u64 out, out, 4;
	add.u32 n, n, 4;
	setp.lt.u32 p, n, %[2]d;
	@p bra loop;
	ret;
}
`, rank, size, loads.String(), from, to, strings.Join(offsets, ", "))
}

// images is a batch of images with 32-bit elements and the pixels that a copy reads.
type images struct {
	dims         []int // channels, width, height, depth, images
	steps        []int
	lower, upper []int
	channels     int
	pixels       int
}

// walk returns the coordinates of the pixels of a copy that starts at a position: it numbers the
// pixels of the bounding boxes of all images in their order.
func (g *images) walk(at []int) (all [][]int) {
	axes := len(g.dims) - 2
	count := make([]int, axes)
	number := at[axes+1]
	for i := axes - 1; i >= 0; i-- {
		count[i] = (g.dims[i+1]-1+g.upper[i]-g.lower[i])/g.steps[i+1] + 1
		number = number*count[i] + (at[i+1]-g.lower[i])/g.steps[i+1]
	}
	for p := range g.pixels {
		rest := number + p
		c := []int{at[0]}
		for i := range axes {
			c = append(c, g.lower[i]+rest%count[i]*g.steps[i+1])
			rest /= count[i]
		}
		all = append(all, append(c, rest))
	}
	return all
}

// index returns the index of an element, or -1 if it is outside the tensor.
func (g *images) index(c []int) int {
	at := 0
	for i := len(c) - 1; i >= 0; i-- {
		if c[i] < 0 || c[i] >= g.dims[i] {
			return -1
		}
		at = at*g.dims[i] + c[i]
	}
	return at
}

func (g *images) elements() int {
	n := 1
	for _, d := range g.dims {
		n *= d
	}
	return n
}

// desc returns the description of the tensor map.
func (g *images) desc(b device.Buffer) device.TensorDesc {
	d := device.TensorDesc{Type: ptx.U32, Addr: b.Addr(), Im2col: &device.Im2col{Channels: uint32(g.channels), Pixels: uint32(g.pixels)}}
	stride := uint64(4)
	for i, n := range g.dims {
		d.Dims, d.Steps = append(d.Dims, uint64(n)), append(d.Steps, uint32(g.steps[i]))
		stride *= uint64(n)
		if i < len(g.dims)-1 {
			d.Strides = append(d.Strides, stride)
		}
	}
	for i := range g.lower {
		d.Im2col.Lower, d.Im2col.Upper = append(d.Im2col.Lower, int32(g.lower[i])), append(d.Im2col.Upper, int32(g.upper[i]))
	}
	return d
}

func randomImages(r *rand.Rand, rank int, inside bool) *images {
	g := &images{dims: []int{4 * (1 + r.IntN(4))}, steps: []int{1}, channels: 4 * (1 + r.IntN(3)), pixels: 1 + r.IntN(40)}
	for range rank - 2 {
		g.dims, g.steps = append(g.dims, 3+r.IntN(5)), append(g.steps, 1+r.IntN(2))
		lower, upper := r.IntN(4)-2, r.IntN(3)-2
		if inside {
			lower = r.IntN(2)
		}
		g.lower, g.upper = append(g.lower, lower), append(g.upper, upper)
	}
	for i := range g.lower { // the box must have a pixel
		g.upper[i] = max(g.upper[i], g.lower[i]-g.dims[i+1]+1)
		if inside {
			g.upper[i] = min(g.upper[i], 0)
		}
	}
	g.dims, g.steps = append(g.dims, 1+r.IntN(3)), append(g.steps, 1)
	return g
}

// start returns a random position in the bounding box.
func (g *images) start(r *rand.Rand) []int {
	at := []int{4 * r.IntN(2)}
	for i := range g.lower {
		n := (g.dims[i+1]-1+g.upper[i]-g.lower[i])/g.steps[i+1] + 1
		at = append(at, g.lower[i]+r.IntN(n)*g.steps[i+1])
	}
	return append(at, r.IntN(g.dims[len(g.dims)-1]))
}

// TestIm2col copies pixels of random images and compares them with the pixels that a plain
// enumeration of the bounding box gives.
func TestIm2col(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	d := deviceFor(t, ptx.SM90a, Options{})
	for n := range 90 {
		src := randomImages(r, 3+n%3, false)
		dst := randomImages(r, 3+n%3, true)
		dst.channels, dst.pixels = src.channels, src.pixels
		data := make([]uint32, src.elements())
		for i := range data {
			data[i] = r.Uint32()
		}
		at, to := src.start(r), dst.start(r)
		offsets := make([]int, len(src.lower))
		for i := range offsets {
			offsets[i] = r.IntN(4)
		}
		var box []uint32
		for _, c := range src.walk(at) {
			for i, o := range offsets {
				c[i+1] += o
			}
			for range src.channels {
				v := uint32(0)
				if at := src.index(c); at >= 0 {
					v = data[at]
				}
				box = append(box, v)
				c[0]++
			}
		}
		stored := make([]uint32, dst.elements())
		for p, c := range dst.walk(to) {
			for i := range dst.channels {
				if at := dst.index(c); at >= 0 {
					stored[at] = box[p*dst.channels+i]
				}
				c[0]++
			}
		}
		from, into := bufferWith(t, d, bytesOf(data...)), bufferWith(t, d, make([]byte, 4*len(stored)))
		out := bufferWith(t, d, make([]byte, 4*len(box)))
		srcMap, err := d.TensorMap(src.desc(from))
		if err != nil {
			t.Fatal(err)
		}
		dstMap, err := d.TensorMap(dst.desc(into))
		if err != nil {
			t.Fatal(err)
		}
		err = launchText(t, d, im2colText(len(at), 4*len(box)), device.Launch{Params: []device.Param{
			device.Ptr(out), srcMap.Param(), dstMap.Param(), im2colParams(at, to, offsets)}})
		if err != nil {
			t.Fatalf("%+v at %v: %v", src, at, err)
		}
		if got := contents(t, out); !bytes.Equal(got, bytesOf(box...)) {
			t.Fatalf("%+v at %v with offsets %v: loaded %x, want %x", src, at, offsets, u32s(got), box)
		}
		if got := contents(t, into); !bytes.Equal(got, bytesOf(stored...)) {
			t.Fatalf("%+v at %v: stored %x, want %x", dst, to, u32s(got), stored)
		}
	}
}

// im2colParams returns the coordinates and offsets as im2colText reads them.
func im2colParams(at, to, offsets []int) []byte {
	b := make([]byte, 48)
	for i := range at {
		binary.LittleEndian.PutUint32(b[4*i:], uint32(at[i]))
		binary.LittleEndian.PutUint32(b[20+4*i:], uint32(to[i]))
	}
	for i := range offsets {
		binary.LittleEndian.PutUint16(b[40+2*i:], uint16(offsets[i]))
	}
	return b
}

// TestIm2colFaults checks the errors of maps and positions that im2col does not allow.
func TestIm2colFaults(t *testing.T) {
	d := deviceFor(t, ptx.SM90a, Options{})
	g := &images{dims: []int{8, 5, 2}, steps: []int{1, 1, 1}, lower: []int{-1}, upper: []int{-1}, channels: 4, pixels: 3}
	buf := bufferWith(t, d, make([]byte, 4*g.elements()))
	maps := func(g *images) device.TensorMap {
		m, err := d.TensorMap(g.desc(buf))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	inside := *g
	inside.lower = []int{0}
	tiled, err := d.TensorMap(device.TensorDesc{Type: ptx.U32, Addr: buf.Addr(), Dims: []uint64{8, 5, 2}, Strides: []uint64{32, 160}, Box: []uint32{4, 3, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		src, dst device.TensorMap
		at       int
		want     string
	}{
		{maps(g), maps(&inside), 4, "the bounding box goes from -1 to 3"},
		{maps(g), maps(&inside), -2, "the bounding box goes from -1 to 3"},
		{maps(g), maps(g), 1, "an im2col store needs a bounding box inside the tensor"},
		{tiled, maps(&inside), 1, "the tensor map is for tiles, the instruction for im2col"},
	} {
		err := launchText(t, d, im2colText(3, 48), device.Launch{Params: []device.Param{
			device.Ptr(buf), c.src.Param(), c.dst.Param(), im2colParams([]int{0, c.at, 0}, []int{0, 1, 0}, []int{0})}})
		wantFault(t, err, c.want)
	}
	for want, change := range map[string]func(*images){
		"1 to 1024 pixels":        func(g *images) { g.pixels = 2000 },
		"a multiple of 16":        func(g *images) { g.channels = 3 },
		"must be -32768 to 32767": func(g *images) { g.lower = []int{1 << 15} },
		"needs 3 to 5 dimensions": func(g *images) { g.dims, g.steps = g.dims[:2], g.steps[:2] },
	} {
		bad := *g
		change(&bad)
		if _, err := d.TensorMap(bad.desc(buf)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
