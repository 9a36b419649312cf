package build_test

import (
	"errors"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestImmediates checks that Go numbers and constants that the kernel makes give the same text.
func TestImmediates(t *testing.T) {
	type lanes int
	short := func(k *build.Kernel) {
		out, sums, n := build.ParamGlobal[build.U32](k, "out"), build.ParamGlobal[build.F32](k, "sums"), k.ParamU32("n")
		bar := build.SharedArray[build.B64](k, "bar", 1)
		k.MbarrierInit(bar, 1)
		k.Loop(0, n, lanes(4), func(i build.U32) {
			v := i.Shr(5).Add(uint8(1)).And(0xffffffff)
			w := build.Cast[build.B32](v).Prmt(build.Cast[build.B32](i), 0x6420)
			k.If(v.SetpLt(16).And(i.CvtS32().SetpGt(-1)), func() { out.At(i).St(build.Cast[build.U32](w)) })
			out.Atom(build.AtomicAdd, 1)
			sums.At(i).St(i.CvtRnF32().Max(0.5).FmaRn(2, math.Inf(-1)))
		})
		total := build.NewVar(n)
		total.Set(7)
		out.St(total.Get().CvtU64().Or(1 << 40).CvtU32())
		sums.St(-0.25)
	}
	long := func(k *build.Kernel) {
		out, sums, n := build.ParamGlobal[build.U32](k, "out"), build.ParamGlobal[build.F32](k, "sums"), k.ParamU32("n")
		bar := build.SharedArray[build.B64](k, "bar", 1)
		k.MbarrierInit(bar, k.U32(1))
		k.Loop(k.U32(0), n, k.U32(4), func(i build.U32) {
			v := i.Shr(k.U32(5)).Add(k.U32(1)).And(k.U32(0xffffffff))
			w := build.Cast[build.B32](v).Prmt(build.Cast[build.B32](i), k.B32(0x6420))
			k.If(v.SetpLt(k.U32(16)).And(i.CvtS32().SetpGt(k.S32(-1))), func() { out.At(i).St(build.Cast[build.U32](w)) })
			out.Atom(build.AtomicAdd, k.U32(1))
			sums.At(i).St(i.CvtRnF32().Max(k.F32(0.5)).FmaRn(k.F32(2), k.F32(float32(math.Inf(-1)))))
		})
		total := build.NewVar(n)
		total.Set(k.U32(7))
		out.St(total.Get().CvtU64().Or(k.U64(1 << 40)).CvtU32())
		sums.St(k.F32(-0.25))
	}
	var texts []string
	for _, write := range []func(*build.Kernel){short, long} {
		k := build.New("k", ptx.SM90)
		write(k)
		texts = append(texts, code(t, k))
	}
	if texts[0] != texts[1] {
		t.Errorf("with Go numbers\n%s\nwith constants\n%s", texts[0], texts[1])
	}
}

// TestConstantIndex checks that a constant index needs no instruction.
func TestConstantIndex(t *testing.T) {
	k := build.New("k", ptx.SM80)
	s := build.SharedArray[build.U32](k, "s", 8)
	s.At(3).St(5)
	build.ParamGlobal[build.U32](k, "out").At(2).St(s.At(3).Ld())
	checkCode(t, k, `
		st.shared.u32 [s+12], 5;
		ld.param.u64 %rd0, [out];
		cvta.to.global.u64 %rd1, %rd0;
		ld.shared.u32 %r0, [s+12];
		st.global.u32 [%rd1+8], %r0;
		ret;
`)
}

// TestImmediateMisuse checks that a number that an instruction cannot take is reported at the
// line of the call.
func TestImmediateMisuse(t *testing.T) {
	for _, c := range []struct {
		name, want string
		write      func(k *build.Kernel)
	}{
		{"register of another type", "add.u32: a .f32 register stands where a .u32 is needed", func(k *build.Kernel) { k.TidX().Add(k.F32(1)) }},
		{"register of the same size", "shr.u32: a .s32 register stands where a .u32 is needed", func(k *build.Kernel) { k.TidX().Shr(k.S32(1)) }},
		{"too large", "4294967296 does not fit a .u32, which holds 0 to 4294967295", func(k *build.Kernel) { k.TidX().Add(1 << 32) }},
		{"negative", "-1 does not fit a .u32", func(k *build.Kernel) { k.TidX().Add(-1) }},
		{"too large for signed", "2147483648 does not fit a .s32, which holds -2147483648 to 2147483647", func(k *build.Kernel) { k.S32(0).Add(1 << 31) }},
		{"float for an integer", "the float 0.5 stands where a .u32 is needed", func(k *build.Kernel) { k.TidX().Add(0.5) }},
		{"string", "a Go value of type string", func(k *build.Kernel) { k.TidX().Add("1") }},
		{"nil", "a Go value of type <nil>", func(k *build.Kernel) { k.TidX().Add(nil) }},
		{"inexact float", "16777217 is not exact as a .f32", func(k *build.Kernel) { k.F32(1).Mul(1<<24 + 1) }},
		{"float too large", "1e+300 does not fit a .f32", func(k *build.Kernel) { k.F32(1).Mul(1e300) }},
		{"half", "PTX has no immediates of type .f16: make a register with k.F16", func(k *build.Kernel) { build.SharedArray[build.F16](k, "s", 1).St(1) }},
		{"loop", "the float 0.5 stands where a .u32 is needed", func(k *build.Kernel) { k.Loop(0.5, 4, 1, func(build.U32) {}) }},
		{"index", "a .f32 register stands where a .u32 is needed", func(k *build.Kernel) { build.SharedArray[build.U32](k, "s", 4).At(k.F32(1)) }},
		{"coordinates", "not a []int", func(k *build.Kernel) {
			s, bar := build.SharedArray[build.B8](k, "s", 128), build.SharedArray[build.B64](k, "bar", 1)
			k.CpAsyncBulkTensorSharedClusterGlobal(s, k.ParamTensorMap("m"), []int{0, 0}, bar)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := build.New("k", ptx.SM90)
			c.write(k)
			_, err := k.PTX()
			var e *build.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want an error with a position", err)
			}
			if !strings.Contains(e.Msg, c.want) {
				t.Errorf("error %q does not say %q", e.Msg, c.want)
			}
			if !strings.Contains(e.Where, "immediate_test.go:") {
				t.Errorf("error at %s, not in this file", e.Where)
			}
		})
	}
	k := build.New("k", ptx.SM80)
	_, _, line, _ := runtime.Caller(0)
	k.TidX().Add(0.5)
	if _, err := k.PTX(); err == nil || !strings.Contains(err.Error(), "immediate_test.go:"+strconv.Itoa(line+1)) {
		t.Errorf("%v, want line %d", err, line+1)
	}
}
