// Package mutate makes mutants of a PTX program: copies with one small mistake each. A test
// that accepts a wrong mutant would also accept a kernel with that mistake.
//
//	p, err := mutate.Parse("kernel.ptx", text)
//	for m := range p.Pick(p.Mutants(), 100, seed) {
//		run(p.Text(m))
//	}
//
// An operator is a kind of mistake: a barrier that is missing, a wrong register, a comparison
// with < instead of <=. [Operators] lists them. [Program.Mutants] applies every operator at
// every place where the instruction table allows the result, and [Program.Pick] draws a
// sample that has all mutants of the synchronisation and the same share of all other
// operators and regions.
package mutate
