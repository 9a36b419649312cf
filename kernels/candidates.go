package kernels

import (
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
)

// Candidate is a kernel that [Choose] may choose.
type Candidate struct {
	attn.Candidate
	Family string
}

// Candidates returns the kernels that Choose may choose for problems like p on a chip, whatever
// their sizes. The kernels of a family stand together. The first family with a kernel that
// computes a problem decides; [attn.Candidate] says which of its kernels it chooses.
func Candidates(p problem.Attention, c kernel.Chip) (list []Candidate) {
	for _, f := range preference() {
		always := false
		for _, one := range f.Candidates(p, c) {
			list = append(list, Candidate{one, f.Name()})
			always = always || one.Always
		}
		if always {
			break
		}
	}
	return list
}

// Build writes the kernel for problems like p.
func (c Candidate) Build(p problem.Attention, chip kernel.Chip) (*kernel.Kernel, error) {
	f, v, err := Find(c.Variant)
	if err != nil {
		return nil, err
	}
	if c.Keys > 0 {
		p.Sq, p.Skv = c.Keys, c.Keys
	}
	return build(f, v, p, chip, c.Config)
}
