// Package errmap draws for a terminal where the errors of an output are: one row per head,
// one column per tile of query rows, and a darker letter for a larger error. Below the map it
// names the tiles of keys that explain the errors, the worst element and the likely cause,
// where the record has them.
package errmap
