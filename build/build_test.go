package build_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

// code returns the kernel's instructions and labels, one per line, without declarations, .loc
// and the header.
func code(t *testing.T, k *build.Kernel) string {
	t.Helper()
	m, err := k.Module()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, s := range m.Funcs()[0].Body {
		switch s := s.(type) {
		case *ptx.Inst:
			fmt.Fprintln(&b, s)
		case *ptx.Label:
			fmt.Fprintf(&b, "%s:\n", s.Sym.Name)
		}
	}
	return b.String()
}

func checkCode(t *testing.T, k *build.Kernel, want string) {
	t.Helper()
	if got := code(t, k); got != strings.ReplaceAll(strings.TrimLeft(want, "\n"), "\t", "") {
		t.Errorf("got\n%s\nwant%s", got, want)
	}
}

func TestIfElse(t *testing.T) {
	k := build.New("k", ptx.SM80)
	out, n := build.ParamGlobal[build.U32](k, "out"), k.ParamU32("n")
	r := build.NewVar(k.U32(7))
	k.If(n.SetpLt(4), func() {
		r.Set(n.Add(1))
	}).Else(func() {
		r.Set(n.Sub(1))
	})
	out.St(r.Get())
	checkCode(t, k, `
		ld.param.u64 %rd0, [out];
		cvta.to.global.u64 %rd1, %rd0;
		ld.param.u32 %r0, [n];
		mov.b32 %r1, 7;
		setp.lt.u32 %p0, %r0, 4;
		@!%p0 bra $L1;
		add.u32 %r1, %r0, 1;
		bra $L2;
		$L1:
		sub.u32 %r1, %r0, 1;
		$L2:
		st.global.u32 [%rd1], %r1;
		ret;
`)
}

func TestLoopBreakContinue(t *testing.T) {
	k := build.New("k", ptx.SM80)
	out, n := build.ParamGlobal[build.U32](k, "out"), k.ParamU32("n")
	k.Loop(2, n, 3, func(i build.U32) {
		k.If(i.SetpEq(5), k.Continue)
		k.If(i.SetpEq(8), k.Break)
		out.At(i).St(i)
	})
	checkCode(t, k, `
		ld.param.u64 %rd0, [out];
		cvta.to.global.u64 %rd1, %rd0;
		ld.param.u32 %r0, [n];
		mov.b32 %r1, 2;
		setp.ge.u32 %p0, %r1, %r0;
		@%p0 bra $L5;
		$L1:
		mov.b32 %r2, %r1;
		setp.eq.u32 %p1, %r2, 5;
		@!%p1 bra $L2;
		bra $L4;
		$L2:
		setp.eq.u32 %p2, %r2, 8;
		@!%p2 bra $L3;
		bra $L5;
		$L3:
		mad.wide.u32 %rd2, %r2, 4, %rd1;
		st.global.u32 [%rd2], %r2;
		$L4:
		add.u32 %r1, %r1, 3;
		setp.lt.u32 %p3, %r1, %r0;
		@%p3 bra $L1;
		$L5:
		ret;
`)
}

func TestWhileUntil(t *testing.T) {
	k := build.New("k", ptx.SM80)
	flag, n := build.ParamGlobal[build.U32](k, "flag"), k.ParamU32("n")
	left := build.NewVar(n)
	k.While(func() build.Pred { return left.Get().SetpGt(0) }, func() {
		left.Set(left.Get().Shr(1))
	})
	k.Until(func() build.Pred { return flag.Ld(build.Acquire, build.Gpu).SetpNe(0) })
	checkCode(t, k, `
		ld.param.u64 %rd0, [flag];
		cvta.to.global.u64 %rd1, %rd0;
		ld.param.u32 %r0, [n];
		$L1:
		setp.gt.u32 %p0, %r0, 0;
		@!%p0 bra $L2;
		shr.u32 %r0, %r0, 1;
		bra $L1;
		$L2:
		ld.acquire.gpu.global.u32 %r1, [%rd1];
		setp.ne.u32 %p1, %r1, 0;
		@!%p1 bra $L2;
		ret;
`)
}

