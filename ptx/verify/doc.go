// Package verify judges a PTX module without running it.
//
// [Check] reports everything it finds as a list of [finding.Finding], each at the line of
// the PTX text and, where .loc says so, at the line of the source the PTX came
// from. An error is something an assembler refuses or a program that cannot
// work; a warning is something legal that is very likely a mistake. What
// compilers emit and assemblers accept is never an error.
//
// The analyses behind the checks stand on their own: [NewCFG] builds the
// control-flow graph with dominators, post-dominators and loops, [Uniformity]
// says which registers are the same in all lanes of a warp, [Pressure] estimates
// register need from live ranges, [SharedStatic] adds up shared memory and
// [MinTarget] finds the least version and architecture a module needs.
package verify
