// Package emu runs PTX without a GPU, exact to the bit.
//
// A function is decoded once into one Go function per instruction, over whole
// warps: a register is an array of 32 lanes, constants and special registers are
// registers that are filled beforehand, so an instruction never asks what kind of
// operand it has. A warp runs in lockstep as long as its lanes agree on where they
// are; where they part it becomes several splits, and the one that is furthest
// behind in the function runs first, so that lanes meet again where the paths
// join. A split that waits or spins gives way to the others, as independent thread
// scheduling promises.
//
// Blocks that do not talk to each other run in parallel on all cores; results do
// not depend on it. One file holds one family of instructions.
package emu
