package isa_test

import (
	"flag"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/isatest"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

var (
	onlyFlag    = flag.String("only", "", "check only the forms whose \"family: syntax\" this regular expression matches")
	minimalFlag = flag.Bool("minimal", false, "report variants that ptxas also takes below the minimum the table gives")
)

// batch is the largest number of variants in a module. A larger batch needs fewer starts of
// ptxas, but the time of ptxas grows faster than linearly with the size of a module.
const batch = 400

// group is a list of variants to assemble for one version and architecture.
type group struct {
	needs isa.Needs
	ms    []isa.Match
}

// variants returns every variant of the table, in the order of the table. Of forms with thousands of
// variants that differ only in hints, it returns every seventh.
func variants() []isa.Match {
	var ms []isa.Match
	only := regexp.MustCompile(*onlyFlag)
	for _, fam := range isa.Families {
		for _, f := range fam.Forms {
			if only.MatchString(fam.Name + ": " + f.Syntax) {
				all := slices.Collect(f.Variants())
				if fam.ReadOnly && len(all) > 2000 {
					for i := range len(all) / 7 {
						all[i] = all[7*i]
					}
					all = all[:len(all)/7]
				}
				ms = append(ms, all...)
			}
		}
	}
	return ms
}

// groups forms groups of up to batch variants that are assembled for the same version and
// architecture. at returns the version and architecture for the needs of a variant, or false
// if the assembler is too old; newer counts these variants.
func groups(ms []isa.Match, at func(isa.Needs) (isa.Needs, bool)) (gs []*group, newer int) {
	open := map[isa.Needs]*group{}
	for _, m := range ms {
		for _, n := range append(m.OtherNeeds(), m.Needs()) {
			n, ok := at(n)
			if !ok {
				newer++
				continue
			}
			g := open[n]
			if g == nil || len(g.ms) == batch {
				g = &group{needs: n}
				open[n] = g
				gs = append(gs, g)
			}
			g.ms = append(g.ms, m)
		}
	}
	return gs, newer
}

// each runs f over the groups on all cores.
func each(gs []*group, f func(*group)) {
	var wg sync.WaitGroup
	work := make(chan *group)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for g := range work {
				f(g)
			}
		})
	}
	for _, g := range gs {
		work <- g
	}
	close(work)
	wg.Wait()
}

func assembler(t *testing.T) *isatest.Assembler {
	t.Helper()
	a, err := isatest.Find()
	if err != nil {
		t.Skip(err)
	}
	t.Logf("%s: PTX %s, %s to %s", a.Path, a.Version, a.Targets[0], a.Targets[len(a.Targets)-1])
	return a
}

// TestAssembles checks that ptxas assembles every variant of the table for the version and
// architecture that the table says it needs.
func TestAssembles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	a := assembler(t)
	ms := variants()
	gs, newer := groups(ms, a.Floor)
	var refused tally
	each(gs, func(g *group) {
		bad, err := a.Check(g.ms, g.needs, "-O0")
		if err != nil {
			t.Error(err)
		}
		for i, msg := range bad {
			refused.add(g, i, msg)
		}
	})
	refused.report(t.Errorf)
	t.Logf("%d variants, %d of them newer than this ptxas", len(ms), newer)
}

// TestMinimal lists variants that ptxas also assembles for an older version or architecture
// than the table says they need. It does not fail on them, because ptxas accepts some
// instructions that the manual forbids.
func TestMinimal(t *testing.T) {
	if !*minimalFlag {
		t.Skip("run with -minimal")
	}
	a := assembler(t)
	var taken tally
	for _, lower := range []func(isa.Needs) (isa.Needs, bool){
		func(n isa.Needs) (isa.Needs, bool) { return lowerVersion(a, n) },
		func(n isa.Needs) (isa.Needs, bool) { return lowerTarget(a, n) },
	} {
		gs, _ := groups(variants(), lower)
		each(gs, func(g *group) {
			bad, err := a.Check(g.ms, g.needs, "-O0")
			if err != nil {
				t.Error(err)
			}
			for i, m := range g.ms {
				if _, refused := bad[i]; !refused && !m.RunsOn(g.needs.Version, g.needs.Target) {
					n := m.Needs()
					taken.add(g, i, fmt.Sprintf("assembles; the table says PTX %s %s", n.Version, n.Target))
				}
			}
		})
	}
	taken.report(t.Logf)
}

// tally collects findings about variants and reports one line per form and finding.
type tally struct {
	mu    sync.Mutex
	found map[finding][]string
}

type finding struct {
	form  *isa.Form
	needs isa.Needs
	msg   string
}

func (ta *tally) add(g *group, i int, msg string) {
	ta.mu.Lock()
	defer ta.mu.Unlock()
	if ta.found == nil {
		ta.found = map[finding][]string{}
	}
	k := finding{g.ms[i].Form, g.needs, msg}
	ta.found[k] = append(ta.found[k], g.ms[i].Opcode().Text)
}

func (ta *tally) report(printf func(string, ...any)) {
	for k, ops := range ta.found {
		slices.Sort(ops)
		printf("%s: %s for PTX %s %s and %d more: %s",
			k.form.Syntax, ops[0], k.needs.Version, k.needs.Target, len(ops)-1, k.msg)
	}
}

// lowerVersion returns the needs with the previous PTX version. It reports false if that version
// does not support the target.
func lowerVersion(a *isatest.Assembler, n isa.Needs) (isa.Needs, bool) {
	n, ok := a.Floor(n)
	v := n.Version
	if v.Minor--; v.Minor < 0 {
		last := map[int]int{3: 2, 4: 3, 5: 0, 6: 5, 7: 8, 8: 8} // the last minor version of each major version
		v = ptx.Version{Major: v.Major - 1, Minor: last[v.Major-1]}
	}
	n.Version = v
	return n, ok && !v.Less(n.Target.MinVersion())
}

// lowerTarget returns the needs with the previous architecture and the newest version, so that
// only the architecture can be the reason if ptxas refuses a variant.
func lowerTarget(a *isatest.Assembler, n isa.Needs) (isa.Needs, bool) {
	n, ok := a.Floor(n)
	i := slices.Index(a.Targets, n.Target)
	if !ok || i == 0 {
		return n, false
	}
	return isa.Needs{Version: a.Version, Target: a.Targets[i-1]}, true
}
