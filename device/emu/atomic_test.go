package emu

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

// TestAtomicInteger applies each operation once and compares the old and the new value, in
// every state space and at a generic address.
func TestAtomicInteger(t *testing.T) {
	const old32, b32 = 0xfffffff0, 0x0000001f
	const old64, b64 = 0xffffffff_fffffff0, 0x1_0000001f
	for _, c := range []struct {
		op   string
		want uint64
	}{
		{"and.b32", old32 & b32}, {"or.b32", old32 | b32}, {"xor.b32", old32 ^ b32},
		{"add.u32", 0x0000000f}, {"add.s32", 0x0000000f},
		{"min.u32", b32}, {"max.u32", old32}, {"min.s32", old32}, {"max.s32", b32},
		{"inc.u32", 0}, {"dec.u32", b32}, {"exch.b32", b32},
		{"and.b64", old64 & b64}, {"or.b64", old64 | b64}, {"xor.b64", old64 ^ b64},
		{"add.u64", 0x1_0000000f}, {"min.u64", b64}, {"max.u64", old64}, {"min.s64", old64}, {"max.s64", b64},
		{"exch.b64", b64},
	} {
		wide := c.op[len(c.op)-2:] == "64"
		for _, space := range []string{".global", ".shared", ".shared::cta", "", " generic shared"} {
			got := atomicOnce(t, c.op, space, wide)
			old := uint64(old32)
			if wide {
				old = old64
			}
			if got[0] != c.want || got[1] != old {
				t.Errorf("atom%s.%s: memory %#x, old value %#x; want %#x, %#x", space, c.op, got[0], got[1], c.want, old)
			}
			if c.op[:4] == "exch" {
				continue
			}
			if got[2] != c.want {
				t.Errorf("red%s.%s: memory %#x, want %#x", space, c.op, got[2], c.want)
			}
		}
	}
}

// atomicOnce returns the memory after atom, the old value that atom returns, and the memory
// after red.
func atomicOnce(t *testing.T, op, space string, wide bool) []uint64 {
	addr, mod := "%rd0", space
	switch space {
	case ".shared", ".shared::cta":
		addr = "%rd10"
	case " generic shared":
		addr, mod = "%rd11", ""
	}
	reg, val, size := "%r5", "0x1f", "u32"
	init := "0xfffffff0"
	if wide {
		reg, val, size, init = "%rd5", "%rd6", "u64", "-16"
	}
	red := ""
	if op[:4] != "exch" {
		red = fmt.Sprintf("st%s.%s [%s+32], %s;\nred%s.%s [%s+32], %s;\nld%s.%s %s, [%s+32];\nst.global.%s [%%rd0+16], %s;\n",
			mod, size, addr, init, mod, op, addr, val, mod, size, reg, addr, size, reg)
	}
	body := ".shared .align 16 .b8 s[64];\nmov.u64 %rd6, 0x10000001f;\nmov.u64 %rd10, s;\ncvta.shared.u64 %rd11, %rd10;\n" +
		fmt.Sprintf("st%s.%s [%s+24], %s;\natom%s.%s %s, [%s+24], %s;\nst.global.%s [%%rd0+8], %s;\nld%s.%s %s, [%s+24];\nst.global.%s [%%rd0], %s;\n",
			mod, size, addr, init, mod, op, reg, addr, val, size, reg, mod, size, reg, addr, size, reg) + red
	return u64s(runText(t, kernelText(body), 1, 1, 64))
}

func TestAtomicWrap(t *testing.T) {
	// inc wraps from b to 0. dec wraps from 0, and from values above b, to b.
	got := u32s(runText(t, kernelText(`atom.global.inc.u32 %r1, [%rd0], 4;
	atom.global.dec.u32 %r1, [%rd0+4], 4;`), 1, 7, 8))
	if got[0] != 7%5 || got[1] != 3 {
		t.Errorf("after seven of each: inc has %d, want 2; dec has %d, want 3", got[0], got[1])
	}
}

