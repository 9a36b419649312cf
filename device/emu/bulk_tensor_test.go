package emu

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// tensorText returns a kernel that loads a box of the tensor at the first coordinates,
// copies it from shared memory to out, and stores the box at the second coordinates.
func tensorText(rank, size int, op string) string {
	var regs, from, to []string
	var loads strings.Builder
	for i := range 2 * rank {
		fmt.Fprintf(&loads, "ld.param.u32 c%d, [at+%d];\n", i, 4*i)
		regs = append(regs, fmt.Sprintf("c%d", i))
	}
	from, to = regs[:rank], regs[rank:]
	store := "cp.async.bulk.tensor"
	if op != "" {
		store, op = "cp.reduce.async.bulk.tensor", "."+op
	}
	return fmt.Sprintf(`.version 8.4
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 pout, .param .align 64 .b8 src[128], .param .align 64 .b8 dst[128], .param .align 4 .b8 at[40])
{
	.reg .pred p;
	.reg .b32 a, b, v, n, %[1]s;
	.reg .b64 out, state, map;
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
	cp.async.bulk.prefetch.tensor.%[4]dd.L2.global.tile [map, {%[5]s}];
	cp.async.bulk.tensor.%[4]dd.shared::cluster.global.mbarrier::complete_tx::bytes [a], [map, {%[5]s}], [b];
wait: mbarrier.try_wait.parity.shared.b64 p, [b], 0;
	@!p bra wait;
	%[7]s.%[4]dd.global.shared::cta%[8]s.tile.bulk_group [dst, {%[6]s}], [a];
	cp.async.bulk.commit_group;
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
`, strings.Join(regs, ", "), size, loads.String(), rank, strings.Join(from, ", "), strings.Join(to, ", "), store, op)
}

// boxOffset returns the offset in global memory of element e of a box, counted from the
// innermost dimension, or -1 if it is out of bounds.
func boxOffset(d *device.TensorDesc, at []int32, e int) int {
	off := 0
	for i := range d.Dims {
		step := int(d.Steps[i])
		n := (int(d.Box[i]) + step - 1) / step
		c := int(at[i]) + e%n*step
		e /= n
		if c < 0 || c >= int(d.Dims[i]) {
			return -1
		}
		if i == 0 {
			off += c * d.Type.Bytes()
		} else {
			off += c * int(d.Strides[i-1])
		}
	}
	return off
}

// swizzlePlace returns the offset in shared memory of byte i of a box, by the tables of the
// PTX manual: the 16-byte unit u of the 128-byte line r is at unit u^r of the line, with as
// many bits as the swizzle has.
func swizzlePlace(s device.Swizzle, i int) int {
	line, unit, in := i/128, i/16%8, i%16
	switch s {
	case device.Swizzle32B:
		unit ^= line % 2
	case device.Swizzle64B:
		unit ^= line % 4
	case device.Swizzle128B:
		unit ^= line % 8
	}
	return line*128 + unit*16 + in
}

// randomTensor returns a random tensor and the size n of its memory in bytes.
func randomTensor(r *rand.Rand, rank int) (d device.TensorDesc, n int) {
	types := []ptx.Type{ptx.U8, ptx.U16, ptx.U32, ptx.S32, ptx.U64, ptx.F16, ptx.BF16, ptx.F32, ptx.F64}
	d.Type = types[r.IntN(len(types))]
	d.Swizzle = device.Swizzle(r.IntN(4))
	d.NaNFill = r.IntN(2) == 0 && !d.Type.Integer()
	es := d.Type.Bytes()
	units := 1 + r.IntN(8)
	if d.Swizzle != device.NoSwizzle {
		units = min(units, 1<<d.Swizzle)
	}
	extent := 0
	for i := range rank {
		dim, box, step := 1+r.IntN(9), 1+r.IntN(5), 1
		if i == 0 {
			box, dim = units*16/es, 1+r.IntN(40)
			extent = (dim*es + 15) / 16 * 16
		} else {
			if r.IntN(3) == 0 {
				step = 1 + r.IntN(3)
			}
			d.Strides = append(d.Strides, uint64(extent+16*r.IntN(3)))
			extent = dim * int(d.Strides[i-1])
		}
		d.Dims, d.Box, d.Steps = append(d.Dims, uint64(dim)), append(d.Box, uint32(box)), append(d.Steps, uint32(step))
	}
	return d, extent
}

func boxElements(d *device.TensorDesc) int {
	n := 1
	for i := range d.Box {
		n *= int((d.Box[i] + d.Steps[i] - 1) / d.Steps[i])
	}
	return n
}