func TestSwitch(t *testing.T) {
	k := build.New("k", ptx.SM80)
	out, role := build.ParamGlobal[build.U32](k, "out"), k.ParamU32("role")
	set := func(v uint32) func() { return func() { out.St(v) } }
	k.Switch(role, build.Case(0, set(10)), build.Case(3, set(13)), build.Default(set(99)))
	checkCode(t, k, `
		ld.param.u64 %rd0, [out];
		cvta.to.global.u64 %rd1, %rd0;
		ld.param.u32 %r0, [role];
		setp.eq.u32 %p0, %r0, 0;
		@%p0 bra.uni $L1;
		setp.eq.u32 %p1, %r0, 3;
		@%p1 bra.uni $L2;
		bra.uni $L3;
		$L1:
		st.global.u32 [%rd1], 10;
		bra.uni $L4;
		$L2:
		st.global.u32 [%rd1], 13;
		bra.uni $L4;
		$L3:
		st.global.u32 [%rd1], 99;
		bra.uni $L4;
		$L4:
		ret;
`)
}

// TestVarKeepsOldValues checks that a value that was read before a Set does not change.
func TestVarKeepsOldValues(t *testing.T) {
	k := build.New("k", ptx.SM80)
	out, n := build.ParamGlobal[build.U32](k, "out"), k.ParamU32("n")
	a, b := build.NewVar(n), build.NewVar(k.U32(1))
	k.Loop(0, n, 1, func(build.U32) { // (a, b) = (b, a+b)
		old := a.Get()
		a.Set(b.Get())
		b.Set(old.Add(b.Get()))
	})
	out.St(a.Get())
	got := code(t, k)
	if !strings.Contains(got, "mov.b32 %r4, %r1;\nmov.b32 %r1, %r2;\nadd.u32 %r2, %r4, %r2;\n") {
		t.Errorf("Set changes a value that was read before:\n%s", got)
	}
}

// TestCoalesceSparesWgmma checks that a register that an asynchronous product still reads is not
// merged with a variable that is set before the product ends.
func TestCoalesceSparesWgmma(t *testing.T) {
	k := build.New("k", ptx.SM90a)
	out, desc := build.ParamGlobal[build.F32](k, "out"), k.ParamU64("desc")
	acc := build.Vars(k.F32(0), 4)
	frag := build.Vars(k.B32(0), 4)
	var a [4]build.B32
	for i := range a {
		a[i] = frag[i].Get()
	}
	k.WgmmaFence()
	k.WgmmaMmaAsync(build.WgmmaForm{A: ptx.E4M3, B: ptx.E4M3}, acc, a, desc, k.Pred(true))
	k.WgmmaCommitGroup()
	frag[0].Set(5)
	k.WgmmaWaitGroup(0)
	out.St(acc[0].Get())
	out.Plus(1).St(build.Cast[build.F32](frag[0].Get()))
	got := code(t, k)
	reads := got[strings.Index(got, "k32.f32.e4m3"):]
	set := reads[:strings.Index(reads, ", 5;")]
	reg := set[strings.LastIndex(set, "mov.b32 ")+len("mov.b32 "):]
	product := reads[:strings.Index(reads, "\n")]
	if strings.Contains(product, reg+",") {
		t.Errorf("%s is overwritten while %s is in flight", reg, product)
	}
}

