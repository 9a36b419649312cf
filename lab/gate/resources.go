package gate

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/occupancy"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// BudgetFor returns the default budget of a kernel for a PTX target: 128 registers per
// thread, 64 KiB of shared memory per block and no spills. Code for one architecture, such
// as sm_90a, fills an SM with one block of three warpgroups: it may use 168 registers and
// 227 KiB.
func BudgetFor(target string) record.Budget {
	if strings.HasSuffix(target, "a") {
		return record.Budget{Registers: 168, Shared: 227 << 10}
	}
	return record.Budget{Registers: 128, Shared: 64 << 10}
}

// resourcesGate compares registers, shared memory and spills with the budget.
var resourcesGate = spec{record.ResourcesGate, func(j *judgement) record.Gate {
	r := j.r.Resources
	if r == nil || len(r.Usage) == 0 {
		return skip("resources were not measured")
	}
	var over, unsure []string
	for i := range r.Usage {
		u := &r.Usage[i]
		measured, estimated := overBudget(r, u)
		over, unsure = append(over, measured...), append(unsure, estimated...)
		if f := blocks(r, u); f != nil && f.Blocks == 0 {
			text := fmt.Sprintf("%s: a block of %d threads with %s does not fit on an SM (%s)", u.Target, r.Threads, registers(u.Registers), f.Limit)
			if u.Registers.Source == resources.Estimate {
				unsure = append(unsure, text)
			} else {
				over = append(over, text)
			}
		}
		if !u.Registers.Known() {
			unsure = append(unsure, u.Target+": the number of registers is not known")
		}
	}
	if len(over) == 0 && len(unsure) > 0 {
		g := skip("%s; ptxas or a GPU gives the exact number", unsure[0])
		g.Reasons = unsure
		return g
	}
	summary := used(r)
	if b, usual := r.Budget, BudgetFor(j.r.Kernel.Target); b.Registers > usual.Registers || b.Shared > usual.Shared || b.Spills > usual.Spills {
		summary = append(summary, fmt.Sprintf("the budget is larger than the default: %d registers, %d bytes, %d bytes of spills", b.Registers, b.Shared, b.Spills))
	}
	return gateOf(record.Red, over, strings.Join(summary, "; "))
}}

// used says what a kernel uses on its targets. Targets on which it uses the same share a text.
func used(r *record.Resources) (texts []string) {
	for rest := r.Usage; len(rest) > 0; {
		first, n := &rest[0], 1
		for n < len(rest) && rest[n].Registers == first.Registers && rest[n].Shared == first.Shared {
			n++
		}
		var targets, fits []string
		for i := range rest[:n] {
			targets = append(targets, rest[i].Target)
			if f := blocks(r, &rest[i]); f != nil && n == 1 {
				fits = append(fits, fmt.Sprintf(", %s per SM (%s)", english.Count(f.Blocks, "block"), f.Limit))
			} else if f != nil {
				fits = append(fits, fmt.Sprintf("%d on %s (%s)", f.Blocks, rest[i].Target, f.Limit))
			}
		}
		text := fmt.Sprintf("%s: %s, %d bytes of shared memory", english.List(targets), registers(first.Registers), first.Shared.Value+r.Dynamic)
		if n > 1 && len(fits) > 0 {
			text += "; blocks per SM: "
		}
		texts, rest = append(texts, text+strings.Join(fits, ", ")), rest[n:]
	}
	return texts
}

// registers returns a number of registers with its source: "116 registers (estimate)".
func registers(f resources.Figure) string {
	if !f.Known() {
		return "unknown registers"
	}
	return fmt.Sprintf("%s (%s)", english.Count(f.Value, "register"), f.Source)
}

// blocks returns how many blocks fit on an SM of the target and what limits them, or nil if that
// is not known.
func blocks(r *record.Resources, u *resources.Usage) *occupancy.Fit {
	target, err := ptx.ParseTarget(u.Target)
	sm, ok := occupancy.Of(target)
	if err != nil || !ok || r.Threads == 0 || !u.Registers.Known() {
		return nil
	}
	f := sm.Fit(occupancy.Block{Threads: r.Threads, Registers: u.Registers.Value, Shared: u.Shared.Value + r.Dynamic})
	return &f
}

// overBudget returns what a kernel uses beyond its budget on one target, measured and
// estimated. An estimate of registers or spills does not make the gate red.
func overBudget(r *record.Resources, u *resources.Usage) (measured, estimated []string) {
	for _, f := range []struct {
		what    string
		figure  resources.Figure
		dynamic int // bytes of shared memory that the launch adds
		most    int
	}{
		{"registers", u.Registers, 0, r.Budget.Registers},
		{"bytes of shared memory", u.Shared, r.Dynamic, r.Budget.Shared},
		{"bytes of spill stores", u.SpillStores, 0, r.Budget.Spills},
		{"bytes of spill loads", u.SpillLoads, 0, r.Budget.Spills},
	} {
		n := f.figure.Value + f.dynamic
		if !f.figure.Known() || n <= f.most {
			continue
		}
		text := fmt.Sprintf("%s: %d %s, the budget is %d (%s)", u.Target, n, f.what, f.most, f.figure.Source)
		if f.figure.Source == resources.Estimate && f.dynamic == 0 {
			estimated = append(estimated, text)
		} else {
			measured = append(measured, text)
		}
	}
	return measured, estimated
}
