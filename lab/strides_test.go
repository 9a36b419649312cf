package lab

import (
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// stridedKernel computes attention on rows that have gaps between them. It gets the strides of
// rows as arguments.
func stridedKernel(f fault) *build.Kernel {
	k := build.New("serve", ptx.SM80)
	s := &servingKernel{Kernel: k, q: loadF16(k, "q"), kk: loadF16(k, "k"), v: loadF16(k, "v"), o: build.ParamGlobal[build.F32](k, "o")}
	heads, sq, skv := k.ParamU32("heads"), k.ParamU32("sq"), k.ParamU32("skv")
	batchO, rowK, headK := k.ParamU32("batcho"), k.ParamU32("rowk"), k.ParamU32("headk")
	s.scale = k.ParamF32("scale")
	if f == "K without gaps" {
		rowK = k.AsU32(servingDim)
	}
	row := k.CtaidX()
	head := row.Div(sq)
	s.qRow, s.keys = row, skv
	s.oRow = head.Div(heads).MulLo(batchO).Div(servingDim).Add(row.Rem(sq.MulLo(heads)))
	s.key = func(j build.U32) build.U32 { return head.MulLo(headK).Add(j.MulLo(rowK)).Div(servingDim) }
	s.own = func(do func()) {
		do()
		if f == "a gap of O is written" {
			at := head.Div(heads).Add(1).MulLo(batchO).Sub(1)
			k.If(row.SetpEq(0), func() { s.o.At(at).St(k.F32(1)) })
		}
	}
	s.emit()
	return k
}

// In stridedCall the rows of K and V alternate in one tensor, as in the cache of vLLM, and the
// batches of O have gaps between them.
const stridedCall = `{
  "op": "attention", "fixed": {"D": "16", "format": "f16", "output": "f32", "scaling": "none", "layout": "BHSD", "mask": "none", "lse": "false"},
  "supports": ["cross-lengths", "scale"],
  "operands": [
    {"name": "q", "type": "f16", "role": "input", "dims": ["B", "H", "Sq", "D"]},
    {"name": "k", "type": "f16", "role": "input", "dims": ["B", "Hkv", "Skv", "D"], "strides": ["2*Hkv*Skv*D", "2*Skv*D", "2*D", "1"]},
    {"name": "v", "type": "f16", "role": "input", "dims": ["B", "Hkv", "Skv", "D"], "strides": ["2*Hkv*Skv*D", "2*Skv*D", "2*D", "1"]},
    {"name": "o", "type": "f32", "role": "output", "dims": ["B", "H", "Sq", "D"], "strides": ["H*Sq*D + 3*D", "Sq*D", "D", "1"]}
  ],
  "launches": [{"entry": "serve", "grid": ["B*H*Sq"], "block": ["D"], "args": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"},
    {"u32": "H"}, {"u32": "Sq"}, {"u32": "Skv"}, {"u32": "o.stride0"}, {"u32": "k.stride2"}, {"u32": "k.stride1"}, {"f32": "scale*1.4426950408889634"}]}],
  "claims": {"p": "f32"}
}`

// TestOperandStrides judges kernels whose operands have gaps.
func TestOperandStrides(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	call, err := abi.Parse("strided.json", []byte(stridedCall))
	if err != nil {
		t.Fatal(err)
	}
	p := servingPlan()
	p.Cases[0].Shape, p.Cases[2].Shape = problem.Square(2, 2, 9, 0), problem.Square(1, 2, 33, 0)
	for f, want := range map[fault]record.Outcome{"": record.Correct, "K without gaps": record.Reject, "a gap of O is written": record.Reject} {
		text, err := stridedKernel(f).PTX()
		if err != nil {
			t.Fatal(err)
		}
		s, err := External("serve", text, call)
		if err != nil {
			t.Fatal(err)
		}
		if _, v := measure(t, s, p); v.Outcome != want {
			t.Errorf("%q: %s: %s", f, v.Outcome, v.Why)
		}
	}
}
