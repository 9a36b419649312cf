// Package emu runs PTX without a GPU, exact to the bit.
//
// The rooms, each of which imports only those above it:
//
//	observe           what observers of a launch are told
//	internal/memory   allocations, address windows, mbarriers, tensor maps
//	internal/machine  launches, clusters, blocks, warps, lanes: what runs a program
//	internal/operand  operands as registers and addresses of the machine
//	internal/ops      the instructions, one file per family
//	internal/decode   PTX text to a program of the machine
//	emu               the device: memory, modules, launches, streams, graphs
//
// The path of an instruction from text to lanes: [Device.Load] has decode parse the text
// and look each instruction up in ptx/isa. A builder in ops asks operand for the registers
// of the instruction and returns one Go function over whole warps, which decode stores in
// the program. A launch then has the machine call that function with the frame of a warp
// and the mask of the lanes whose guard holds. With an observer, the machine runs a copy of
// the program in which the instructions that the observer wants announce themselves first.
//
// Blocks that cannot communicate run in parallel on all cores; results do not depend on it.
package emu
