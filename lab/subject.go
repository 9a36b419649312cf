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
	Problem problem.Attention // what the kernel computes, without the sizes
	Target  ptx.Target        // .target of the PTX

	given Arguments
	// preset says that attest wrote the kernel, so its contract states its true structure.
	preset bool
}

// NewSubject returns the subject of a kernel that computes attention.
func NewSubject(k *kernel.Kernel) (*Subject, error) {
	p, err := problem.FromFacts(k.Fixed)
	if err == nil && k.Op != p.Op() {
		err = fmt.Errorf("the kernel computes %s: only %s can be judged", k.Op, p.Op())
	}
	if err == nil {
		err = k.Check()
	}
	if err == nil {
		err = checkClaims(k, p)
	}
	if err == nil {
		err = problem.CheckFeatures(k.Supports)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name, err)
	}
	s := &Subject{Kernel: k, Problem: p}
	if s.Target, err = k.Target(); err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name, err)
	}
	for _, size := range pageSizes {
		if p.Keys != problem.Paged || headDim(s).D != 0 {
			break
		}
		s.Problem.PageSize = size
	}
	return s, nil
}

// External returns a kernel of any compiler, with its call. name names it in the record.
func External(name, text string, call *kernel.Kernel) (*Subject, error) {
	k := *call
	k.Name, k.PTX = name, text
	return NewSubject(&k)
}

// Preset returns a kernel of attest by its name, one of [kernels.Names]. p is what it computes
// and the shape that it is optimised for; the kernel computes other shapes too. Without a
// shape it is optimised for mission. The zero chip stands for any chip.
func Preset(name string, p problem.Attention, c kernel.Chip) (*Subject, error) {
	k, err := kernels.Build(name, Sized(p), c)
	if err != nil {
		return nil, err
	}
	return newPreset(k)
}

func newPreset(k *kernel.Kernel) (*Subject, error) {
	s, err := NewSubject(k)
	if err == nil {
		s.preset = true
	}
	return s, err
}

// Configured returns a kernel of a family by its configuration.
func Configured(f attn.Family, name string, p problem.Attention, c kernel.Chip, config attn.Config) (*Subject, error) {
	k, err := kernels.BuildConfig(f, name, Sized(p), c, config)
	if err != nil {
		return nil, err
	}
	return newPreset(k)
}

// Sized returns a problem with the shape of mission if it has no shape. It keeps its head
// dimension if that is set.
func Sized(p problem.Attention) problem.Attention {
	if p.B == 0 {
		heads := p.HeadDim()
		if heads.D == 0 {
			heads.D = 64
		}
		p.Shape = problem.Square(1, 8, 512, 0).WithHeadDim(heads)
	}
	return p.Filled()
}

// At returns the problem of the subject with a shape.
func (s *Subject) At(shape problem.Shape) problem.Attention {
	p := s.Problem
	p.Shape = shape
	if shape == s.given.Shape {
		p.LengthsQ, p.LengthsKV = s.given.LengthsQ, s.given.LengthsKV
	}
	return p
}

// fewerQueries reports whether derived shapes must not have more queries than keys: otherwise causal
// rows see no key and say little, or a kernel appends more rows than there are. Some cases of the plans
// have causal rows that see no key.
func (s *Subject) fewerQueries() bool { return s.Problem.Causal || s.Problem.Appends }

// ByValue reports whether scales of Q, K and V are passed by value.
func (s *Subject) ByValue() bool { return s.ArgsUse("qs", "ks", "vs") }

// ServesShape returns why the kernel cannot compute a shape, or nil if it can.
func (s *Subject) ServesShape(shape problem.Shape) error {
	return s.serves(s.At(shape))
}

func (s *Subject) serves(p problem.Attention) error { return s.Serves(p, kernel.Chip{}) }

// Describe returns the description of the subject for a record. It holds everything except the
// text, which the record names by its hash.
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

// Configuration returns the configuration of a kernel whose name does not imply it, because the
// configuration depends on the shape. It returns "" for other kernels.
func Configuration(k record.Kernel) string {
	f, _, err := kernels.Find(k.Name)
	if err != nil || f.Name() == "stages" {
		return ""
	}
	return k.Config["config"]
}
