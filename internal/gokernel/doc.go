// Package gokernel builds kernels of Go packages that are not part of attest, such as
// ./mypkg.Kernel. It compiles a small program that calls the package, with the Go toolchain of
// the user, and reads the kernel that the program writes. Nothing is written to the user's module.
package gokernel
