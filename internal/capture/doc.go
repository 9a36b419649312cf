// Package capture records the kernel launches of a program as launch files, which attest exec
// replays on the emulator with all checkers.
//
// The program runs as always, on a machine with a GPU. Python imports a file of attest before the
// program starts. The file waits for Triton and surrounds every launch of a compiled kernel: it
// saves the PTX, the parameters, and the memory that they point to, before and after the launch.
package capture
