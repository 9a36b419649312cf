// Package errmap draws where the errors of an output are, for a terminal: a row for
// each head, a column for each tile of query rows, and a letter in which larger errors
// are darker. Below it stand the tiles of keys that are to blame, the worst element and
// the likely cause, where the record knows them.
package errmap
