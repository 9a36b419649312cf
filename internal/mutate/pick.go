package mutate

import (
	"cmp"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// Pick yields a sample of mutants that pass Check, in random order: all mutants of the
// synchronisation, and count others. The others are drawn in turns from the strata, which are
// the pairs of an operator and a region, so that a rare mistake is not lost among the common
// ones. A stratum without further mutants leaves its turns to the rest. The mutants of the
// synchronisation are spread evenly among the others, and each turn has its own order of the
// strata, so the beginning of the sample has about the same shares as all of it. The same seed
// gives the same sample.
func (p *Program) Pick(all []*Mutant, count int, seed uint64) iter.Seq[*Mutant] {
	return func(yield func(*Mutant) bool) {
		syncs, others := split(all)
		shuffle(syncs, seed, "sync")
		turns := &turns{strata: strata(others, seed), random: random(seed, "turns")}
		count := min(count, len(others))
		for i, j := 0, 0; i < len(syncs) || j < count; {
			var m *Mutant
			if j == count || i < len(syncs) && (2*i+1)*count <= (2*j+1)*len(syncs) {
				if m = syncs[i]; p.Check(m) != nil {
					m = nil
				}
				i++
			} else if m = turns.next(p); m != nil {
				j++
			} else {
				count = j // no stratum has a mutant left
			}
			if m != nil && !yield(m) {
				return
			}
		}
	}
}

// split returns the mutants of the synchronisation, and the others.
func split(all []*Mutant) (syncs, others []*Mutant) {
	for _, m := range all {
		if m.Sync() {
			syncs = append(syncs, m)
		} else {
			others = append(others, m)
		}
	}
	return syncs, others
}

// turns draws mutants from strata in turns.
type turns struct {
	strata [][]*Mutant
	random *rand.Rand
	at     int // the next stratum of this turn
}

// next returns the next mutant that passes Check, or nil if no stratum has one.
func (t *turns) next(p *Program) *Mutant {
	for len(t.strata) > 0 {
		if t.at == 0 {
			t.random.Shuffle(len(t.strata), func(i, j int) { t.strata[i], t.strata[j] = t.strata[j], t.strata[i] })
		}
		m := p.draw(&t.strata[t.at])
		if t.at++; t.at == len(t.strata) {
			t.strata, t.at = slices.DeleteFunc(t.strata, func(s []*Mutant) bool { return len(s) == 0 }), 0
		}
		if m != nil {
			return m
		}
	}
	return nil
}

// draw takes the next mutant that passes Check from a stratum. It returns nil if there is
// none.
func (p *Program) draw(stratum *[]*Mutant) *Mutant {
	for len(*stratum) > 0 {
		m := (*stratum)[0]
		*stratum = (*stratum)[1:]
		if p.Check(m) == nil {
			return m
		}
	}
	return nil
}

// strata returns mutants by operator and region, each stratum in random order.
func strata(all []*Mutant, seed uint64) (list [][]*Mutant) {
	at := map[[2]string]int{}
	for _, m := range all {
		key := [2]string{m.Operator, string(m.Region)}
		i, ok := at[key]
		if !ok {
			i = len(list)
			at[key], list = i, append(list, nil)
		}
		list[i] = append(list[i], m)
	}
	for _, s := range list {
		shuffle(s, seed, s[0].Operator+"/"+string(s[0].Region))
	}
	sorted.By(list, func(a, b []*Mutant) int {
		return cmp.Or(cmp.Compare(order(a[0].Operator), order(b[0].Operator)), cmp.Compare(slices.Index(Regions, a[0].Region), slices.Index(Regions, b[0].Region)))
	})
	return list
}

// shuffle puts mutants in random order.
func shuffle(list []*Mutant, seed uint64, purpose string) {
	random(seed, purpose).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// random returns a source of random numbers for one purpose: the numbers of other purposes do
// not depend on how many it gives.
func random(seed uint64, purpose string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// order returns the place of an operator in Operators.
func order(name string) int {
	return slices.IndexFunc(Operators, func(o Operator) bool { return o.Name == name })
}
