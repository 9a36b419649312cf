// Package cuda runs kernels on an NVIDIA GPU through the CUDA driver, without cgo
// and without the CUDA toolkit: libcuda is opened at run time, and its own compiler
// turns PTX into machine code.
//
// A machine without the library or without a GPU is a normal one: the driver then
// reports no device, and opening one says what is missing.
//
// A CUDA context belongs to a thread. Each [Device] has a thread of its own that
// makes all of its calls, so that goroutines use it as they please.
package cuda
