package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// Subject is a kernel to judge, of any origin.
type Subject struct {
	*kernel.Kernel
	Problem problem.Attention // what the kernel computes, but for the sizes
	Target  ptx.Target        // .target of the PTX
}

// NewSubject is the subject of a kernel that computes attention.
func NewSubject(k *kernel.Kernel) (*Subject, error) {
	p, err := problem.FromFacts(k.Fixed)
	if err == nil && k.Op != p.Op() {
		err = fmt.Errorf("it computes %s: only %s is judged", k.Op, p.Op())
	}
	if err == nil {
		err = k.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name, err)
	}
	s := &Subject{Kernel: k, Problem: p}
	if s.Target, err = k.Target(); err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name, err)
	}
	return s, nil
}

// External is PTX from anywhere, with its call. name stands for it in the record.
func External(name, text string, call *kernel.Kernel) (*Subject, error) {
	k := *call
	k.Name, k.PTX = name, text
	return NewSubject(&k)
}

// Preset is a kernel of ours by its name, one of [kernels.Names]. p is what it computes and
// the shape that it is to be fast for: kernels that are written for a shape compute others
// too. Without a shape it is the mission's. The zero chip is none in particular.
func Preset(name string, p problem.Attention, c kernel.Chip) (*Subject, error) {
	k, err := kernels.Build(name, sized(p), c)
	if err != nil {
		return nil, err
	}
	return NewSubject(k)
}

// Configured is a kernel of a family by its configuration.
func Configured(f attn.Family, name string, p problem.Attention, c kernel.Chip, config attn.Config) (*Subject, error) {
	k, err := kernels.BuildConfig(f, name, sized(p), c, config)
	if err != nil {
		return nil, err
	}
	return NewSubject(k)
}

// sized gives a problem without a shape that of the mission, with the problem's D if it has
// one.
func sized(p problem.Attention) problem.Attention {
	if p.B == 0 {
		d := p.D
		if d == 0 {
			d = 64
		}
		p.Shape = problem.Square(1, 8, 512, d)
	}
	return p.Filled()
}

// At is the subject's problem at some sizes.
func (s *Subject) At(shape problem.Shape) problem.Attention {
	p := s.Problem
	p.Shape = shape
	return p
}

// P is what the kernel claims to round the weights of the softmax to before it multiplies
// them with V.
func (s *Subject) P() problem.Format {
	if p := problem.Format(s.Claims["p"]); p != "" {
		return p
	}
	return problem.F16
}

// ByValue reports whether scales of Q, K and V are passed by value.
func (s *Subject) ByValue() bool { return s.ArgsUse("qs", "ks", "vs") }

// ServesShape says why the kernel cannot compute a shape, or returns nil when it can.
func (s *Subject) ServesShape(shape problem.Shape) error {
	return s.Serves(s.At(shape), kernel.Chip{})
}

// Describe describes the subject for a record: everything but the text, which the record
// knows by its hash.
func (s *Subject) Describe() record.Kernel {
	sum := sha256.Sum256([]byte(s.PTX))
	call := *s.Kernel
	call.Name, call.PTX, call.Config = "", "", nil // the description has them
	return record.Kernel{
		Name: s.Name, Entry: s.Entries()[0], Identity: s.Identity(), SHA256: hex.EncodeToString(sum[:]), Config: s.Config,
		Target: s.Target.String(), Format: string(s.Problem.Format), Output: string(s.Problem.Output),
		Problem: record.Problem{Attention: s.Problem}, Call: &call,
	}
}

// Configuration returns the configuration behind a kernel's name where the name alone does
// not tell it, because it depends on the shape. For other kernels it returns "".
func Configuration(k record.Kernel) string {
	f, _, err := kernels.Find(k.Name)
	if err != nil || f.Name() == "stages" {
		return ""
	}
	return k.Config["config"]
}
