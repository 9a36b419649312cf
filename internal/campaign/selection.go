package campaign

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/machine"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Selection chooses kernels: kernels of attest by name, or PTX of any compiler with an ABI
// file. Its exported fields are the values of the flags with these names.
type Selection struct {
	Format, Output string
	Causal, LSE    bool
	HeadDim        int // 0 selects that of the shape, or 64
	PTX, Entry     string
	ABI            string
	Set            string // toggles for every named kernel, separated by commas
	Target         string // the architecture to build for, "sm_80"; "" selects the kernel's usual one

	// shape is what kernels for Hopper are written for; zero is mission.
	shape problem.Shape
	// device is the target of the device that kernels run on; zero is any device.
	device ptx.Target
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
var headDims = []int{64, 128}

// Check refuses flags that do not go together.
func (s *Selection) Check() error {
	switch {
	case s.PTX == "" && s.ABI != "":
		return errors.New("--abi describes a kernel of --ptx, which is missing")
	case s.PTX == "" && s.Entry != "":
		return errors.New("--entry names a kernel of --ptx, which is missing")
	case s.PTX != "" && s.ABI == "":
		return errors.New("--ptx needs --abi, a JSON file that describes the parameters; see go doc github.com/GOATnote-Inc/attest/kernel/abi")
	case s.Format != "" && !slices.Contains(Formats(), s.Format):
		return fmt.Errorf("--format %s: use %s", s.Format, orList(Formats()))
	case s.Output != "" && !slices.Contains(Outputs, s.Output):
		return fmt.Errorf("--output %s: use %s", s.Output, orList(Outputs))
	case s.HeadDim != 0 && !slices.Contains(headDims, s.HeadDim):
		return fmt.Errorf("--head-dim %d is not supported by the kernels of attest: use 64 or 128", s.HeadDim)
	}
	return nil
}

// orList joins words: "a, b or c".
func orList(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// For returns the selection for a shape: kernels have its head dimension and are written
// for it.
func (s Selection) For(n problem.Named) Selection {
	s.HeadDim, s.shape = n.Shape.D, n.Shape
	return s
}

// Named returns the kernels that a command line names, with the toggles of --set.
func (s *Selection) Named(names []string) (list []string, err error) {
	if s.Set != "" && len(names) == 0 {
		return nil, errors.New("--set changes named kernels: name at least one")
	}
	for _, n := range names {
		list = append(list, kernels.Toggled(n, s.Set))
	}
	return list, nil
}

// Subjects returns the kernels that arguments and --ptx name, in that order.
func (s *Selection) Subjects(names []string) (list []*lab.Subject, err error) {
	if names, err = s.Named(names); err != nil {
		return nil, err
	}
	for _, n := range names {
		k, err := s.Preset(n)
		if err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	if s.PTX != "" {
		k, err := s.external()
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
		return nil, errors.New("no KERNEL is given: name one (attest list kernels), or give a file of your own with --ptx and --abi")
	case len(list) > 1:
		return nil, fmt.Errorf("%s given, want one", english.Are(len(list), "kernel"))
	}
	return list[0], nil
}

// Preset returns a kernel of attest by its name.
func (s *Selection) Preset(name string) (*lab.Subject, error) {
	if base, _, _ := strings.Cut(name, "+"); !slices.Contains(kernels.Names(), base) {
		hint := "attest list kernels shows the names"
		if near := term.Nearest(name, kernels.Names()); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		} else if strings.HasSuffix(name, ".ptx") {
			hint = "name files with --ptx FILE --abi ABI.json"
		}
		return nil, fmt.Errorf("there is no kernel %q; %s", name, hint)
	}
	if s.HeadDim != 0 && !slices.Contains(headDims, s.HeadDim) {
		return nil, fmt.Errorf("--shape %v: head dimension %d is not supported by the kernels of attest: use 64 or 128", s.shape, s.HeadDim)
	}
	if s.Target != "" {
		target, err := ptx.ParseTarget(s.Target)
		if err != nil {
			return nil, fmt.Errorf("--target: %w", err)
		}
		return lab.Preset(name, s.Problem(), kernel.Chip{Target: target})
	}
	k, err := lab.Preset(name, s.Problem(), kernel.Chip{})
	if err != nil || s.device == (ptx.Target{}) || s.device.Runs(k.Target) {
		return k, err
	}
	if k, err = lab.Preset(name, s.Problem(), kernel.Chip{Target: s.device}); err != nil {
		return nil, fmt.Errorf("%w; --device emu runs every kernel", err)
	}
	return k, nil
}

// On makes Preset build kernels that a machine can run. A kernel keeps its usual target if
// the machine runs that.
func (s *Selection) On(m *machine.Machine) {
	if m.Device != nil {
		s.device = m.Device.Info().Target
	}
}

// Problem returns the problem that presets compute, with the shape that they are optimised for.
func (s *Selection) Problem() problem.Attention {
	p := problem.Attention{Shape: s.shape, Format: problem.Format(s.Format), Output: problem.Format(s.Output), Causal: s.Causal, LSE: s.LSE}
	if p.D == 0 {
		p.D = s.HeadDim
	}
	return p
}

// external returns the kernel of --ptx.
func (s *Selection) external() (*lab.Subject, error) {
	text, err := os.ReadFile(s.PTX)
	if err != nil {
		return nil, fmt.Errorf("--ptx: %w", err)
	}
	described, err := os.ReadFile(s.ABI)
	if err != nil {
		return nil, fmt.Errorf("--abi: %w", err)
	}
	a, err := abi.Parse(s.ABI, described)
	if err != nil {
		return nil, fmt.Errorf("--abi: %w", err)
	}
	flag := "--abi"
	if s.Entry != "" {
		a.Launches[0].Entry, flag = s.Entry, "--entry"
	}
	k, err := lab.External(filepath.Base(s.PTX)+":"+a.Launches[0].Entry, string(text), a)
	var missing *kernel.NoEntry
	switch {
	case errors.As(err, &missing):
		return nil, fmt.Errorf("%s: %w", flag, err)
	case err != nil:
		return nil, fmt.Errorf("--ptx: %w", err)
	}
	return k, nil
}

// sameText reports whether two kernels have the same PTX.
func sameText(a, b *lab.Subject) bool { return a.PTX == b.PTX }
