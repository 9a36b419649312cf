// Package ptx is the intermediate representation of PTX, NVIDIA's virtual
// instruction set, and its printer.
//
// A [Module] is one translation unit. It keeps the order of its text, so that it prints
// as it was written. A [Func] has a flat list of statements; braces are
// statements too ([ScopeOpen], [ScopeClose]), because PTX scopes hold names and
// not control flow. Every name in an operand points to its [Symbol], so a pass
// over a function never looks a name up.
//
// The package knows the grammar of the language but no instruction. Package ptx/isa lists
// the modifiers and operands of each opcode, and ptx/verify checks a module against that
// list. Package ptx/parse makes a Module from text, and package build makes one in Go.
package ptx
