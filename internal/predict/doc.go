// Package predict predicts how long a kernel keeps the units of a GPU busy. It uses the counts
// of a run on the emulator and the throughputs of the units.
//
// It is a model and not a measurement. It knows throughputs but no latencies, and PTX but not the
// machine code that the driver makes of it. It models no caches, except that what a block reads
// comes through the L2 once. Every output marks its times as PREDICTED, and no gate uses them.
//
// A prediction has two times. Low is the time of the busiest unit, as if all other work
// overlapped with it. High is the sum of the times of the kernel's phases, each as long as its own
// busiest unit, as if no phases overlapped. A phase is the code from one source file, or from one
// source line if there is only one file. The model shows which parts of a kernel are worth
// optimising: a part with a small share cannot save much time.
//
// # Throughput of the units
//
// Per SM and clock; one instruction of a warp has 32 lanes. See [Chip].
//
//	tensor   the operations of mma, wgmma and wmma; on Hopper, mma.sync and wmma reach two
//	         thirds of the rate of wgmma
//	exp      ex2, lg2, rcp, rsqrt, sqrt, sin, cos and tanh, 16 lanes
//	float    arithmetic of f32 and halves, 128 lanes (64 on sm_80)
//	integer  integers, comparisons, selections, conversions, 64 lanes
//	issue    all instructions, 4 warps
//	shared   wavefronts of shared memory, 1
//	global   sectors of global memory, 64 bytes
//	dram     each operand once, at the bandwidth of the whole chip
//
// Moves, loads of parameters and conversions of address spaces cost nothing: the assembler
// removes most of them.
package predict
