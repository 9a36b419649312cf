// Package machine simulates the time that traced warps take on the SMs of a GPU.
//
// It has two parts. The first lowers PTX to the operations that a GPU issues: a table of costs, a
// few fusions, and a list scheduler per basic block (cost.go, fuse.go, code.go, schedule.go). The
// second replays traces (sm.go, issue.go, memory.go): four sub-cores per SM issue one operation
// per cycle, in order within a warp, when operands, the unit and barriers allow it.
//
// The numbers come from package chips. What the package does not model: register allocation and
// spills, conflicts of register banks, and the machine code that ptxas makes of the same PTX.
package machine
