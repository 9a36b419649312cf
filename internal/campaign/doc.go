// Package campaign is the work of the commands gate, bench, run and compare: it chooses the
// kernels, shapes and plan, measures and judges, and prints and keeps the results. Errors name
// the flag that caused them.
//
// The lab measures one kernel. A campaign measures several, and groups shapes by the kernel
// that computes them, since a kernel is written for one head dimension and kernels for Hopper
// are written for a shape.
package campaign