func TestAtomicCas(t *testing.T) {
	body := `mov.u32 %r2, 5;
	atom.global.cas.b32 %r1, [%rd0], 5, 6;
	st.global.u32 [%rd0+4], %r1;
	atom.global.cas.b32 %r1, [%rd0], 5, 7;
	st.global.u32 [%rd0+8], %r1;
	mov.b16 %h1, 0x1234;
	mov.b16 %h2, 0xabcd;
	atom.global.cas.b16 %h3, [%rd0+14], %h1, %h2;
	st.global.b16 [%rd0+18], %h3;
	mov.u64 %rd2, 0x1111111122222222;
	mov.u64 %rd3, 0x3333333344444444;
	mov.b128 %q1, {%rd2, %rd3};
	mov.b128 %q2, {%rd3, %rd2};
	atom.global.cas.b128 %q3, [%rd0+32], %q1, %q2;
	mov.b128 {%rd4, %rd5}, %q3;
	st.global.u64 [%rd0+48], %rd4;
	atom.global.exch.b128 %q3, [%rd0+64], %q1;
	mov.b128 {%rd4, %rd5}, %q3;
	st.global.u64 [%rd0+56], %rd5;`
	data := make([]byte, 80)
	binary.LittleEndian.PutUint32(data, 5)
	binary.LittleEndian.PutUint32(data[12:], 0x12345678)
	binary.LittleEndian.PutUint64(data[32:], 0x1111111122222222)
	binary.LittleEndian.PutUint64(data[40:], 0x3333333344444444)
	binary.LittleEndian.PutUint64(data[64:], 7)
	binary.LittleEndian.PutUint64(data[72:], 8)
	out := runOn(t, deviceFor(t, ptx.SM90a, Options{}), kernelText(body), 1, 1, data)
	w, d := u32s(out), u64s(out)
	for _, c := range []struct {
		what      string
		got, want uint64
	}{
		{"b32", uint64(w[0]), 6}, {"old b32", uint64(w[1]), 5}, {"old b32 that differs", uint64(w[2]), 6},
		{"b16 and its neighbour", uint64(w[3]), 0xabcd5678}, {"old b16", uint64(w[4]), 0x12340000},
		{"b128 low", d[4], 0x3333333344444444}, {"b128 high", d[5], 0x1111111122222222}, {"old b128", d[6], 0x1111111122222222},
		{"exch.b128 low", d[8], 0x1111111122222222}, {"exch.b128 high", d[9], 0x3333333344444444}, {"old high of exch", d[7], 8},
	} {
		if c.got != c.want {
			t.Errorf("%s: %#x, want %#x", c.what, c.got, c.want)
		}
	}
}

// TestAtomicFloat adds floats of every type. Additions of f32 flush subnormals in global
// memory, but not in shared memory.
func TestAtomicFloat(t *testing.T) {
	body := `.shared .align 8 .b8 s[16];
	mov.f32 %f1, 0f00000001;
	mov.f32 %f2, 0f3FC00000;
	atom.global.add.f32 %f3, [%rd0], %f2;
	st.global.f32 [%rd0+4], %f3;
	red.global.add.f32 [%rd0+8], %f1;
	st.shared.f32 [s], %f1;
	red.shared.add.f32 [s], %f1;
	ld.shared.f32 %f3, [s];
	st.global.f32 [%rd0+12], %f3;
	mov.f64 %fd1, 0d3FF0000000000000;
	red.global.add.f64 [%rd0+16], %fd1;
	mov.b32 %r1, 0x3c003c01;
	red.global.add.noftz.f16x2 [%rd0+24], %r1;
	mov.b16 %h1, 0x0001;
	atom.global.add.noftz.f16 %h2, [%rd0+28], %h1;
	mov.b16 %h3, 0x3f80;
	red.global.add.noftz.bf16 [%rd0+30], %h3;
	mov.b32 %r2, 0x40003f80;
	atom.global.add.noftz.bf16x2 %r3, [%rd0+32], %r2;
	st.global.b32 [%rd0+36], %r3;`
	data := make([]byte, 64)
	put := func(at int, v uint32) { binary.LittleEndian.PutUint32(data[at:], v) }
	put(0, math.Float32bits(2))
	put(8, 0x80000003)
	binary.LittleEndian.PutUint64(data[16:], math.Float64bits(0.5))
	put(24, 0x40000001)
	put(28, 0x3f800001)
	put(32, 0x3f803f80)
	got := u32s(runOn(t, deviceFor(t, ptx.SM90a, Options{}), kernelText(body), 1, 1, data))
	f64 := math.Float64bits(1.5)
	for i, want := range []uint32{
		math.Float32bits(3.5), math.Float32bits(2), 0x00000000, 0x00000002,
		uint32(f64), uint32(f64 >> 32), 0x42003c01, 0x40000002, 0x40404000, 0x3f803f80,
	} {
		if got[i] != want {
			t.Errorf("word %d: %#x, want %#x", i, got[i], want)
		}
	}
}

