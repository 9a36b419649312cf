package lab

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// biasKernel adds a bias [B,H,Sq,Skv] to the logits.
func biasKernel(load func(*build.Kernel, string) func(build.U32) build.F32, f fault) *build.Kernel {
	k := build.New("serve", ptx.SM80)
	s := &servingKernel{Kernel: k, q: loadF16(k, "q"), kk: loadF16(k, "k"), v: loadF16(k, "v"), o: build.ParamGlobal[build.F32](k, "o")}
	bias, heads, sq, skv := load(k, "bias"), k.ParamU32("heads"), k.ParamU32("sq"), k.ParamU32("skv")
	s.scale = k.ParamF32("scale")
	row := k.CtaidX()
	head := row.Div(sq)
	s.qRow, s.oRow, s.keys = row, row, skv
	s.key = func(j build.U32) build.U32 { return head.MadLo(skv, j) }
	at := row
	switch f {
	case "the bias of the first head":
		at = head.Div(heads).MulLo(heads).MadLo(sq, row.Rem(sq))
	case "the bias of the first sequence":
		at = row.Rem(heads.MulLo(sq))
	}
	s.bias = func(j build.U32) build.F32 {
		if f == "the bias of the next key" {
			j = j.Add(1).Rem(skv)
		}
		x := bias(at.MadLo(skv, j))
		if f == "the bias before the scale" {
			x = x.Mul(s.scale)
		}
		return x
	}
	if f == "no bias" {
		s.bias = nil
	}
	s.emit()
	return k
}

const biasABI = `{"entry": "serve", "format": "f16", "output": "f32", "p": "f32", "bias": "TYPE",
  "params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"}, {"pointer": "bias"}, {"u32": "H"}, {"u32": "Sq"}, {"u32": "Skv"}, {"f32": "scale*1.4426950408889634"}],
  "grid": ["B*H*Sq"], "block": ["D"], "require": ["D == 16", "H == Hkv"]}`

// ropeKernel rotates the rows of Q and K by their positions.
func ropeKernel(by problem.Rotation, f fault) *build.Kernel {
	k := build.New("serve", ptx.SM80)
	s := &servingKernel{Kernel: k, q: loadF16(k, "q"), kk: loadF16(k, "k"), v: loadF16(k, "v"), o: build.ParamGlobal[build.F32](k, "o")}
	cos, sin, sq, skv := loadF32(k, "cos"), loadF32(k, "sin"), k.ParamU32("sq"), k.ParamU32("skv")
	s.scale = k.ParamF32("scale")
	row := k.CtaidX()
	head := row.Div(sq)
	s.qRow, s.oRow, s.keys = row, row, skv
	s.key = func(j build.U32) build.U32 { return head.MadLo(skv, j) }
	first := skv.Max(sq).Sub(sq) // the position of the first query
	switch f {
	case "queries begin at 0":
		first = k.U32(0)
	case "pairs":
		by = problem.RotatePairs
	case "halves":
		by = problem.RotateHalves
	}
	position := row.Rem(sq).Add(first)
	const half = servingDim / 2
	rotated := func(load func(build.U32) build.F32, at, position, i build.U32) (x, y build.F32) {
		if by == problem.RotatePairs {
			at = at.Add(i.MulLo(2))
			x, y = load(at), load(at.Add(1))
		} else {
			x, y = load(at.Add(i)), load(at.Add(i).Add(half))
		}
		c, d := cos(position.MadLo(half, i)), sin(position.MadLo(half, i))
		return x.Mul(c).Sub(y.Mul(d)), x.Mul(d).Add(y.Mul(c))
	}
	s.dot = func(j build.U32) build.F32 {
		sum := build.NewVar(k.F32(0))
		k.Loop(0, half, 1, func(i build.U32) {
			qx, qy := rotated(s.q, s.qRow.MulLo(servingDim), position, i)
			at, of := s.key(j).MulLo(servingDim), j
			switch f {
			case "K is not rotated":
				of = k.U32(0)
			case "the position of the next key":
				of = j.Add(1).Min(skv.Sub(1))
			}
			kx, ky := rotated(s.kk, at, of, i)
			sum.Set(qx.FmaRn(kx, qy.FmaRn(ky, sum.Get())))
		})
		return sum.Get()
	}
	s.emit()
	return k
}

