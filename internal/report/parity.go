package report

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/record"
)

// Parity is on how many cases two kernels gave the same bits, of those that both ran.
type Parity struct {
	With string `json:"with"` // the name of the other kernel
	Same int    `json:"same"`
	Of   int    `json:"of"`
}

// ParityOf compares the hashes of outputs of a kernel, b, and of another, a. Two cases are the same when shape, seed,
// distribution and the formats of inputs and output are.
func ParityOf(a, b *record.Record) Parity {
	p := Parity{With: a.Kernel.Name}
	if a.Correctness == nil || b.Correctness == nil || a.Kernel.Format != b.Kernel.Format || a.Kernel.Output != b.Kernel.Output {
		return p
	}
	hashes := map[string]string{}
	for i := range a.Correctness.Cases {
		if c := &a.Correctness.Cases[i]; c.OutputsHash != "" {
			hashes[sameInputs(c)] = c.OutputsHash
		}
	}
	for i := range b.Correctness.Cases {
		c := &b.Correctness.Cases[i]
		if h := hashes[sameInputs(c)]; h != "" && c.OutputsHash != "" {
			p.Of++
			if h == c.OutputsHash {
				p.Same++
			}
		}
	}
	return p
}

// sameInputs is equal for cases with the same inputs.
func sameInputs(c *record.Case) string {
	return fmt.Sprint(c.Shape, c.Seed, c.Distribution, c.LSE != nil)
}

// String says "same bits as stage2 on 12 of 12 cases".
func (p Parity) String() string {
	return fmt.Sprintf("same bits as %s on %d of %s", p.With, p.Same, english.Count(p.Of, "case"))
}

// Parity returns the parity of a kernel with the kernel that it builds on, "" where they
// have no case in common.
func (v *View) Parity(k *Kernel) string {
	base := kernels.Base(k.Now.Kernel.Name)
	for _, other := range v.Kernels {
		if base == "" || other.Now.Kernel.Name != base {
			continue
		}
		if p := ParityOf(other.Now.Record, k.Now.Record); p.Of > 0 {
			return p.String()
		}
	}
	return ""
}
