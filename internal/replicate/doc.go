// Package replicate runs a job in another process of this program: times, as one more
// replicate, or the whole measurement of a kernel that might crash, hang or fill the memory.
// The job names no preset: it carries the texts of the kernels and how they are called, as
// JSON, so that the process measures exactly what its parent has.
package replicate
