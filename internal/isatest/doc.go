// Package isatest turns entries of the instruction table into PTX programs and
// has an assembler judge them.
//
// [Kernel] writes variants out as a module: registers declared, operands of the
// right shape and type, each optional operand left out and present. [Find] looks
// for ptxas, and [Assembler.Check] says which variants it refuses and why.
package isatest
