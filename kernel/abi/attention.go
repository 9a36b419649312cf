package abi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Attention is the short form as a Go value, for kernels written with package build. It does not
// list the parameters: a pointer has the name of an operand, and every other parameter has a name
// that expressions may use, such as Sq or scale.
type Attention struct {
	Problem     problem.Attention // formats, layout, mask and scaling; sizes except D and DV are ignored
	P           problem.Format    // of the softmax weights; "" is f16
	Accumulator problem.Format    // of the sums; "" is f32
	Grid        []string          // one to three expressions
	Block       []string
	Cluster     []string
	Shared      string   // bytes of dynamic shared memory; "" is none
	Require     []string // conditions on the sizes
	Structure   map[string]int
}

// Kernel returns the contract of a kernel that is called in this way.
func (a Attention) Kernel(k *build.Kernel) (*kernel.Kernel, error) {
	m, err := k.Module()
	if err != nil {
		return nil, err
	}
	if len(a.Grid) == 0 || len(a.Block) == 0 {
		return nil, fmt.Errorf("the call of %s needs a grid and a block", k.Name())
	}
	p := a.Problem.Filled()
	form := map[string]any{
		"entry": k.Name(), "format": p.Format, "output": p.Output, "layout": p.Layout, "causal": p.Causal,
		"grid": a.Grid, "block": a.Block, "require": a.requirements(),
	}
	optional := map[string]string{
		"scaling": string(a.Problem.Scaling), "p": string(a.P), "accumulator": string(a.Accumulator), "shared": a.Shared,
		"bias": string(p.Bias), "rope": string(p.Rope),
	}
	for name, value := range optional {
		if value != "" {
			form[name] = value
		}
	}
	if len(a.Cluster) > 0 {
		form["cluster"] = a.Cluster
	}
	if p.Scaling == problem.PerBlock {
		form["scale_block"] = []int{p.ScaleBlockQ, p.ScaleBlockKV}
	}
	if form["params"], err = params(m.Func(k.Name())); err != nil {
		return nil, err
	}
	text, err := json.Marshal(form)
	if err != nil {
		return nil, err
	}
	described, err := Parse("the call of "+k.Name(), text)
	if err != nil {
		return nil, err
	}
	described.PTX, described.Structure = m.String(), a.Structure
	return described, nil
}

// requirements returns the conditions. Head dimensions that are given are among them.
func (a Attention) requirements() []string {
	list := append([]string{}, a.Require...)
	if a.Problem.D != 0 {
		list = append(list, fmt.Sprintf("D == %d", a.Problem.D))
	}
	if dv := a.Problem.Filled().DV; dv != 0 {
		list = append(list, fmt.Sprintf("DV == %d", dv))
	}
	return list
}

// valueTypes are the types of parameters that are no pointers.
var valueTypes = map[ptx.Type]string{
	ptx.U32: "u32", ptx.S32: "i32", ptx.B32: "u32", ptx.U64: "u64", ptx.S64: "i64", ptx.B64: "u64", ptx.F32: "f32", ptx.F64: "f64",
}

// params returns the parameters of an entry as the short form lists them.
func params(f *ptx.Func) ([]map[string]string, error) {
	list := []map[string]string{}
	for _, v := range f.Params {
		name := v.Sym.Name
		typ, known := valueTypes[v.Type]
		switch {
		case known && len(v.Dims) == 0 && typ == "u64" && slices.Contains(operandNames, name):
			list = append(list, map[string]string{"pointer": name})
		case known && len(v.Dims) == 0 && slices.Contains(names, name):
			list = append(list, map[string]string{typ: name})
		default:
			return nil, fmt.Errorf("parameter %s of %s: a pointer has the name of an operand (%s), and a number one of the names %s; "+
				"a kernel with other parameters needs a kernel.Kernel", name, f.Sym.Name, strings.Join(operandNames, ", "), strings.Join(names, ", "))
		}
	}
	return list, nil
}
