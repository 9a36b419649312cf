// Package machine runs decoded programs.
//
// A [Launch] runs clusters of blocks, a block has warps, and a warp executes the [Op]s of
// a [Function] for 32 lanes at once. A register is an array of 32 lanes. Constants and
// special registers are registers that are filled in beforehand, so an instruction never
// asks what kind of operand it has.
//
// A warp runs in lockstep as long as its lanes agree on where they are. When they
// diverge, the warp has several splits, and the split that is furthest behind in the
// function runs first, so that lanes meet again where their paths join. A split that
// waits or polls makes room for the others, as independent thread scheduling promises.
//
// The machine calls the function values that decoding has bound to the instructions. It
// knows how lanes branch, wait, call, access memory and complete asynchronous work, but
// not what any instruction computes.
package machine