const ropeABI = `{"entry": "serve", "format": "f16", "output": "f32", "p": "f32", "rope": "HOW",
  "params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"}, {"pointer": "rope_cos"}, {"pointer": "rope_sin"}, {"u32": "Sq"}, {"u32": "Skv"}, {"f32": "scale*1.4426950408889634"}],
  "grid": ["B*H*Sq"], "block": ["D"], "require": ["D == 16", "H == Hkv"]}`

// TestUnwrittenWorkspace judges a kernel that reads a workspace which nobody wrote, and multiplies
// what it finds by zero. The result is right unless the workspace holds NaN or infinity.
func TestUnwrittenWorkspace(t *testing.T) {
	k := build.New("serve", ptx.SM80)
	s := &servingKernel{Kernel: k, q: loadF16(k, "q"), kk: loadF16(k, "k"), v: loadF16(k, "v"), o: build.ParamGlobal[build.F32](k, "o")}
	space, sq, skv := loadF32(k, "space"), k.ParamU32("sq"), k.ParamU32("skv")
	s.scale = k.ParamF32("scale")
	row := k.CtaidX()
	s.qRow, s.oRow, s.keys = row, row, skv
	s.key = func(j build.U32) build.U32 { return row.Div(sq).MadLo(skv, j) }
	s.bias = func(j build.U32) build.F32 { return space(j).Mul(0) }
	s.emit()
	text, err := k.PTX()
	if err != nil {
		t.Fatal(err)
	}
	call, err := abi.Parse("serve.json", []byte(`{"entry": "serve", "format": "f16", "output": "f32", "p": "f32",
  "params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"}, {"pointer": "workspace", "bytes": "4*Skv"}, {"u32": "Sq"}, {"u32": "Skv"}, {"f32": "scale*1.4426950408889634"}],
  "grid": ["B*H*Sq"], "block": ["D"], "require": ["D == 16", "H == Hkv"]}`))
	if err != nil {
		t.Fatal(err)
	}
	subject, err := External("serve", text, call)
	if err != nil {
		t.Fatal(err)
	}
	_, v := measure(t, subject, servingPlan())
	wants(t, v, record.Reject, "uninit-global")
}

