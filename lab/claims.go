package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// The precisions that a kernel claims.
const (
	claimedP           = "p"           // what weights of the softmax are rounded to
	claimedAccumulator = "accumulator" // what sums of products are kept in
)

var (
	weightFormats      = []problem.Format{problem.F32, problem.F16, problem.BF16, problem.E4M3, problem.E5M2}
	accumulatorFormats = []problem.Format{problem.F32, problem.F16}
)

// checkClaims refuses a claim of a precision that is lower than the inputs justify. The
// errors of a kernel are compared with a computation in the claimed precision, so a kernel
// that claims less than it needs would be judged by a yardstick that it chose itself.
func checkClaims(k *kernel.Kernel, p problem.Attention) error {
	for _, name := range sorted.Keys(k.Claims) {
		if name != claimedP && name != claimedAccumulator && name != kernel.ClaimedDeterministic {
			return fmt.Errorf("claims %s: only %s, %s and %s can be claimed", name, claimedP, claimedAccumulator, kernel.ClaimedDeterministic)
		}
	}
	if err := checkDeterministic(k); err != nil {
		return err
	}
	weight := claimed(k, claimedP, problem.F16)
	sum := claimed(k, claimedAccumulator, problem.F32)
	needed := min(p.Format.FractionBits(), problem.F16.FractionBits())
	switch {
	case !slices.Contains(weightFormats, weight):
		return fmt.Errorf("claims p %s: use %s", weight, words(weightFormats))
	case !slices.Contains(accumulatorFormats, sum):
		return fmt.Errorf("claims accumulator %s: use %s", sum, words(accumulatorFormats))
	case weight.FractionBits() < needed:
		return fmt.Errorf("claims that the weights of the softmax are rounded to %s, with %d bits of fraction; with inputs in %s they must keep at least %d",
			weight, weight.FractionBits(), p.Format, needed)
	case sum == problem.F16 && (p.Format == problem.BF16 || p.Format == problem.F32):
		return fmt.Errorf("claims sums in f16, but tensor cores add products of %s in f32", p.Format)
	}
	return nil
}

// checkDeterministic refuses the claim that a kernel is not deterministic if the text has no atomic
// operation: without one, bits that differ between runs come from a race or from the moment.
func checkDeterministic(k *kernel.Kernel) error {
	if said := k.Claims[kernel.ClaimedDeterministic]; said != "" && said != "true" && said != "false" {
		return fmt.Errorf("claims %s %q: use true or false", kernel.ClaimedDeterministic, said)
	}
	m, err := parse.Parse(k.Name, k.PTX)
	if k.Deterministic() || err != nil { // the devices report an error of the text
		return nil
	}
	for _, f := range m.Funcs() {
		for _, st := range f.Body {
			if in, ok := st.(*ptx.Inst); ok && combines(in) {
				return nil
			}
		}
	}
	return fmt.Errorf("claims that it is not deterministic, but has no atomic operation: remove the claim")
}

// combines reports whether an instruction is an atomic operation or a reduction in memory.
func combines(in *ptx.Inst) bool {
	b, err := isa.BindInst(in)
	if err != nil {
		return false
	}
	role := b.Match.Class().Role
	return role == isa.RoleAtomic || role == isa.RoleReduction || role == isa.RoleAsyncReduction
}

func claimed(k *kernel.Kernel, name string, otherwise problem.Format) problem.Format {
	if f := problem.Format(k.Claims[name]); f != "" {
		return f
	}
	return otherwise
}

func words(formats []problem.Format) string {
	var list []string
	for _, f := range formats {
		list = append(list, string(f))
	}
	return strings.Join(list, ", ")
}

// P returns the format that the kernel claims to round the weights of the softmax to before it
// multiplies them with V.
func (s *Subject) P() problem.Format { return claimed(s.Kernel, claimedP, problem.F16) }

// Accumulator returns the format that the kernel claims to keep sums of products in.
func (s *Subject) Accumulator() problem.Format {
	return claimed(s.Kernel, claimedAccumulator, problem.F32)
}
