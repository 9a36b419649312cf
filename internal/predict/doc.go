// Package predict says how long a kernel keeps the units of a GPU busy, from what it
// did on the emulator and from what the units do in a clock.
//
// It is a model and no measurement: it knows throughputs and not latencies, PTX and not
// what the driver makes of it, and nothing of caches beyond that what a block reads
// comes through the L2 once. Whatever shows its figures calls them PREDICTED, and no
// gate takes them.
//
// Two times come out. Low is the busiest unit alone, as if all the others were hidden
// behind it. High is the phases of the kernel one after the other, each as long as its
// own busiest unit, as if nothing were hidden at all. A phase is what a file of the
// kernel's sources wrote, or a line where there is only one file. A part of the kernel
// whose share is small cannot pay, whatever is done to it: that is what the model is
// for.
//
// # What a unit does in a clock
//
// Of one SM: a warp's instruction takes 32 lanes; see [Chip].
//
//	tensor   the operations of mma, wgmma and wmma; mma.sync and wmma reach two thirds
//	         of the rate on Hopper, whose full rate is wgmma's
//	exp      ex2, lg2, rcp, rsqrt, sqrt, sin, cos and tanh, 16 lanes
//	float    arithmetic of f32 and halves, 128 lanes (64 on sm_80)
//	integer  integers, comparisons, selections, conversions, 64 lanes
//	issue    every instruction, four warps
//	shared   wavefronts of shared memory, one
//	global   sectors of global memory, 64 bytes
//	dram     each operand once, for the whole chip
//
// Moves, parameters and address spaces cost nothing: the assembler removes most of
// them.
package predict
