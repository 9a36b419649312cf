// Package isatest turns entries of the instruction table into PTX programs and checks them
// with ptxas.
//
// [Kernel] writes variants as a module: it declares registers, chooses operands of the right
// shape and type, and writes each variant with and without its optional operands. [Find]
// looks for ptxas, and [Assembler.Check] returns the variants that ptxas refuses, with its
// reasons.
package isatest
