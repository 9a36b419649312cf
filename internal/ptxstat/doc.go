// Package ptxstat counts what a PTX module is made of: registers, memory,
// instructions by family, loops and barriers, and what it needs to run.
package ptxstat
