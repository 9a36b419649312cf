// Package memory holds what the emulator keeps in memory: the allocations of global
// memory, the windows of the generic address space, and the words that hardware keeps in
// a format of its own, mbarriers and tensor maps.
package memory
