package record

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// The types below are the parts of schema 1 that differ from those of today. Their fields
// hide the embedded fields with the same JSON names.

type record1 struct {
	Record
	Defects     *defects1     `json:"defects"`
	Correctness *correctness1 `json:"correctness"`
}

type defects1 struct {
	Defects
	Refused []refusal1 `json:"refused"`
	Found   []defect1  `json:"found"`
}

// defect1 is a finding. The first records of schema 1 hold its threads only as the text Who,
// and the other access only as OtherLine.
type defect1 struct {
	Found
	Shape     shape1 `json:"shape"`
	Warp      *int   `json:"warp"`
	Who       string `json:"who"`
	OtherLine int    `json:"other_line"`
}

type correctness1 struct {
	Correctness
	Cases   []case1    `json:"cases"`
	Refused []refusal1 `json:"refused"`
}

// case1 is a case. Its shape may lack the head dimension if the kernel could not be loaded.
type case1 struct {
	Case
	Shape shape1 `json:"shape"`
}

// refusal1 is a shape and a reason: "1,1,33,64: k needs S % 64 == 0".
type refusal1 string

// shape1 is a shape that is not checked.
type shape1 problem.Shape

func (s *shape1) UnmarshalText(text []byte) error {
	read, _ := problem.ParseShape(string(text)) // sizes that are not numbers stay 0
	*s = shape1(read)
	return nil
}

// upgrade returns a record of schema 1 in the form of today.
func (o *record1) upgrade() (*Record, error) {
	r := &o.Record
	r.Schema = Schema
	r.Kernel.upgrade()
	if r.Baseline != nil {
		r.Baseline.upgrade()
	}
	if d := o.Defects; d != nil {
		r.Defects = &d.Defects
		r.Defects.Refused = upgradeRefused(d.Refused)
		r.Defects.Found = make([]Found, len(d.Found))
		for i := range d.Found {
			r.Defects.Found[i] = d.Found[i].upgrade()
		}
	}
	if c := o.Correctness; c != nil {
		r.Correctness = &c.Correctness
		r.Correctness.Refused = upgradeRefused(c.Refused)
		r.Correctness.Cases = make([]Case, len(c.Cases))
		for i := range c.Cases {
			one := c.Cases[i].Case
			one.Shape = problem.Shape(c.Cases[i].Shape)
			if err := one.Shape.Check(); err != nil && one.Failure == "" {
				return nil, fmt.Errorf("case %d: %w", i, err)
			}
			r.Correctness.Cases[i] = one
		}
	}
	if p := r.Performance; p != nil {
		for i := range p.Shapes {
			p.Processes = max(p.Processes, len(p.Shapes[i].Runs))
		}
	}
	return r, nil
}

// upgrade derives the problem from the formats and the configuration.
func (k *Kernel) upgrade() {
	a := problem.Attention{
		Format: problem.Format(k.Format), Output: problem.Format(k.Output),
		Causal: k.Config["causal"] == "true", LSE: k.Config["lse"] == "true",
	}
	if d, err := strconv.Atoi(k.Config["head_dim"]); err == nil {
		a.D = d
	}
	k.Problem = Problem{a.Filled()}
}

func (d *defect1) upgrade() Found {
	f := Found{d.Finding, problem.Shape(d.Shape)}
	if d.Warp != nil {
		f.Warp = *d.Warp
	} else {
		f.Warp, f.Note = finding.NoWarp, d.Who
	}
	if f.Other == nil && d.OtherLine > 0 {
		other := finding.At(ptx.Pos{Line: int32(d.OtherLine)})
		f.Other = &other
	}
	return f
}

func upgradeRefused(old []refusal1) (list []Refusal) {
	for _, text := range old {
		shape, why, _ := strings.Cut(string(text), ": ")
		s, _ := problem.ParseShape(shape)
		list = append(list, Refusal{s, why})
	}
	return list
}
