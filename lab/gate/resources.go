package gate

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/record"
)

// BudgetFor is what a kernel whose PTX is for a target may take: 128 registers, 64 KB
// of shared memory and no spills. Code for one architecture alone, as sm_90a, is
// written to fill an SM with a block of three warpgroups: 168 registers and 227 KB.
func BudgetFor(target string) record.Budget {
	if strings.HasSuffix(target, "a") {
		return record.Budget{Registers: 168, Shared: 227 << 10}
	}
	return record.Budget{Registers: 128, Shared: 64 << 10}
}

func judgeResources(r *record.Resources, target string) record.Gate {
	if r == nil || len(r.Usage) == 0 {
		return skip("resources were not measured")
	}
	var over, guessed, summary []string
	for i := range r.Usage {
		u := &r.Usage[i]
		for _, f := range []struct {
			what   string
			figure resources.Figure
			plus   int
			most   int
		}{
			{"registers", u.Registers, 0, r.Budget.Registers},
			{"bytes of shared memory", u.Shared, r.Dynamic, r.Budget.Shared},
			{"bytes of spill stores", u.SpillStores, 0, r.Budget.Spills},
			{"bytes of spill loads", u.SpillLoads, 0, r.Budget.Spills},
		} {
			if n := f.figure.Value + f.plus; f.figure.Known() && n > f.most {
				text := fmt.Sprintf("%s: %d %s, the budget is %d (%s)", u.Target, n, f.what, f.most, f.figure.Source)
				if f.figure.Source == resources.Estimate && f.plus == 0 {
					guessed = append(guessed, text)
				} else {
					over = append(over, text)
				}
			}
		}
		if !u.Registers.Known() {
			guessed = append(guessed, u.Target+": nobody knows the registers")
		}
		summary = append(summary, fmt.Sprintf("%s: %v registers, %d bytes of shared memory", u.Target, u.Registers, u.Shared.Value+r.Dynamic))
	}
	if len(over) == 0 && len(guessed) > 0 {
		g := skip("%s; ptxas or a GPU would know", guessed[0])
		g.Reasons = guessed
		return g
	}
	if b, usual := r.Budget, BudgetFor(target); b.Registers > usual.Registers || b.Shared > usual.Shared || b.Spills > usual.Spills {
		summary = append(summary, fmt.Sprintf("by a larger budget than usual: %d registers, %d bytes, %d of spills", b.Registers, b.Shared, b.Spills))
	}
	return verdictOf(record.Red, over, strings.Join(summary, "; "))
}