// TestTensorCopies compares loads and stores of random boxes with a loop over their
// elements.
func TestTensorCopies(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 150 {
		rank := 1 + i%5
		desc, n := randomTensor(r, rank)
		data, old := make([]byte, n), make([]byte, n)
		for i := range data {
			data[i], old[i] = byte(r.Uint32()), byte(r.Uint32())
		}
		var at [2][]int32
		for i := range 2 * rank {
			c := int32(r.IntN(12) - 4)
			if i >= rank { // a store must not start before the tensor
				c = max(c, 0)
			}
			if i%rank == 0 { // boxes start at a multiple of 16 bytes
				c = c / 2 * int32(16/desc.Type.Bytes())
			}
			at[i/rank] = append(at[i/rank], c)
		}
		testTensorCopy(t, desc, data, old, at[0], at[1], "")
	}
}

func testTensorCopy(t *testing.T, desc device.TensorDesc, data, old []byte, from, to []int32, op string) {
	t.Helper()
	d := deviceFor(t, ptx.SM90a, Options{})
	es := desc.Type.Bytes()
	size := boxElements(&desc) * es
	room := (size + 127) &^ 127
	src, dst, out := bufferWith(t, d, data), bufferWith(t, d, old), bufferWith(t, d, make([]byte, size))
	maps := [2]device.TensorMap{}
	for i, b := range []device.Buffer{src, dst} {
		desc.Addr = b.Addr()
		var err error
		if maps[i], err = d.TensorMap(desc); err != nil {
			t.Fatal(err)
		}
	}
	coords := make([]byte, 40)
	for i, c := range append(append([]int32{}, from...), to...) {
		copy(coords[4*i:], bytesOf(uint32(c)))
	}
	text := strings.Replace(tensorText(len(desc.Dims), size, op), fmt.Sprintf("buf[%d]", size), fmt.Sprintf("buf[%d]", room), 1)
	err := launchText(t, d, text, device.Launch{Params: []device.Param{device.Ptr(out), maps[0].Param(), maps[1].Param(), coords}})
	if err != nil {
		t.Fatalf("%+v: %v", desc, err)
	}
	wantShared := make([]byte, room)
	want := append([]byte{}, old...)
	whole := desc // a store writes all of the last 16 bytes of a row
	whole.Dims = append([]uint64{}, desc.Dims...)
	whole.Dims[0] = (desc.Dims[0]*uint64(es) + 15) / 16 * 16 / uint64(es)
	for e := range size / es {
		v := bytes.Repeat([]byte{0}, es)
		if desc.NaNFill {
			v = bytes.Repeat([]byte{0xf7, 0x7f}, 4)[:es] // the bytes that an H200 writes, for all types
		}
		if off := boxOffset(&desc, from, e); off >= 0 {
			v = data[off:][:es]
		}
		copy(wantShared[swizzlePlace(desc.Swizzle, e*es):], v)
		if off := boxOffset(&whole, to, e); off >= 0 {
			if op == "add" {
				v = bytesOf(u32s(v)[0] + u32s(want[off:][:4])[0])
			}
			copy(want[off:], v)
		}
	}
	if got := contents(t, out); !bytes.Equal(got, wantShared[:size]) {
		t.Fatalf("%+v at %v:\n got %x\nwant %x", desc, from, got, wantShared[:size])
	}
	if got := contents(t, dst); !bytes.Equal(got, want) {
		t.Fatalf("%+v stored at %v:\n got %x\nwant %x", desc, to, got, want)
	}
}

func TestTensorReduce(t *testing.T) {
	desc := device.TensorDesc{Type: ptx.U32, Dims: []uint64{6, 3}, Strides: []uint64{32}, Box: []uint32{4, 2}, Steps: []uint32{1, 1}, Swizzle: device.Swizzle32B}
	data := counting(24)
	testTensorCopy(t, desc, data, data, []int32{0, 0}, []int32{4, 1}, "add")
}

