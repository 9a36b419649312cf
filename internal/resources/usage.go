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

// Source is the source of a figure.
type Source string

// The sources, the best first.
const (
	Ptxas    Source = "ptxas"    // ptxas, for any target
	JIT      Source = "jit"      // the driver's compiler, for the GPU of the machine
	Estimate Source = "estimate" // live ranges and declarations
)

// Figure is a number with its source. The zero value is an unknown figure.
type Figure struct {
	Value  int    `json:"value"`
	Source Source `json:"source,omitempty"`
}

// Known reports whether the figure has a source.
func (f Figure) Known() bool { return f.Source != "" }

// String returns the number with its source, or "unknown".
func (f Figure) String() string {
	if !f.Known() {
		return "unknown"
	}
	return strconv.Itoa(f.Value) + " (" + string(f.Source) + ")"
}

// Usage holds the resources of a kernel. Memory is in bytes. Registers, stack and spills are
// per thread, shared memory is per block.
type Usage struct {
	Kernel      string `json:"kernel"`
	Target      string `json:"target"`
	Registers   Figure `json:"registers"`
	SpillStores Figure `json:"spill_stores"`
	SpillLoads  Figure `json:"spill_loads"`
	Stack       Figure `json:"stack"`    // includes spills if the source is JIT
	Shared      Figure `json:"shared"`   // static
	Constant    Figure `json:"constant"` // all banks, including parameters
	Barriers    Figure `json:"barriers"`
}

// Report holds the resources of the kernels of a module.
type Report struct {
	Kernels []Usage `json:"kernels"`
	// Advice are other remarks of ptxas, such as that it serialises wgmma instructions.
	Advice []Advice `json:"advice"`
	// Output is what ptxas -v wrote, or "" if the figures have another source.
	Output string `json:"output,omitempty"`
	// Notes say why better sources were not used.
	Notes []string `json:"notes"`
}

// Usage returns the usage of a kernel, or nil if the module has no kernel of that name.
func (r *Report) Usage(kernel string) *Usage {
	for i := range r.Kernels {
		if r.Kernels[i].Kernel == kernel {
			return &r.Kernels[i]
		}
	}
	return nil
}

// Advice is a remark of ptxas.
type Advice struct {
	Severity string `json:"severity"` // "info" or "warning"
	Code     string `json:"code"`     // "C7510", or ""
	Kernel   string `json:"kernel"`   // the function it names, or ""
	Line     int    `json:"line"`     // the line of the PTX, or 0
	Message  string `json:"message"`
}

// Asked names the sources that can be used.
type Asked struct {
	Ptxas  string        // path of ptxas, or ""
	Device device.Device // the device whose compiler is used, or nil
}

// OnPath returns ptxas, if it is on PATH, and no device.
func OnPath() Asked {
	path, _ := exec.LookPath("ptxas") // it is normal that ptxas is missing
	return Asked{Ptxas: path}
}

// Of finds the resources that the kernels of a PTX text need on a target. name stands for the
// text in errors. If a source fails, Of adds a note and uses the next one. It returns an
// error only for PTX that does not parse or that the target cannot run.
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
