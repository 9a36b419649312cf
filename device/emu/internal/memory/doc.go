// Package memory implements the memory of the emulator: the allocations of global memory,
// the windows of the generic address space, and the objects that hardware stores in
// memory in its own format, mbarriers and tensor maps.
package memory
