// Package cuda runs kernels on an NVIDIA GPU through the CUDA driver, without cgo
// and without the CUDA toolkit: libcuda is opened at run time, and its own compiler
// turns PTX into machine code.
//
// # Machines without a GPU
//
// A machine without the library or without a GPU is a normal one: [List] and [Open]
// then return an error that is [device.ErrNoDevice] and says what is missing. An
// older driver lacks some entries; what needs them fails with a [*MissingError] that
// names the entry and the driver it came with, and the rest works.
//
// # Goroutines and threads
//
// CUDA keeps the current context in the thread, and goroutines change threads. So
// each call pins its goroutine, makes the GPU's primary context current and then
// calls. A launch is the one call that is made often enough for that to show: as
// long as the process has only ever used one GPU, a thread has that context or none,
// so a launch is tried first and repeated with the context set when the driver says
// that there is none. All types may be used by many goroutines at once.
//
// # Faults and hangs
//
// A kernel that faults makes the context useless for the rest of the process: the
// launch returns a [*LaunchError] that is [device.ErrLost], and so does everything
// after it. Nothing can stop a kernel that hangs. Waiting is polling, so that a
// context that ends, ends the wait: the error is [device.ErrRunning], and until the
// kernel does end all calls return it instead of blocking behind it. The process
// can report and exit; the operating system then clears the GPU.
//
// # Compiling, and what is kept
//
// Load has the driver compile a module as a whole, which is its best code. The driver
// keeps the result on disk by itself (see CUDA_CACHE_PATH, CUDA_CACHE_MAXSIZE and
// CUDA_CACHE_DISABLE), but hands it to nobody. Only its linker returns machine code,
// and that compiles PTX as relocatable, with a stack, calls and different registers:
// not what a kernel should be measured in. So [JIT.Relocatable] is for many modules
// that are loaded often and need not be fast. Its code is kept in the process and on
// disk under a SHA-256 of the text, the options, the driver and the GPU, in attest's
// folder of [os.UserCacheDir] or where ATTEST_CACHE says; ATTEST_CACHE=off keeps
// nothing.
package cuda
