package lab

import (
	"fmt"
	"strconv"

	"attest/kernels/attn"
	"attest/kernels/attn/hopper"
	"attest/lab/abi"
	"attest/ptx"
)

// hopperNames are the designs of kernels/attn/hopper that have names: hopper is the one
// that fills the card.
var hopperNames = []string{"hopper"}

// Names are the kernels that Preset knows: the stages, then those for Hopper alone.
func Names() (names []string) {
	for _, p := range attn.Presets(64) {
		names = append(names, p.Name)
	}
	return append(names, hopperNames...)
}

// Hopper is a kernel of kernels/attn/hopper of any configuration. Its format is e4m3
// when the choice has none.
func Hopper(name string, config hopper.Config, c Choice) (*Subject, error) {
	if c.Format == "" {
		c.Format = "e4m3"
	}
	square, err := c.problem()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := hopper.Square(1, 1, 1, square.HeadDim, square.Format)
	p.Output, p.LSE, p.Causal = square.Output, c.LSE, c.Causal
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
	x := abi.MustExpr
	l := c.Launch(p, 1)
	grid := []abi.Expr{x(fmt.Sprintf("cdiv(Sq, %d)*%d", 64*c.Warpgroups, c.Split)), x("B*H")}
	if c.Persistent {
		grid = []abi.Expr{x(fmt.Sprintf("min(B*H*cdiv(Sq, %d), SMs*%d)", 64*c.Warpgroups, c.BlocksPerSM))}
	}
	a := &abi.ABI{
		Entry: entry, Format: abi.Format(p.Format.String()), Scaling: abi.PerHead, Output: abi.Format(p.Output.String()), P: "e4m3",
		Layout: abi.BHSD, Causal: p.Causal,
		Grid: grid, Block: []abi.Expr{x(strconv.Itoa(l.Block))}, Cluster: []abi.Expr{x(strconv.Itoa(l.Cluster))}, Shared: x(strconv.Itoa(l.Shared)),
		Require: []abi.Expr{x("H % Hkv == 0"), x(fmt.Sprintf("D == %d", p.HeadDim))},
	}
	mq, mk, _ := c.Maps(p)
	for _, m := range []struct {
		name, heads, rows string
		from              hopper.Map
	}{{"q", "H", "Sq", mq}, {"k", "Hkv", "Skv", mk}, {"v", "Hkv", "Skv", mk}} {
		a.Params = append(a.Params, abi.Param{TensorMap: &abi.TensorMap{
			Pointer: m.name, Type: "u8", Dims: []abi.Expr{x("D"), x(m.rows), x("B*" + m.heads)},
			Box: []abi.Expr{x("D"), x(strconv.Itoa(int(m.from.Box[1]))), x("1")}, Swizzle: fmt.Sprintf("%dB", m.from.Swizzle),
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
