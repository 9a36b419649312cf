// Package emu runs PTX without a GPU, exact to the bit.
//
// It consists of these packages. Each imports only packages above it:
//
//	observe           the interface between a launch and its observers
//	internal/memory   allocations, address windows, mbarriers, tensor maps
//	internal/machine  launches, clusters, blocks, warps and lanes; runs programs
//	internal/operand  translates operands to registers and addresses of the machine
//	internal/ops      the instructions, one file per family
//	internal/decode   translates PTX text to a program of the machine
//	emu               the device: memory, modules, launches, streams, graphs
//
// An instruction takes this path from text to execution: [Device.Load] calls decode, which
// parses the text and looks each instruction up in ptx/isa. A builder in ops asks operand
// for the registers of the instruction and returns one Go function over whole warps, which
// decode stores in the program. In a launch, the machine calls that function with the frame
// of a warp and the mask of the lanes whose guard holds. With an observer, the machine runs
// a copy of the program in which the instructions that the observer wants announce
// themselves first.
//
// Blocks that cannot communicate run in parallel on all cores; results do not depend on it.
package emu
