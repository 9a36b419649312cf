// Package frozen keeps kernels from changing by accident. Its test writes every preset
// and design in every form, and every neighbour that tuning could step to, and compares
// their normal forms, launches and output bits with a golden file.
//
// The same normal form gives the same bits and the same time, so a rewrite of a generator
// that leaves the golden file alone needs no GPU. A change that is meant to be one is
// recorded with
//
//	go test ./internal/frozen -update
//
// and the difference of the golden file is part of the review.
package frozen