// TestTensorMapReplace builds a map from another by replacing its fields.
func TestTensorMapReplace(t *testing.T) {
	d := deviceFor(t, ptx.SM90a, Options{})
	from, err := d.TensorMap(device.TensorDesc{Type: ptx.U8, Addr: 16, Dims: []uint64{64}, Box: []uint32{64}})
	if err != nil {
		t.Fatal(err)
	}
	want, err := d.TensorMap(device.TensorDesc{Type: ptx.F32, Addr: 32, Dims: []uint64{100, 200}, Strides: []uint64{512}, Box: []uint32{8, 3}, Steps: []uint32{1, 2}, Swizzle: device.Swizzle32B, NaNFill: true})
	if err != nil {
		t.Fatal(err)
	}
	const text = `.version 8.4
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 pout)
{
	.reg .b64 out, v;
	.reg .b32 a;
	.shared .align 128 .b8 buf[128];
	ld.param.u64 out, [pout];
	mov.u32 a, buf;
	mov.b64 v, 32;
	tensormap.replace.tile.global_address.global.b1024.b64 [out], v;
	tensormap.replace.tile.rank.global.b1024.b32 [out], 1;
	tensormap.replace.tile.box_dim.global.b1024.b32 [out], 0, 8;
	tensormap.replace.tile.box_dim.global.b1024.b32 [out], 1, 3;
	tensormap.replace.tile.global_dim.global.b1024.b32 [out], 0, 100;
	tensormap.replace.tile.global_dim.b1024.b32 [out], 1, 200;
	mov.b64 v, 512;
	tensormap.replace.tile.global_stride.b1024.b64 [out], 0, v;
	tensormap.replace.tile.element_stride.global.b1024.b32 [out], 1, 2;
	tensormap.replace.tile.elemtype.global.b1024.b32 [out], 7;
	tensormap.replace.tile.interleave_layout.global.b1024.b32 [out], 0;
	tensormap.replace.tile.swizzle_mode.global.b1024.b32 [out], 1;
	tensormap.replace.tile.fill_mode.global.b1024.b32 [out], 1;
	ld.global.b64 v, [out];
	st.shared.b64 [a], v;
	tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [out+128], [a], 128;
	ret;
}
`
	out := bufferWith(t, d, append(from[:], make([]byte, 128)...))
	if err := launchText(t, d, text, device.Launch{Params: []device.Param{device.Ptr(out)}}); err != nil {
		t.Fatal(err)
	}
	got := contents(t, out)
	if !bytes.Equal(got[:128], want[:]) {
		t.Errorf("got  %x\nwant %x", got[:128], want)
	}
	if !bytes.Equal(got[128:136], want[:8]) {
		t.Errorf("the copy starts with %x, want %x", got[128:136], want[:8])
	}
}

func TestTensorFaults(t *testing.T) {
	good := device.TensorDesc{Type: ptx.U32, Dims: []uint64{8}, Box: []uint32{4}, Steps: []uint32{1}}
	d := deviceFor(t, ptx.SM90a, Options{})
	buf := bufferWith(t, d, make([]byte, 1024))
	good.Addr = buf.Addr()
	m, err := d.TensorMap(good)
	if err != nil {
		t.Fatal(err)
	}
	wild := good
	wild.Dims = []uint64{1 << 20}
	far, err := d.TensorMap(wild)
	if err != nil {
		t.Fatal(err)
	}
	text := tensorText(1, 16, "")
	for _, c := range []struct {
		text string
		m    device.TensorMap
		at   [2]int32 // of the load and of the store
		want string
	}{
		{text, device.TensorMap{}, [2]int32{}, "no tensor map"},
		{strings.Replace(text, "complete_tx::bytes [a]", "complete_tx::bytes [a+16]", 1), m, [2]int32{}, "not aligned to 128"},
		{tensorText(2, 16, ""), m, [2]int32{}, "2 coordinates"},
		{text, far, [2]int32{1 << 10, 0}, "global address"},
		{text, m, [2]int32{1, 0}, "a multiple of 16"},
		{text, m, [2]int32{0, -16}, "before the tensor"},
	} {
		coords := make([]byte, 40)
		copy(coords, bytesOf(uint32(c.at[0]), uint32(c.at[1])))
		err := launchText(t, d, c.text, device.Launch{Params: []device.Param{device.Ptr(buf), c.m.Param(), m.Param(), coords}})
		wantFault(t, err, c.want)
	}
}

// TestTensorDamaged changes each bit of a tensor map, as a kernel can that writes one. The copies may
// fail, but not by a bug of the emulator.
func TestTensorDamaged(t *testing.T) {
	d := deviceFor(t, ptx.SM90a, Options{Memory: 1 << 24})
	buf := bufferWith(t, d, make([]byte, 1024))
	good, err := d.TensorMap(device.TensorDesc{Type: ptx.U32, Addr: buf.Addr(), Dims: []uint64{8}, Box: []uint32{4}})
	if err != nil {
		t.Fatal(err)
	}
	mod, err := d.Load("k.ptx", tensorText(1, 16, ""))
	if err != nil {
		t.Fatal(err)
	}
	k, err := mod.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	for bit := range 8 * len(good) {
		m := good
		m[bit/8] ^= 1 << (bit % 8)
		var bug *device.Bug
		err := k.Launch(t.Context(), device.Launch{Params: []device.Param{device.Ptr(buf), m.Param(), good.Param(), make([]byte, 40)}})
		if errors.As(err, &bug) {
			t.Errorf("bit %d: %v", bit, err)
		}
	}
}
