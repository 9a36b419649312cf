package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/kernels/attn/stages"
	"github.com/GOATnote-Inc/attest/lab/abi"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
	"github.com/GOATnote-Inc/attest/record"
)

// Subject is a kernel to judge, of any origin: text and how it is called.
type Subject struct {
	Name   string            // preset, or file and entry
	Config map[string]string // its toggles, for the record
	PTX    string
	Target ptx.Target // .target of the PTX
	ABI    *abi.ABI
}

// Choice is what a preset leaves open.
type Choice struct {
	HeadDim int    // that of Shape when zero, or 64
	Format  string // of Q, K and V: "e4m3" when empty
	Output  string // of O: "f16" when empty, or "bf16"
	LSE     bool   // also write the logarithms of sums
	Causal  bool   // hide keys after the query, which kernels for Hopper alone can
	// Target is what the PTX is for; the zero value is the least that the kernel
	// needs, so that one text runs on all cards that can.
	Target ptx.Target
	// Shape is what the kernel is to be fast for: kernels for Hopper are written for it,
	// and then compute other shapes too. The zero value is the mission's.
	Shape problem.Shape
}

// Preset is a kernel of ours by its name, one of Names.
func Preset(name string, c Choice) (*Subject, error) {
	if c.HeadDim == 0 {
		c.HeadDim = c.dim()
	}
	if d, err := hopper.FindDesign(name); err == nil {
		return design(d, c)
	}
	p, err := stages.FindPreset(name, c.HeadDim)
	if err != nil {
		return nil, err
	}
	return Kernel(name, p.Config, c)
}

// Kernel is a kernel of kernels/attn of any configuration.
func Kernel(name string, config stages.Config, c Choice) (*Subject, error) {
	p, err := c.problem()
	if err == nil && c.Causal {
		err = errors.New("it is not causal; those for Hopper can be")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	target := c.Target
	if target == (ptx.Target{}) {
		target = leastTarget(p, config)
	}
	k, err := stages.Build(p, config, target)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	text, err := k.PTX()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Subject{
		Name: name, PTX: text, Target: target, ABI: presetABI(k.Name(), p, config),
		Config: map[string]string{
			"config": config.String(), "tile_m": strconv.Itoa(config.TileM), "tile_n": strconv.Itoa(config.TileN),
			"head_dim": strconv.Itoa(p.HeadDim), "lse": strconv.FormatBool(p.LSE),
		},
	}, nil
}

// dim is the head dimension.
func (c Choice) dim() int {
	switch {
	case c.HeadDim != 0:
		return c.HeadDim
	case c.Shape.D != 0:
		return c.Shape.D
	}
	return 64
}

func (c Choice) problem() (stages.Problem, error) {
	p := stages.Problem{Batch: 1, Heads: 1, Seq: 1, HeadDim: c.dim(), Format: fp8.E4M3, LSE: c.LSE}
	var err error
	if c.Format != "" {
		p.Format, err = fp8.ParseFormat(c.Format)
	}
	switch c.Output {
	case "", "f16":
	case "bf16":
		p.Output = stages.BF16
	default:
		err = fmt.Errorf("no output %q: there are f16 and bf16", c.Output)
	}
	return p, err
}

// leastTarget is the least target that can run a kernel, sm_89 at the least: what is
// below converts no e4m3.
func leastTarget(p stages.Problem, c stages.Config) ptx.Target {
	for _, t := range []ptx.Target{ptx.SM89, ptx.SM90, ptx.SM90a} {
		if c.Check(p, t) == nil {
			return t
		}
	}
	return ptx.SM89 // Build says what is wrong
}

// presetABI is how kernels of kernels/attn are called.
func presetABI(entry string, p stages.Problem, c stages.Config) *abi.ABI {
	x := expr.Must
	l := c.Launch(p, 1, 1)
	grid := fmt.Sprintf("B*H*cdiv(Sq, %d)", c.TileM)
	if c.Persistent {
		grid = fmt.Sprintf("min(%s, SMs*BlocksPerSM)", grid)
	}
	a := &abi.ABI{
		Entry: entry, Format: abi.Format(p.Format.String()), Scaling: abi.PerHead, Output: abi.Format(p.Output.String()), P: abi.F16, Layout: abi.BHSD,
		Grid: []expr.Expr{x(grid)}, Block: []expr.Expr{x(strconv.Itoa(l.Block))}, Shared: x(strconv.Itoa(l.Shared)),
		Require: []expr.Expr{x("Sq == Skv"), x("H == Hkv"), x(fmt.Sprintf("D == %d", p.HeadDim))},
	}
	if !c.TensorPV {
		a.P = abi.F32
	}
	operands := []string{"q", "k", "v", "qs", "ks", "vs", "o"}
	if p.LSE {
		operands = append(operands, "lse")
	}
	for _, name := range operands {
		a.Params = append(a.Params, abi.Param{Pointer: name})
	}
	for _, name := range []string{"B", "H", "Sq"} {
		a.Params = append(a.Params, abi.Param{Type: "u32", Value: x(name)})
	}
	a.Params = append(a.Params, abi.Param{Type: "f32", Value: x("scale")})
	return a
}

// External is PTX from anywhere, with its ABI. name stands for it in the record.
func External(name, text string, a *abi.ABI) (*Subject, error) {
	m, err := parse.Parse(name, text)
	if err != nil {
		return nil, err
	}
	f := m.Func(a.Entry)
	switch {
	case f == nil || !f.Entry:
		return nil, noEntry(m, a.Entry)
	case len(f.Params) != len(a.Params):
		return nil, fmt.Errorf("%s: %s has %d parameters, its abi describes %d", name, a.Entry, len(f.Params), len(a.Params))
	}
	s := &Subject{Name: name, PTX: text, Target: m.Target, ABI: a, Config: map[string]string{}}
	if a.Causal {
		s.Config["causal"] = "true"
	}
	return s, nil
}

// NoEntry is a text without the entry that is asked for.
type NoEntry struct {
	Entry string
	Has   []string // the entries that the text has
}

func (e *NoEntry) Error() string {
	if len(e.Has) == 0 {
		return fmt.Sprintf("the PTX has no .entry at all, so none is called %s", e.Entry)
	}
	return fmt.Sprintf("the PTX has no .entry %s: it has %s", e.Entry, strings.Join(e.Has, ", "))
}

func noEntry(m *ptx.Module, name string) error {
	e := &NoEntry{Entry: name}
	for _, f := range m.Funcs() {
		if f.Entry {
			e.Has = append(e.Has, f.Sym.Name)
		}
	}
	return e
}

// Kernel describes the subject for a record: by the hash of what is run.
func (s *Subject) Kernel() record.Kernel {
	sum := sha256.Sum256([]byte(s.PTX))
	return record.Kernel{
		Name: s.Name, Entry: s.ABI.Entry, SHA256: hex.EncodeToString(sum[:]), Config: s.Config,
		Target: s.Target.String(), Format: string(s.ABI.Format), Output: string(s.ABI.Output),
	}
}

// Serves says why the kernel cannot compute a shape, or nil when it can.
func (s *Subject) Serves(shape problem.Shape) error { return s.ABI.Serves(shape) }
