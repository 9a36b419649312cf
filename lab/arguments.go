package lab

import (
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/problem"
)

// Arguments are values of a problem that a kernel reads when it runs, so that its text does not
// depend on them. Zero values stand for what the kernel's contract says.
type Arguments struct {
	Window   problem.Window `json:"window,omitzero"`
	Softcap  float64        `json:"softcap,omitempty"`
	Scale    float64        `json:"scale,omitempty"` // the scale of the softmax
	PageSize int            `json:"page_size,omitempty"`
	// LengthsQ and LengthsKV are the lengths of the sequences of Shape. "" stands for full ones.
	Shape     problem.Shape   `json:"shape,omitzero"`
	LengthsQ  problem.Lengths `json:"lengths_q,omitempty"`
	LengthsKV problem.Lengths `json:"lengths_kv,omitempty"`
}

// Give makes arguments part of the subject's problem. Cases with [Case.Own], launches that are timed
// or traced, and counters have them. All other cases keep arguments that are drawn. The error says
// which of them the kernel does not take.
func (s *Subject) Give(a Arguments) error {
	for _, arg := range []struct {
		given, taken bool
		name         string
	}{
		{a.Window.Limited(), s.Problem.Window.Limited(), "window"},
		{a.Softcap != 0, slices.Contains(s.Supports, problem.SoftCapped), "soft cap"},
		{a.Scale != 0, slices.Contains(s.Supports, problem.CustomScale), "scale of the softmax"},
		{a.PageSize != 0, s.Problem.Keys == problem.Paged, "page size"},
		{a.LengthsQ != "", s.Problem.Queries != problem.Uniform, "lengths of queries"},
		{a.LengthsKV != "", s.Problem.Keys != problem.Uniform, "lengths of keys"},
	} {
		if arg.given && !arg.taken {
			return fmt.Errorf("%s takes no %s", s.Name, arg.name)
		}
	}
	s.given = a
	if a.Window.Limited() {
		s.Problem.Window = a.Window
	}
	if a.PageSize != 0 {
		s.Problem.PageSize = a.PageSize
	}
	s.Problem.Softcap, s.Problem.Scale = a.Softcap, a.Scale
	if a.LengthsQ == "" && a.LengthsKV == "" {
		return nil
	}
	return s.ServesShape(a.Shape)
}

// Given returns the arguments that the subject was given.
func (s *Subject) Given() Arguments { return s.given }

// over returns drawn arguments, replaced by those that were given. Batches are drawn with the page
// size and the lengths that were given.
func (a Arguments) over(v variation) variation {
	if a.Window.Limited() {
		v.window = a.Window
	}
	if a.Softcap != 0 {
		v.softcap = a.Softcap
	}
	if a.Scale != 0 {
		v.scale = a.Scale
	}
	return v
}

// own returns the scale and the soft cap of the subject's problem. Everything else that it leaves
// out comes from the problem too.
func (s *Subject) own() variation {
	return variation{scale: s.Problem.Scale, softcap: s.Problem.Softcap}
}
