package explain

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/predict/machine"
)

// conflicts tries addresses without bank conflicts.
func (f *finder) conflicts() {
	for _, s := range f.top(most, func(s *spot) float64 { return float64(s.conflicts) }) {
		n := float64(s.executed)
		f.add(candidate{Change: Change{Kind: "bank conflicts"}, edit: &machine.Edit{NoConflicts: s.ids}}, s,
			"avoid the bank conflicts of %v: %.1f wavefronts per access, %.1f without conflicts", s, float64(s.waves)/n, float64(s.waves-s.conflicts)/n)
	}
}

// sectors tries accesses of global memory that use every byte of the sectors they touch.
func (f *finder) sectors() {
	wasted := func(s *spot) float64 {
		if float64(s.needed) > 0.75*float64(s.sectors) {
			return 0
		}
		return float64(s.sectors - s.needed)
	}
	for _, s := range f.top(most, wasted) {
		f.add(candidate{Change: Change{Kind: "coalescing"}, edit: &machine.Edit{Coalesced: s.ids}}, s,
			"coalesce %v: it moves %d bytes for %d that are used", s, 32*s.sectors/s.executed, 32*s.needed/s.executed)
	}
}

// chains tries independent accumulators in place of a serial chain.
func (f *finder) chains() {
	spots := f.top(3*most, func(s *spot) float64 {
		for id := range s.ids {
			switch f.m.UnitOf(id) {
			case machine.Float, machine.Half, machine.Double, machine.ALU, machine.IMad, machine.Tensor:
				return s.micros
			}
		}
		return 0
	})
	for _, s := range spots {
		if chain := f.m.Chained(s.ids); len(chain) > 0 {
			f.add(candidate{Change: Change{Kind: "serial reduction"}, edit: &machine.Edit{Chains: chain}}, s,
				"split the serial chain of %v into %d independent accumulators", s, machine.Accumulators)
		}
	}
}

// updates tries to take away atomics whose lanes update the same address. How long these wait for each other is not
// simulated.
func (f *finder) updates() {
	for _, s := range f.top(most, func(s *spot) float64 { return float64(s.same - s.executed) }) {
		f.add(candidate{Change: Change{Kind: "atomics", Bound: true}, edit: &machine.Edit{Free: s.ids}}, s,
			"add up the values of each warp or block before %v: on average %.1f lanes update one address", s, float64(s.same)/float64(s.executed))
	}
}

// exponentials tries polynomials in place of every second exponential.
func (f *finder) exponentials() {
	ids, half, which := f.unit(machine.Exp), machine.IDs{}, "every second"
	for i, id := range ids {
		if i%2 == 0 && strings.HasPrefix(f.l.Program[id].Op.Name, "ex2") {
			half[id] = true
		}
	}
	if len(half) == 0 {
		return
	}
	if len(ids) == 1 {
		which = "the"
	}
	f.add(candidate{Change: Change{Kind: "exponentials"}, edit: &machine.Edit{Polynomial: half}}, nil,
		"compute %s ex2 with a polynomial of multiplications and additions", which)
}

// divisions tries multiplications in place of integer divisions by variables.
func (f *finder) divisions() {
	ids := machine.IDs{}
	for i := range f.l.Program {
		if f.m.Divides(int32(i)) {
			ids[int32(i)] = true
		}
	}
	if len(ids) > 0 {
		f.add(candidate{Change: Change{Kind: "divisions"}, edit: &machine.Edit{Cheap: ids}}, nil,
			"replace the integer divisions by variables (%d) with multiplications by a reciprocal", len(ids))
	}
}

// products tries products at the rate of wgmma in place of mma.sync.
func (f *finder) products() {
	if f.chip.Target.SM == 90 && len(f.unit(machine.Tensor)) > 0 {
		f.add(candidate{Change: Change{Kind: "products"}, edit: &machine.Edit{Native: true}}, nil,
			"compute the products with wgmma: mma.sync reaches %.0f %% of its rate on %s", 100*f.chip.Get("mma_sync_share"), f.chip.Name)
	}
}

// earlyLoads tries loads that were started before their results are needed. Loads at the start of a kernel and loads
// whose address comes from an earlier one of them cannot start earlier.
func (f *finder) earlyLoads() {
	for _, s := range f.top(most, func(s *spot) float64 { return float64(s.late) }) {
		if !strings.HasPrefix(s.key.text, "ld") || f.m.Recurs(s.ids) {
			continue
		}
		f.add(candidate{Change: Change{Kind: "prefetch"}, edit: &machine.Edit{Early: s.ids}}, s,
			"start %v earlier, so that its latency is hidden", s)
	}
}

// barriers tries barriers at which no warp waits.
func (f *finder) barriers() {
	spots := f.top(most, func(s *spot) float64 {
		if name, _, _ := strings.Cut(s.key.text, "."); name != "bar" && name != "barrier" || strings.Contains(s.key.text, "warp") {
			return 0
		}
		return float64(s.executed)
	})
	for _, s := range spots {
		f.add(candidate{Change: Change{Kind: "barrier", Bound: true}, edit: &machine.Edit{NoWait: s.ids}}, s,
			"let no warp wait at %v", s)
	}
}

// fetches tries code that is always in the cache.
func (f *finder) fetches() {
	f.add(candidate{Change: Change{Kind: "instruction fetch", Bound: true}, edit: &machine.Edit{Fetched: true}}, nil,
		"shorten the code or its loops, so that instructions are always in the cache")
}

// freeLines tries lines that take no time: the most that an improvement of the line can give.
func (f *finder) freeLines() {
	for _, s := range f.top(most, func(s *spot) float64 { return s.micros }) {
		f.add(candidate{Change: Change{Kind: "line", Bound: true}, edit: &machine.Edit{Free: s.ids}}, s, "remove %v", s)
	}
}

// merged is the change of a kernel of n launches to one launch.
func merged(n int, chip chips.Chip) Change {
	return Change{Kind: "launches", Bound: true, Gain: float64(n-1) * chip.Get("launch_us"), What: fmt.Sprintf("merge the %d launches into one", n)}
}