// TestWorkQueue judges a right kernel that is unusual: its few blocks draw rows from a counter in a
// workspace, so each run gives the blocks other rows, and all arithmetic of the softmax is in f64. A
// block that does not wait until its threads have read the number of the row is rejected.
func TestWorkQueue(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	call, err := abi.Parse("serve.json", []byte(`{"entry": "serve", "format": "f16", "output": "f32", "p": "f32",
  "params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"}, {"pointer": "workspace", "bytes": "4", "zero": true},
    {"u32": "B*H*Sq"}, {"u32": "Sq"}, {"u32": "Skv"}, {"f32": "scale*1.4426950408889634"}],
  "grid": ["3"], "block": ["2*D"], "require": ["D == 16", "H == Hkv"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for missing, want := range map[string]record.Outcome{"": record.Correct, "bar.sync 1;": record.Reject} {
		s, err := External("serve", strings.Replace(workQueue, missing, "", 1), call)
		if err != nil {
			t.Fatal(err)
		}
		if _, v := measure(t, s, servingPlan()); v.Outcome != want {
			t.Errorf("without %q: %s: %s", missing, v.Outcome, v.Why)
		}
	}
}

// workQueue computes attention with D = 16 by blocks of 32 threads, of which 16 store a column each.
const workQueue = `.version 8.0
.target sm_80
.address_size 64

.visible .entry serve(.param .u64 q, .param .u64 k, .param .u64 v, .param .u64 o, .param .u64 queue,
	.param .u32 rows, .param .u32 sq, .param .u32 skv, .param .f32 scale)
{
	.reg .pred %p<4>;
	.reg .b16 %h<3>;
	.reg .b32 %r<12>;
	.reg .f32 %f<4>;
	.reg .f64 %d<12>;
	.reg .b64 %a<10>;
	.shared .align 4 .b32 drawn;
	ld.param.u64 %a0, [q];
	ld.param.u64 %a1, [k];
	ld.param.u64 %a2, [v];
	ld.param.u64 %a3, [o];
	ld.param.u64 %a4, [queue];
	ld.param.u32 %r0, [rows];
	ld.param.u32 %r1, [sq];
	ld.param.u32 %r2, [skv];
	ld.param.f32 %f0, [scale];
	cvt.f64.f32 %d0, %f0;
	mov.u32 %r3, %tid.x;
	and.b32 %r4, %r3, 15; // the column
NEXT:
	setp.ne.u32 %p0, %r3, 0;
	@%p0 bra DRAWN;
	atom.global.add.u32 %r5, [%a4], 1;
	st.shared.u32 [drawn], %r5;
DRAWN:
	bar.sync 0;
	ld.shared.u32 %r5, [drawn];
	bar.sync 1;
	setp.ge.u32 %p0, %r5, %r0;
	@%p0 ret;
	div.u32 %r6, %r5, %r1;
	mul.lo.u32 %r6, %r6, %r2; // the first key of the head
	mov.f64 %d1, 0dFFEFFFFFFFFFFFFF; // the maximum
	mov.f64 %d2, 0d0000000000000000; // the sum
	mov.f64 %d3, 0d0000000000000000; // the output
	mov.u32 %r7, 0;
KEY:
	mov.f64 %d4, 0d0000000000000000;
	mov.u32 %r8, 0;
DOT:
	mad.lo.u32 %r9, %r5, 16, %r8;
	mad.wide.u32 %a5, %r9, 2, %a0;
	ld.global.b16 %h0, [%a5];
	mad.lo.u32 %r9, %r6, 16, %r8;
	mad.wide.u32 %a6, %r9, 2, %a1;
	ld.global.b16 %h1, [%a6];
	cvt.f64.f16 %d5, %h0;
	cvt.f64.f16 %d6, %h1;
	fma.rn.f64 %d4, %d5, %d6, %d4;
	add.u32 %r8, %r8, 1;
	setp.lt.u32 %p1, %r8, 16;
	@%p1 bra DOT;
	mul.rn.f64 %d4, %d4, %d0;
	max.f64 %d5, %d1, %d4;
	sub.rn.f64 %d6, %d1, %d5;
	sub.rn.f64 %d7, %d4, %d5;
	mov.f64 %d1, %d5;
	cvt.rn.f32.f64 %f1, %d6;
	cvt.rn.f32.f64 %f2, %d7;
	ex2.approx.f32 %f1, %f1;
	ex2.approx.f32 %f2, %f2;
	cvt.f64.f32 %d6, %f1;
	cvt.f64.f32 %d7, %f2;
	fma.rn.f64 %d2, %d2, %d6, %d7;
	mad.lo.u32 %r9, %r6, 16, %r4;
	mad.wide.u32 %a7, %r9, 2, %a2;
	ld.global.b16 %h2, [%a7];
	cvt.f64.f16 %d8, %h2;
	mul.rn.f64 %d8, %d8, %d7;
	fma.rn.f64 %d3, %d3, %d6, %d8;
	add.u32 %r6, %r6, 1;
	add.u32 %r7, %r7, 1;
	setp.lt.u32 %p1, %r7, %r2;
	@%p1 bra KEY;
	div.rn.f64 %d3, %d3, %d2;
	cvt.rn.f32.f64 %f3, %d3;
	setp.gt.u32 %p2, %r3, 15;
	mad.lo.u32 %r9, %r5, 16, %r4;
	mad.wide.u32 %a8, %r9, 4, %a3;
	@!%p2 st.global.f32 [%a8], %f3;
	bra NEXT;
}
`
