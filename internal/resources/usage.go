package resources

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// Source is where a figure is from.
type Source string

// The sources, the best first.
const (
	Ptxas    Source = "ptxas"    // the assembler, for the target asked for
	JIT      Source = "jit"      // the driver's compiler, for the card that is present
	Estimate Source = "estimate" // live ranges and declarations
)

// Figure is a number and where it is from. An unknown one is the zero value.
type Figure struct {
	Value  int    `json:"value"`
	Source Source `json:"source,omitempty"`
}

// Known reports whether anyone knew the number.
func (f Figure) Known() bool { return f.Source != "" }

// String is the number with its source, "unknown" without one.
func (f Figure) String() string {
	if !f.Known() {
		return "unknown"
	}
	return strconv.Itoa(f.Value) + " (" + string(f.Source) + ")"
}

// Usage is what a kernel takes. Memory is in bytes; registers, stack and spills
// are a thread's, shared memory a block's.
type Usage struct {
	Kernel      string `json:"kernel"`
	Target      string `json:"target"`
	Registers   Figure `json:"registers"`
	SpillStores Figure `json:"spill_stores"`
	SpillLoads  Figure `json:"spill_loads"`
	Stack       Figure `json:"stack"`    // the JIT's has the spills in it
	Shared      Figure `json:"shared"`   // static
	Constant    Figure `json:"constant"` // all banks, parameters among them
	Barriers    Figure `json:"barriers"`
}

// Report is what the kernels of a module take.
type Report struct {
	Kernels []Usage `json:"kernels"`
	// Advice is what the assembler had to say besides, such as that it runs
	// wgmma instructions one after another.
	Advice []Advice `json:"advice"`
	// Notes say why better sources were not used.
	Notes []string `json:"notes"`
}

// Usage is that of a kernel, nil when the module has none of that name.
func (r *Report) Usage(kernel string) *Usage {
	for i := range r.Kernels {
		if r.Kernels[i].Kernel == kernel {
			return &r.Kernels[i]
		}
	}
	return nil
}

// Advice is a remark of the assembler.
type Advice struct {
	Severity string `json:"severity"` // "info" or "warning"
	Code     string `json:"code"`     // "C7510", or ""
	Kernel   string `json:"kernel"`   // the function it names, or ""
	Line     int    `json:"line"`     // of the PTX, or 0
	Message  string `json:"message"`
}

// Asked is who can be asked.
type Asked struct {
	Ptxas  string        // path of the assembler, empty for none
	Device device.Device // whose compiler is asked, nil for none
}

// OnPath is ptxas if it is on PATH, and no device.
func OnPath() Asked {
	path, _ := exec.LookPath("ptxas") // not there is a normal case
	return Asked{Ptxas: path}
}

// Of finds what the kernels of PTX take on a target. name stands for the text in
// errors. A source that fails is passed over with a note; only PTX that does not
// parse, or that the target cannot run, is an error.
func Of(ctx context.Context, name, text string, target ptx.Target, ask Asked) (*Report, error) {
	m, err := parse.Parse(name, text)
	if err != nil {
		return nil, err
	}
	if !target.Runs(m.Target) {
		return nil, fmt.Errorf("%s is for %s, which %s does not run", name, m.Target, target)
	}
	r := &Report{Kernels: []Usage{}, Advice: []Advice{}, Notes: []string{}}
	for _, f := range m.Funcs() {
		if f.Entry && f.HasBody {
			r.Kernels = append(r.Kernels, Usage{Kernel: f.Sym.Name, Target: target.String()})
		}
	}
	for _, source := range []func() error{
		func() error { return r.assemble(ctx, text, target, ask.Ptxas) },
		func() error { return r.compile(name, text, target, ask.Device) },
	} {
		err := source()
		if err == nil {
			return r, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r.Notes = append(r.Notes, err.Error())
	}
	r.estimate(m)
	return r, nil
}

var errNoPtxas = errors.New("no ptxas: install the CUDA toolkit for the figures of any target")

// each calls set for every kernel.
func (r *Report) each(set func(*Usage) error) error {
	for i := range r.Kernels {
		if err := set(&r.Kernels[i]); err != nil {
			return err
		}
	}
	return nil
}
