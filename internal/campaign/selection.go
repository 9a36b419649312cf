package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/gokernel"
	"github.com/GOATnote-Inc/attest/internal/machine"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Selection chooses kernels: kernels of attest by name, PTX of any compiler with an ABI file, or
// kernels of Go packages, such as ./mypkg.Kernel. Its exported fields are the values of the flags with these names.
type Selection struct {
	Format, Output string
	Causal, LSE    bool
	Serving
	HeadDim    problem.HeadDim // zero selects that of the shape, or 64
	PTX, Entry string          // a PTX file, beside the kernels that arguments name
	ABI        string          // how kernels of files are called; "" is the file's own name with .json
	Set        string          // toggles for every named kernel, separated by commas
	Target     string          // the architecture to build for, "sm_80"; "" selects the kernel's usual one

	// shape is what kernels for Hopper are written for; zero is mission.
	shape problem.Shape
	// chip is the chip of the device that kernels run on; zero is any device.
	chip kernel.Chip
}

// Formats returns the values of --format.
func Formats() (names []string) {
	for _, f := range []fp8.Format{fp8.E4M3, fp8.E5M2, fp8.U8, fp8.U8Legacy} {
		names = append(names, f.String())
	}
	return names
}

// Outputs are the values of --output.
var Outputs = []string{"f16", "bf16"}

// headDims are the head dimensions that kernels of attest exist for.
var headDims = []int{64, 96, 128, 192, 256}

// Check refuses flags that do not go together.
func (s *Selection) Check() error {
	switch {
	case s.Format != "" && !slices.Contains(Formats(), s.Format):
		return fmt.Errorf("--format %s: use %s", s.Format, english.Or(Formats()))
	case s.Output != "" && !slices.Contains(Outputs, s.Output):
		return fmt.Errorf("--output %s: use %s", s.Output, english.Or(Outputs))
	case s.HeadDim.D != 0 && !slices.Contains(headDims, s.HeadDim.D):
		return fmt.Errorf("--head-dim %v is not supported by the kernels of attest: use %s", s.HeadDim, english.Or(headDims))
	}
	return s.check()
}

// For returns the selection for a shape: kernels have its head dimension and are written
// for it.
func (s Selection) For(n problem.Named) Selection {
	s.HeadDim, s.shape = n.Shape.HeadDim(), n.Shape
	return s
}

// Named returns the kernels that a command line names: arguments, with the toggles of --set,
// and the file of --ptx.
func (s *Selection) Named(names []string) (list []string, err error) {
	for _, n := range names {
		if !s.isForeign(n) {
			n = kernels.Toggled(n, s.Set)
		}
		list = append(list, n)
	}
	if s.PTX != "" {
		list = append(list, s.PTX)
	}
	files := slices.ContainsFunc(list, s.isFile)
	switch {
	case s.Set != "" && !slices.ContainsFunc(list, func(n string) bool { return !s.isForeign(n) }):
		return nil, errors.New("--set changes kernels of attest: name at least one")
	case s.ABI != "" && !files:
		return nil, errors.New("--abi describes the kernel of a PTX file, which is missing")
	case s.Entry != "" && !files:
		return nil, errors.New("--entry names the kernel of a PTX file, which is missing")
	}
	return list, nil
}

// isFile reports whether a name is that of a PTX file.
func (s *Selection) isFile(name string) bool {
	return name != "" && name == s.PTX || strings.HasSuffix(name, ".ptx")
}

// isForeign reports whether a name is that of a kernel that does not belong to attest.
func (s *Selection) isForeign(name string) bool {
	_, _, inGo := gokernel.Split(name)
	return inGo || s.isFile(name)
}

// Subjects returns the kernels that arguments and --ptx name, in that order.
func (s *Selection) Subjects(names []string) (list []*lab.Subject, err error) {
	if names, err = s.Named(names); err != nil {
		return nil, err
	}
	for _, n := range names {
		k, err := s.Kernel(n)
		if err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	return list, nil
}

// OneFor returns the only kernel that arguments and --ptx name, for a shape.
func (s *Selection) OneFor(n problem.Named, names []string) (*lab.Subject, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	chosen := s.For(n)
	list, err := chosen.Subjects(names)
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, errors.New("no KERNEL is given: name one (attest list kernels), or a PTX file of your own")
	case len(list) > 1:
		return nil, fmt.Errorf("%s given, want one", english.Are(len(list), "kernel"))
	}
	return list[0], nil
}

