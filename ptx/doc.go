// Package ptx is the intermediate representation of PTX, NVIDIA's virtual
// instruction set, and its printer.
//
// A [Module] is one translation unit, kept in the order of its text so that it
// prints as it was written. A [Func] has a flat list of statements; braces are
// statements too ([ScopeOpen], [ScopeClose]), because PTX scopes hold names and
// not control flow. Every name in an operand points to its [Symbol], so a pass
// over a function never looks a name up.
//
// The package knows the shape of the language but no instruction: which
// modifiers and operands an opcode takes is the business of ptx/isa, and whether
// a program keeps to that is the business of ptx/verify. Text becomes a Module
// in ptx/parse; Go code becomes one in build.
package ptx
