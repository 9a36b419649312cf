// Package decode loads PTX text into a program of the machine: it parses the text, places
// the variables, binds each instruction to the function that executes it, and decides
// whether the blocks of a kernel may run in parallel.
package decode
