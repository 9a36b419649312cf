package mutate

import (
	"cmp"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// Pick yields a sample of mutants that pass Check: all mutants of the synchronisation first,
// and then count others. The others are drawn in turns from the strata, which are the pairs
// of an operator and a region, so that a rare mistake is not lost among the common ones. A
// stratum without further mutants leaves its turns to the rest. The same seed gives the same
// sample.
func (p *Program) Pick(all []*Mutant, count int, seed uint64) iter.Seq[*Mutant] {
	return func(yield func(*Mutant) bool) {
		for _, m := range all {
			if m.Sync() && p.Check(m) == nil && !yield(m) {
				return
			}
		}
		strata := strata(all, seed)
		for count > 0 && len(strata) > 0 {
			for i := 0; i < len(strata) && count > 0; i++ {
				m := p.draw(&strata[i])
				if m == nil {
					continue
				}
				if count--; !yield(m) {
					return
				}
			}
			strata = slices.DeleteFunc(strata, func(s []*Mutant) bool { return len(s) == 0 })
		}
	}
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

// strata returns the mutants outside of the synchronisation by operator and region, each
// stratum in random order.
func strata(all []*Mutant, seed uint64) (list [][]*Mutant) {
	at := map[[2]string]int{}
	for _, m := range all {
		if m.Sync() {
			continue
		}
		key := [2]string{m.Operator, string(m.Region)}
		i, ok := at[key]
		if !ok {
			i = len(list)
			at[key], list = i, append(list, nil)
		}
		list[i] = append(list[i], m)
	}
	for _, s := range list {
		h := fnv.New64a()
		h.Write([]byte(s[0].Operator + "/" + string(s[0].Region)))
		r := rand.New(rand.NewPCG(seed, h.Sum64()))
		r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	}
	sorted.By(list, func(a, b []*Mutant) int {
		return cmp.Or(cmp.Compare(order(a[0].Operator), order(b[0].Operator)), cmp.Compare(slices.Index(Regions, a[0].Region), slices.Index(Regions, b[0].Region)))
	})
	return list
}

// order returns the place of an operator in Operators.
func order(name string) int {
	return slices.IndexFunc(Operators, func(o Operator) bool { return o.Name == name })
}
