// Package resources says what kernels take of a GPU: registers, spills, stack,
// shared and constant memory.
//
// Who is asked depends on what there is. NVIDIA's assembler, ptxas, knows all of
// it and for any target, so a machine with a Hopper card learns what a kernel
// takes on Ada. Without it, the compiler in the driver knows of the card that is
// present. Without a card there is an estimate from live ranges. Every [Figure]
// says which of these it is from, and a figure that nobody knows says so too.
package resources
