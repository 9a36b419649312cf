package emu

import (
	"slices"
	"strings"
	"testing"
)

// TestVectorRegisters uses vector registers as whole operands of mov: a mov packs all elements,
// unpacks to all elements, or moves all elements.
func TestVectorRegisters(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       []uint64
	}{
		{"unpack 2 x 16", `.reg .v2 .b16 v; .reg .b32 s;
			mov.b32 s, 0x11223344;
			mov.b32 v, s;
			st.global.b16 [%rd0], v.x; st.global.b16 [%rd0+8], v.y;`, []uint64{0x3344, 0x1122}},
		{"pack 2 x 16", `.reg .v2 .b16 v; .reg .b32 s;
			mov.b16 v.x, 0x3344; mov.b16 v.y, 0x1122;
			mov.b32 s, v;
			st.global.b32 [%rd0], s;`, []uint64{0x11223344}},
		{"pack 2 x u32", `.reg .v2 .u32 v; .reg .b64 s;
			mov.u32 v.x, 0x55667788; mov.u32 v.y, 0x11223344;
			mov.b64 s, v;
			st.global.b64 [%rd0], s;`, []uint64{0x1122334455667788}},
		{"unpack 4 x 16", `.reg .v4 .b16 v; .reg .b64 s;
			mov.b64 s, 0x1122334455667788;
			mov.b64 v, s;
			st.global.b16 [%rd0], v.w; st.global.b16 [%rd0+8], v.z; st.global.b16 [%rd0+16], v.y; st.global.b16 [%rd0+24], v.x;`,
			[]uint64{0x1122, 0x3344, 0x5566, 0x7788}},
		{"pack 4 x 8", `.reg .v4 .b8 v; .reg .b32 s;
			mov.b32 s, 0x04030201;
			mov.b32 v, s;
			mov.b32 s, v;
			st.global.b32 [%rd0], s;`, []uint64{0x04030201}},
		{"vector to vector", `.reg .v2 .b16 v, w;
			mov.b16 v.x, 7; mov.b16 v.y, 9;
			mov.b32 w, v;
			st.global.b16 [%rd0], w.x; st.global.b16 [%rd0+8], w.y;`, []uint64{7, 9}},
		{"vector to braces", `.reg .v4 .b16 v; .reg .b32 a, b;
			mov.b16 v.x, 1; mov.b16 v.y, 2; mov.b16 v.z, 3; mov.b16 v.w, 4;
			mov.b64 {a, b}, v;
			st.global.b32 [%rd0], a; st.global.b32 [%rd0+8], b;`, []uint64{0x20001, 0x40003}},
		{"swap", `.reg .v2 .b32 v;
			mov.b32 v.x, 1; mov.b32 v.y, 2;
			mov.b64 v, {v.y, v.x};
			st.global.v2.b32 [%rd0], v;`, []uint64{0x0000000100000002}},
		{"128 bits", `.reg .v2 .b64 v, w; .reg .b128 q;
			mov.b64 v.x, 3; mov.b64 v.y, 5;
			mov.b128 q, v;
			mov.b128 w, q;
			st.global.b64 [%rd0], w.x; st.global.b64 [%rd0+8], w.y;`, []uint64{3, 5}},
		{"some lanes", `.reg .v2 .b16 v; .reg .b32 s;
			mov.b16 v.x, 7; mov.b16 v.y, 9;
			mov.b32 s, 0x11223344;
			setp.eq.u32 %p1, %r0, 1;
			@%p1 mov.b32 v, s;
			mov.b32 s, v;
			mul.wide.u32 %rd1, %r0, 8; add.u64 %rd0, %rd0, %rd1;
			st.global.b32 [%rd0], s;`, []uint64{0x00090007, 0x11223344}},
	} {
		got := u64s(runText(t, kernelText(c.body), 1, max(1, strings.Count(c.name, "lanes")*2), 8*len(c.want)))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.want)
		}
	}
}

// TestVectorArguments passes whole vector registers to functions and back, into registers and
// into .param memory.
func TestVectorArguments(t *testing.T) {
	text := header + `
.func (.reg .v2 .b32 back) swap(.reg .v2 .b32 v)
{
	mov.b32 back.x, v.y;
	mov.b32 back.y, v.x;
	ret;
}
.func (.param .b64 back) sum(.param .align 16 .b8 in[32], .reg .v4 .b16 more)
{
	.reg .v4 .b64 v;
	.reg .b64 %s, %m;
	.reg .b32 %t;
	ld.param.v2.b64 {v.x, v.y}, [in];
	ld.param.v2.b64 {v.z, v.w}, [in+16];
	add.u64 %s, v.x, v.y;
	add.u64 %s, %s, v.z;
	add.u64 %s, %s, v.w;
	mov.b64 %m, more;
	add.u64 %s, %s, %m;
	st.param.b64 [back], %s;
	ret;
}
` + strings.TrimPrefix(kernelText(`
	.reg .v2 .b32 v;
	.reg .v4 .b64 w;
	.reg .v4 .b16 h;
	.reg .v2 .b32 s;
	mov.b32 v.x, %r0;
	mov.b32 v.y, 100;
	call (v), swap, (v);
	mov.b64 w.x, 1; mov.b64 w.y, 20; mov.b64 w.z, 300; mov.b64 w.w, 4000;
	mov.b64 %rd2, 0x100000000;
	mov.b64 h, %rd2;
	call (s), sum, (w, h);
	mul.wide.u32 %rd1, %r0, 16;
	add.u64 %rd0, %rd0, %rd1;
	st.global.v2.b32 [%rd0], v;
	st.global.v2.b32 [%rd0+8], s;`), header)
	for i, v := range u32s(runText(t, text, 1, 32, 32*16)) {
		if want := []uint32{100, uint32(i / 4), 4321, 1}[i%4]; v != want {
			t.Fatalf("word %d of thread %d is %d, want %d", i%4, i/4, v, want)
		}
	}
}
