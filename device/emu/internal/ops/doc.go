// Package ops has the instructions: one file per family, in which a builder per opcode
// takes the operands apart once and returns the function that executes the instruction
// for the lanes of a warp.
//
// A file registers its opcodes in init. An instruction that only computes registers a
// builder; one that the warp's loop must know (a branch, a wait, a call) registers a
// controller, which fills in the whole [machine.Op].
package ops
