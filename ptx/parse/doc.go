// Package parse reads PTX text into the representation of package ptx.
//
// The package knows the grammar but no instruction: it parses an unknown opcode like any
// other. It resolves names, because scopes are part of the text: registers (it never
// expands ranges such as %r<100>), variables, functions, labels that are used before they
// are defined, and the labels that inline assembly repeats in every pair of braces. A name
// that is not declared gets a symbol of kind ptx.UndefinedSymbol, and ptx/verify reports it.
//
// The text is read once from left to right without a list of tokens, in time proportional
// to its length. Nesting is limited, so a hostile text gives an error and cannot exhaust
// the stack.
package parse
