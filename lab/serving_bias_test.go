package lab

import (
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
