// Package parse reads PTX text into the representation of package ptx.
//
// It knows the grammar and no instruction: an opcode nobody has heard of is
// parsed like any other. It does resolve names, because PTX's scopes are part of
// the text: registers (ranges such as %r<100> are never expanded), variables,
// functions, labels that are used before they are defined, and the labels that
// inline assembly repeats in every pair of braces. A name that nobody declared
// gets a symbol of kind ptx.UndefinedSymbol; saying so is the business of
// ptx/verify.
//
// The text is read once from left to right without a token list, in time
// proportional to its length. Nesting is limited, so hostile text costs an error
// and no stack.
package parse
