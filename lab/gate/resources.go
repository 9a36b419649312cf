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
	var over, unsure, summary []string
	for i := range r.Usage {
		u := &r.Usage[i]
		measured, estimated := overBudget(r, u)
		over, unsure = append(over, measured...), append(unsure, estimated...)
		if !u.Registers.Known() {
			unsure = append(unsure, u.Target+": the number of registers is not known")
		}
		summary = append(summary, fmt.Sprintf("%s: %v registers, %d bytes of shared memory%s", u.Target, u.Registers, u.Shared.Value+r.Dynamic, blocks(r, u)))
	}
	if len(over) == 0 && len(unsure) > 0 {
		g := skip("%s; ptxas or a GPU gives the exact number", unsure[0])
		g.Reasons = unsure
		return g
	}
	if b, usual := r.Budget, BudgetFor(j.r.Kernel.Target); b.Registers > usual.Registers || b.Shared > usual.Shared || b.Spills > usual.Spills {
		summary = append(summary, fmt.Sprintf("the budget is larger than the default: %d registers, %d bytes, %d bytes of spills", b.Registers, b.Shared, b.Spills))
	}
	return gateOf(record.Red, over, strings.Join(summary, "; "))
}}

// blocks says how many blocks fit on an SM of the target, where that is known: ", 2 blocks
// per SM (shared memory)" when a third would lack shared memory.
func blocks(r *record.Resources, u *resources.Usage) string {
	target, err := ptx.ParseTarget(u.Target)
	sm, ok := occupancy.Of(target)
	if err != nil || !ok || r.Threads == 0 || !u.Registers.Known() {
		return ""
	}
	f := sm.Fit(occupancy.Block{Threads: r.Threads, Registers: u.Registers.Value, Shared: u.Shared.Value + r.Dynamic})
	return fmt.Sprintf(", %s per SM (%s)", english.Count(f.Blocks, "block"), f.Limit)
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