func TestAtomicVector(t *testing.T) {
	body := `mov.f32 %f1, 0f3F800000;
	mov.f32 %f2, 0f40000000;
	atom.global.add.v2.f32 {%f3, %f4}, [%rd0], {%f1, %f2};
	st.global.v2.f32 [%rd0+8], {%f3, %f4};
	mov.b16 %h1, 0x3c00;
	mov.b16 %h2, 0xbc00;
	red.global.max.noftz.v2.f16 [%rd0+16], {%h1, %h2};
	red.global.min.noftz.v4.bf16 [%rd0+24], {%h1, %h2, %h1, %h2};
	mov.b32 %r1, 0x3c003c00;
	red.global.add.noftz.v2.f16x2 [%rd0+32], {%r1, %r1};`
	data := bytesOf(f32bits(10), f32bits(20), 0, 0, 0x40004000, 0, 0, 0, 0x3c000000, 0x0000bc00)
	got := u32s(runOn(t, deviceFor(t, ptx.SM90a, Options{}), kernelText(body), 1, 1, data))
	for i, want := range []uint32{f32bits(11), f32bits(22), f32bits(10), f32bits(20), 0x40004000, 0, 0xbc000000, 0xbc000000, 0x40003c00, 0x3c000000} {
		if got[i] != want {
			t.Errorf("word %d: %#x, want %#x", i, got[i], want)
		}
	}
}

// TestAtomicLanes checks that every lane gets its own old value, in the order of the lanes.
func TestAtomicLanes(t *testing.T) {
	got := u32s(runText(t, kernelText(`mov.u32 %r2, 2;
	and.b32 %r3, %r0, 1;
	setp.eq.u32 %p1, %r3, 1;
	@%p1 atom.global.add.u32 %r1, [%rd0+128], %r2;
	@!%p1 mov.u32 %r1, 999;`+store), 1, 32, 132))
	for lane := range 32 {
		want := uint32(999)
		if lane%2 == 1 {
			want = uint32(lane - 1)
		}
		if got[lane] != want {
			t.Errorf("lane %d has %d, want %d", lane, got[lane], want)
		}
	}
	if got[32] != 32 {
		t.Errorf("the sum is %d, want 32", got[32])
	}
}

// TestAtomicParallel adds to the same words from many blocks at once.
func TestAtomicParallel(t *testing.T) {
	body := `and.b32 %r2, %r0, 7;
	mul.wide.u32 %rd1, %r2, 8;
	add.u64 %rd1, %rd0, %rd1;
	mov.u32 %r3, 0;
LOOP:
	red.global.add.u64 [%rd1], 3;
	add.u32 %r3, %r3, 1;
	setp.lt.u32 %p1, %r3, 50;
	@%p1 bra LOOP;`
	d := deviceFor(t, ptx.SM90a, Options{})
	for i, v := range u64s(runOn(t, d, kernelText(body), 64, 64, make([]byte, 64))) {
		if want := uint64(64 * 8 * 50 * 3); v != want {
			t.Errorf("word %d is %d, want %d", i, v, want)
		}
	}
}

func TestAtomicFaults(t *testing.T) {
	d := deviceFor(t, ptx.SM90a, Options{})
	failText(t, d, kernelText("atom.global.add.u32 %r1, [%rd0+2], 1;"), 1, 1, "not aligned to 4 bytes")
	failText(t, d, kernelText("red.global.add.u32 [%rd0+4096], 1;"), 1, 1, "past the end")
	failText(t, d, kernelText(".shared .b32 s;\nred.shared.add.u32 [s+4], 1;"), 1, 1, "shared-memory access")
}
