// Package verify checks a PTX module without running it.
//
// [Check] returns a list of [finding.Finding]. Each names the line of the PTX text and, if
// the text has .loc directives, the line of the source. An error is something that ptxas
// refuses, or that cannot work. A warning is something legal that is very likely a mistake.
// Code that compilers emit and ptxas accepts is never an error.
//
// The analyses behind the checks can be used on their own: [NewCFG] builds the
// control-flow graph with dominators, post-dominators and loops, [Uniformity] finds the
// registers that are the same in all lanes of a warp, [Pressure] estimates the number of
// registers from live ranges, [SharedStatic] adds up shared memory, and [MinTarget] finds
// the least version and architecture that a module needs.
package verify
