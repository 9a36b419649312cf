package lab

import (
	"fmt"
	"strconv"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/lab/abi"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// SMs is how many the cards have that designs are chosen for: H100 and H200.
const SMs = 132

// hopperProblem is what a choice asks of kernels for Hopper: the shape that it is for, or
// the mission's.
func (c Choice) hopperProblem() (hopper.Problem, error) {
	square, err := c.problem()
	s := c.Shape
	if s == (problem.Shape{}) {
		s = problem.Square(1, 8, 512, square.HeadDim)
	}
	return hopper.Problem{
		Batch: s.B, Heads: s.Hq, HeadsKV: s.Hkv, SeqQ: s.Sq, SeqKV: s.Skv, HeadDim: square.HeadDim,
		Format: square.Format, Output: square.Output, LSE: c.LSE, Causal: c.Causal,
	}, err
}

// design is the kernel of a design for Hopper.
func design(d hopper.Design, c Choice) (*Subject, error) {
	p, err := c.hopperProblem()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Name, err)
	}
	s, err := Hopper(d.Name, d.Config(p, SMs), c)
	if err == nil && d.Name == ByShape {
		s.Config["chosen"] = "by shape"
	}
	return s, err
}

// Hopper is a kernel of kernels/attn/hopper of any configuration. It serves all shapes of
// its head dimension, and shapes whose heads share K and V if the choice's shape does.
func Hopper(name string, config hopper.Config, c Choice) (*Subject, error) {
	p, err := c.hopperProblem()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	k, err := hopper.Build(p, config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	text, err := k.PTX()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := &Subject{
		Name: name, PTX: text, Target: ptx.SM90a, ABI: hopperABI(k.Name(), p, config),
		Config: map[string]string{
			"config": config.String(), "head_dim": strconv.Itoa(p.HeadDim), "lse": strconv.FormatBool(p.LSE), "causal": strconv.FormatBool(p.Causal),
		},
	}
	return s, nil
}

// hopperABI is how kernels of kernels/attn/hopper are called.
func hopperABI(entry string, p hopper.Problem, c hopper.Config) *abi.ABI {
	x := expr.Must
	l := c.Launch(p, 1)
	tiles, heads := fmt.Sprintf("cdiv(Sq, %d)", c.Rows()), "B*H"
	inX, inY := fmt.Sprintf("%s*%d", tiles, c.Split), heads
	switch {
	case c.Persistent:
		inX, inY = fmt.Sprintf("min(B*H*%s, SMs*%d)", tiles, c.BlocksPerSM), "1"
	case p.Causal:
		inX, inY = fmt.Sprintf("%s*%d", heads, c.Split), tiles
	}
	// A text for heads that have K and V of their own does not divide.
	shared := "H == Hkv"
	if p.Heads != p.HeadsKV {
		shared = "H % Hkv == 0"
	}
	a := &abi.ABI{
		Entry: entry, Format: abi.Format(p.Format.String()), Scaling: abi.PerHead, Output: abi.Format(p.Output.String()), P: "e4m3",
		Layout: abi.BHSD, Causal: p.Causal,
		Grid: []expr.Expr{x(inX), x(inY)}, Block: []expr.Expr{x(strconv.Itoa(l.Block))}, Cluster: []expr.Expr{x(strconv.Itoa(l.Cluster))}, Shared: x(strconv.Itoa(l.Shared)),
		Require: []expr.Expr{x(shared), x(fmt.Sprintf("D == %d", p.HeadDim))},
	}
	if !c.Persistent {
		a.Require = append(a.Require, x(fmt.Sprintf("%s <= %d", inY, hopper.MaxGridY)))
	}
	mq, mk, _ := c.Maps(p)
	for _, m := range []struct {
		name, heads, rows string
		from              hopper.Map
	}{{"q", "H", "Sq", mq}, {"k", "Hkv", "Skv", mk}, {"v", "Hkv", "Skv", mk}} {
		a.Params = append(a.Params, abi.Param{TensorMap: &abi.TensorMap{
			Pointer: m.name, Type: "u8", Dims: []expr.Expr{x("D"), x(m.rows), x("B*" + m.heads)},
			Box: []expr.Expr{x("D"), x(strconv.Itoa(int(m.from.Box[1]))), x("1")}, Swizzle: fmt.Sprintf("%dB", m.from.Swizzle),
		}})
	}
	operands := []string{"qs", "ks", "vs", "o"}
	if p.LSE {
		operands = append(operands, "lse")
	}
	for _, name := range operands {
		a.Params = append(a.Params, abi.Param{Pointer: name})
	}
	for _, v := range []string{"B*H", "H/Hkv", "H", "Sq", "Skv"} {
		a.Params = append(a.Params, abi.Param{Type: "u32", Value: x(v)})
	}
	a.Params = append(a.Params, abi.Param{Type: "f32", Value: x("scale")})
	return a
}
