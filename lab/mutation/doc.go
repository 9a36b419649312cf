// Package mutation measures the mutation score of a kernel: the share of its wrong mutants
// that the gates reject. The score says how much a green gate is worth.
//
//	score, err := mutation.Run(ctx, subject, mutation.Options{Plan: lab.Quick(), Count: 100, Seed: 1})
//
// Package internal/mutate makes the mutants, and lab.Trials judges them. A mutant that the
// gates let pass is compared with the original on more inputs: it is equivalent if it has the
// same bits, accurate if its errors have the same size, and otherwise a wrong survivor.
// Equivalent and accurate mutants do not count. Mutants that are probably equivalent pass the
// slow steps in groups, as one program with all their changes.
package mutation