// Kernel returns a kernel of attest by its name, the kernel of a PTX file, or the kernel of a Go
// package, with the arguments that flags give it.
func (s *Selection) Kernel(name string) (*lab.Subject, error) {
	k, err := s.written(name)
	if err != nil {
		return nil, err
	}
	if s.isForeign(name) {
		if err := s.agrees(k.Problem); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return k, k.Give(s.arguments(s.shape))
}

// written returns a kernel without arguments.
func (s *Selection) written(name string) (*lab.Subject, error) {
	if s.isFile(name) {
		return s.external(name)
	}
	if _, _, ok := gokernel.Split(name); ok {
		k, err := gokernel.Build(context.Background(), name, lab.Sized(s.Problem()), s.chip)
		if err != nil {
			return nil, err
		}
		return lab.NewSubject(k)
	}
	if base, _, _ := strings.Cut(name, "+"); !slices.Contains(kernels.Names(), base) {
		hint := "attest list kernels shows the names"
		if near := term.Nearest(name, kernels.Names()); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return nil, fmt.Errorf("there is no kernel %q; %s", name, hint)
	}
	if s.HeadDim.D != 0 && !slices.Contains(headDims, s.HeadDim.D) {
		return nil, fmt.Errorf("--shape %v: head dimension %v is not supported by the kernels of attest: use %s", s.shape, s.HeadDim, english.Or(headDims))
	}
	if s.Target != "" {
		target, err := ptx.ParseTarget(s.Target)
		if err != nil {
			return nil, fmt.Errorf("--target: %w", err)
		}
		return lab.Preset(name, s.Problem(), kernel.Chip{Target: target})
	}
	if _, v, err := kernels.Find(name); err == nil && v.ByChip {
		return lab.Preset(name, s.Problem(), s.chip)
	}
	k, err := lab.Preset(name, s.Problem(), kernel.Chip{})
	if err != nil || s.chip.Target == (ptx.Target{}) || s.chip.Target.Runs(k.Target) {
		return k, err
	}
	if k, err = lab.Preset(name, s.Problem(), kernel.Chip{Target: s.chip.Target}); err != nil {
		return nil, fmt.Errorf("%w; --device emu runs every kernel", err)
	}
	return k, nil
}

// On makes Kernel build kernels that a machine can run. A kernel keeps its usual target if
// the machine runs that, unless the kernel depends on the chip.
func (s *Selection) On(m *machine.Machine) {
	if m.Device != nil {
		s.chip = m.Device.Info().Chip()
	}
}

// checkHeadDim refuses a shape with another head dimension than --head-dim.
func (s *Selection) checkHeadDim(n problem.Named) error {
	if have := n.Shape.HeadDim(); s.HeadDim.D != 0 && s.HeadDim != have {
		return fmt.Errorf("--head-dim is %v, but --shape %v has %v", s.HeadDim, n.Shape, have)
	}
	return nil
}

// Problem returns the problem that presets compute, with the shape that they are optimised for.
func (s *Selection) Problem() problem.Attention {
	p := problem.Attention{Shape: s.shape, Format: problem.Format(s.Format), Output: problem.Format(s.Output), Causal: s.Causal, LSE: s.LSE}
	s.add(&p)
	if p.D == 0 {
		p.Shape = p.WithHeadDim(s.HeadDim)
	}
	return p
}

// external returns the kernel of a PTX file.
func (s *Selection) external(file string) (*lab.Subject, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	call := s.ABI
	if call == "" {
		call = strings.TrimSuffix(file, ".ptx") + ".json"
	}
	described, err := os.ReadFile(call)
	switch {
	case err != nil && s.ABI == "":
		return nil, fmt.Errorf("%s needs a JSON file that says how it is called: write %s or name one with --abi; go doc github.com/GOATnote-Inc/attest/kernel/abi explains its format", file, call)
	case err != nil:
		return nil, fmt.Errorf("--abi: %w", err)
	}
	a, err := abi.Parse(call, described)
	if err != nil {
		return nil, fmt.Errorf("--abi: %w", err)
	}
	flag := "--abi"
	if s.Entry != "" {
		a.Launches[0].Entry, flag = s.Entry, "--entry"
	}
	k, err := lab.External(filepath.Base(file)+":"+a.Launches[0].Entry, string(text), a)
	var missing *kernel.NoEntry
	switch {
	case errors.As(err, &missing):
		return nil, fmt.Errorf("%s: %w", flag, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return k, nil
}

// sameText reports whether two kernels have the same PTX.
func sameText(a, b *lab.Subject) bool { return a.PTX == b.PTX }