func TestMisuse(t *testing.T) {
	for _, c := range []struct {
		name, want string
		write      func(k *build.Kernel)
	}{
		{"escape", "made inside If is used outside it", func(k *build.Kernel) {
			var v build.U32
			k.If(k.TidX().SetpEq(0), func() { v = k.TidX().Add(1) })
			build.ParamGlobal[build.U32](k, "p").St(v)
		}},
		{"zero value", "never given a value", func(k *build.Kernel) {
			var v build.U32
			k.TidX().Add(v)
		}},
		{"zero address", "an address is a zero value", func(k *build.Kernel) {
			k.MbarrierInit(build.Shared[build.B64](nil), 1)
		}},
		{"zero address of any space", "an address is a zero value", func(k *build.Kernel) {
			k.PrefetchL1(build.Global[build.F32](nil))
		}},
		{"other kernel", "belongs to kernel other", func(k *build.Kernel) {
			k.TidX().Add(build.New("other", ptx.SM80).TidX())
		}},
		{"modifier", "add has no modifier .relu", func(k *build.Kernel) {
			k.F32(1).Add(2, build.Relu)
		}},
		{"break", "Break outside of Loop", func(k *build.Kernel) { k.Break() }},
		{"else", "Else does not directly follow", func(k *build.Kernel) {
			b := k.If(k.TidX().SetpEq(0), func() {})
			k.SyncThreads()
			b.Else(func() {})
		}},
		{"name", `"a b" is not a PTX identifier`, func(k *build.Kernel) { k.ParamU32("a b") }},
		{"taken", `the name "n" is taken`, func(k *build.Kernel) { k.ParamU32("n"); k.ParamF32("n") }},
		{"parameter in a loop", "declare it at the top", func(k *build.Kernel) {
			k.If(k.TidX().SetpEq(0), func() { k.ParamU32("n") })
		}},
		{"cast", "cannot read the 32 bits of a .f32 as .u64", func(k *build.Kernel) { build.Cast[build.U64](k.F32(1)) }},
		{"pack", "two values of .u32 have 64 bits", func(k *build.Kernel) {
			build.Pack2[build.B32](k.TidX(), k.TidX())
		}},
		{"constant", "cpSize", func(k *build.Kernel) {
			k.CpAsyncCg(build.SharedArray[build.B8](k, "s", 64), build.ParamGlobal[build.B8](k, "g"), 8)
		}},
		{"target", "sm_90", func(k *build.Kernel) { k.ClusterCtarank(); k.BarrierClusterArrive() }},
		{"directive", ".maxntid was given already", func(k *build.Kernel) { k.MaxNTid(32); k.MaxNTid(64) }},
		{"two defaults", "two Defaults", func(k *build.Kernel) {
			k.Switch(k.TidX(), build.Default(func() {}), build.Default(func() {}))
		}},
		{"reduce width", "not 5", func(k *build.Kernel) {
			build.LaneReduce(k.F32(1), 5, func(a, b build.F32) build.F32 { return a.Add(b) })
		}},
		{"shared", "at least one", func(k *build.Kernel) { build.SharedArray[build.F32](k, "s", 0) }},
		{"beyond a shared array", "byte 32 of the shared variable s, which has 32 bytes", func(k *build.Kernel) {
			build.SharedArray[build.F32](k, "s", 8).At(8).St(1)
		}},
		{"before a shared array", "byte -4 of the shared variable s", func(k *build.Kernel) {
			build.SharedArray[build.F32](k, "s", 8).Plus(-1).Ld()
		}},
		{"across the end", "ld of 16 bytes at byte 24 of the shared variable s, which has 32 bytes", func(k *build.Kernel) {
			build.SharedArray[build.F32](k, "s", 8).At(6).LdV4()
		}},
		{"a barrier beyond", "byte 16 of the shared variable bars", func(k *build.Kernel) {
			k.MbarrierInit(build.SharedArray[build.B64](k, "bars", 2).At(2), 1)
		}},
		{"shared too large", "shared", func(k *build.Kernel) {
			s := build.SharedArray[build.F32](k, "s", 1<<20)
			s.St(1)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := build.New("k", ptx.SM80)
			c.write(k)
			_, err := k.PTX()
			if err == nil {
				t.Fatal("the kernel was accepted, want an error")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not say %q", err, c.want)
			}
			var e *build.Error
			if !errors.As(err, &e) || !strings.HasPrefix(e.Where, thisFile()+":") {
				t.Errorf("error %q does not name this file", err)
			}
		})
	}
}

