// Package frozen protects kernels from accidental changes. Its tests generate every preset and
// design in every form, and every neighbour that tuning could try, and compare their normal
// forms, launches and output bits with golden files.
//
// Kernels with the same normal form compute the same bits in the same time. A change of a
// generator that leaves the golden files unchanged therefore needs no run on a GPU. To record
// an intended change, run
//
//	go test ./internal/frozen -update
//
// The difference of the golden files is part of the review.
package frozen
