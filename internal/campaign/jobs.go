package campaign

import (
	"slices"

	"github.com/GOATnote-Inc/attest/internal/shapes"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
)

// job is one kernel to judge, with the shapes of --shape that it computes.
type job struct {
	*lab.Subject
	chosen Selection // the selection that built the kernel; it also builds the baseline
	shapes shapes.List
	file   string // the PTX file or the name in a Go package, "" for a kernel of attest
}

// usual is a shape that a kernel must support to be judged when the user names neither kernels nor
// shapes. It excludes decode, which supports few queries only and cannot be compared with the
// others.
var usual = problem.Square(1, 8, 512, 0)

// ladder returns all kernels that support the format.
func (g *Gate) ladder() (list []job, err error) {
	for _, name := range kernels.Ladder() {
		jobs, refused := g.jobs(name)
		if refused == nil && len(g.Shapes) == 0 {
			refused = jobs[0].ServesShape(usual.WithHeadDim(jobs[0].Problem.HeadDim()))
		}
		if refused == nil {
			list = append(list, jobs...)
		} else if err == nil {
			err = refused
		}
	}
	if len(list) > 0 {
		err = nil
	}
	return list, err
}

// named returns the kernels that a command line names.
func (g *Gate) named(names []string) (list []job, err error) {
	for _, name := range names {
		jobs, err := g.jobs(name)
		if err != nil {
			return nil, err
		}
		list = append(list, jobs...)
	}
	return list, nil
}

// jobs returns the jobs of a kernel: one per PTX text, with the shapes that it computes. A
// file has one text.
func (g *Gate) jobs(name string) (list []job, err error) {
	if g.isFile(name) {
		s, err := g.Kernel(name)
		chosen := g.Selection
		if len(g.Shapes) > 0 {
			chosen = chosen.For(g.Shapes[0])
		}
		return []job{{s, chosen, g.Shapes, name}}, err
	}
	foreign := ""
	if g.isForeign(name) {
		foreign = name
	}
	if len(g.Shapes) == 0 {
		s, err := g.Kernel(name)
		return []job{{Subject: s, chosen: g.Selection, file: foreign}}, err
	}
	for _, n := range g.Shapes {
		chosen := g.For(n)
		s, err := chosen.Kernel(name)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(list, func(j job) bool { return sameText(j.Subject, s) })
		if i < 0 {
			i, list = len(list), append(list, job{Subject: s, chosen: chosen, file: foreign})
		}
		list[i].shapes = append(list[i].shapes, n)
	}
	return list, nil
}

// able returns the jobs that the device can run. With skip it leaves out the others.
func (g *Gate) able(jobs []job, skip bool) ([]job, error) {
	var subjects []*lab.Subject
	for _, j := range jobs {
		subjects = append(subjects, j.Subject)
	}
	fit, err := g.Fitting(subjects, skip)
	return slices.DeleteFunc(jobs, func(j job) bool { return !slices.Contains(fit, j.Subject) }), err
}

// baselineOf returns the baseline of a job, or nil.
func (g *Gate) baselineOf(j job) (*lab.Subject, error) {
	name := g.Baseline
	switch {
	case name == "none":
		return nil, nil
	case name == "":
		if name = kernels.Base(j.Name); name == "" {
			return nil, nil
		}
	case name == j.Name:
		return nil, nil
	}
	same := j.chosen // the baseline computes the same
	same.Format, same.Output, same.Causal = string(j.Problem.Format), string(j.Problem.Output), j.Problem.Causal
	b, err := same.Kernel(name)
	if err != nil && g.Baseline == "" {
		return nil, nil // the default baseline does not support this format or mask
	}
	return b, err
}
