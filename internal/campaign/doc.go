// Package campaign measures and judges kernels as the commands gate, bench, run and compare
// ask for it: which kernels, on which shapes, by which plan, in how many processes, and what
// is kept and printed. Errors name the flag of the command line that caused them.
//
// The lab measures one kernel; a campaign goes over many of them and groups shapes by the
// text that computes them, since a kernel is written for one head dimension and kernels for
// Hopper are written for a shape.
package campaign