// TestErrorsAreCollected checks that the error lists up to ten errors in order, each at its own
// line.
func TestErrorsAreCollected(t *testing.T) {
	k := build.New("k", ptx.SM80)
	for range 20 {
		k.Break()
	}
	_, err := k.PTX()
	var errs build.Errors
	if !errors.As(err, &errs) || len(errs) != 10 {
		t.Errorf("got %v, want ten errors", err)
	}
}

// thisFile returns how errors name this file. A binary that was built with -trimpath does
// not know where the file is on disk.
func thisFile() string {
	if _, path, _, _ := runtime.Caller(0); !filepath.IsAbs(path) {
		return path
	}
	return "build_test.go"
}

// TestWarnings checks that a doubtful directive is reported at its line, and that it is an error
// only in a strict kernel.
func TestWarnings(t *testing.T) {
	k := build.New("k", ptx.SM80)
	k.MinNCTAPerSM(2)
	out := build.ParamGlobal[build.U32](k, "out")
	out.St(1)
	if _, err := k.PTX(); err != nil {
		t.Fatal(err)
	}
	w := k.Warnings()
	if len(w) != 1 || !strings.Contains(w[0].Msg, ".minnctapersm is ignored") || !strings.HasPrefix(w[0].Where, thisFile()+":") {
		t.Errorf("warnings %v", w)
	}
	k.Strict()
	if _, err := k.PTX(); err == nil || err.Error() != w.Error() {
		t.Errorf("the strict kernel's error is %v, want %v", err, w)
	}
}

// TestSameEverywhere checks that writing a kernel twice gives the same text, and that the text
// contains no path of this machine.
func TestSameEverywhere(t *testing.T) {
	write := func() string {
		k := build.New("k", ptx.SM80)
		build.ParamGlobal[build.U32](k, "p").At(k.TidX()).St(k.TidX())
		s, err := k.PTX()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := write()
	if s != write() {
		t.Error("writing the kernel twice gives different texts")
	}
	if !strings.Contains(s, `.file 1 "github.com/GOATnote-Inc/attest/build/build_test.go"`) {
		t.Errorf("the text has no import path:\n%s", s)
	}
}

// TestZeroReceiver checks that a method of a zero value panics with an explanation, because the
// value has no kernel that could report an error.
func TestZeroReceiver(t *testing.T) {
	defer func() {
		if r := fmt.Sprint(recover()); !strings.Contains(r, "zero U32") {
			t.Errorf("panic %q", r)
		}
	}()
	var v build.U32
	v.Add(v)
}

// This example builds a kernel with Go code and prints its PTX.
func Example() {
	k := build.New("iota", ptx.SM80)
	out, n := build.ParamGlobal[build.U32](k, "out"), k.ParamU32("n")
	i := k.CtaidX().MadLo(k.NtidX(), k.TidX())
	k.If(i.SetpLt(n), func() { out.At(i).St(i) })
	m, err := k.Module()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range m.Func("iota").Body {
		if in, ok := s.(*ptx.Inst); ok {
			fmt.Println(in)
		}
	}
	// Output:
	// ld.param.u64 %rd0, [out];
	// cvta.to.global.u64 %rd1, %rd0;
	// ld.param.u32 %r0, [n];
	// mov.u32 %r1, %ctaid.x;
	// mov.u32 %r2, %ntid.x;
	// mov.u32 %r3, %tid.x;
	// mad.lo.u32 %r4, %r1, %r2, %r3;
	// setp.lt.u32 %p0, %r4, %r0;
	// @!%p0 bra $L1;
	// mad.wide.u32 %rd2, %r4, 4, %rd1;
	// st.global.u32 [%rd2], %r4;
	// ret;
}

func TestSetpBool(t *testing.T) {
	k := build.New("k", ptx.SM90)
	n := k.ParamU32("n")
	n.SetpBool(build.Gt, build.Xor, 2, n.SetpLt(4))
	text, err := k.PTX()
	if err != nil || !strings.Contains(string(text), "setp.gt.xor.u32") {
		t.Errorf("SetpBool(Gt, Xor) is not setp.gt.xor.u32 in\n%s%v", text, err)
	}
}
