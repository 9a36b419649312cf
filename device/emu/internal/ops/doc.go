// Package ops implements the instructions, one file per family. A file has one builder per
// opcode: it decodes the operands once and returns the function that executes the
// instruction for the lanes of a warp.
//
// A file registers its opcodes in init. An instruction that only computes has a builder.
// An instruction that the warp's loop must know (a branch, a wait, a call) has a
// controller, which fills in the whole [machine.Op].
package ops
