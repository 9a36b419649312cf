// Package cuda runs kernels on an NVIDIA GPU through the CUDA driver, without cgo and
// without the CUDA toolkit. It opens libcuda at run time. The driver compiles PTX to
// machine code.
//
// # Machines without a GPU
//
// A machine without the library or without a GPU is a normal case: [List] and [Open] then
// return an error that is [device.ErrNoDevice] and says what is missing. An older driver
// lacks some entries. A call that needs such an entry fails with a [*MissingError] that
// names the entry and the first driver that has it. All other calls work.
//
// # Goroutines and threads
//
// CUDA stores the current context per thread, and goroutines change threads. Each call
// therefore pins its goroutine to a thread, makes the GPU's primary context current and then
// calls the driver. For launches, which are frequent, this would cost too much. As long as
// the process has used only one GPU, a thread has that GPU's context or none. A launch is
// therefore tried without setting the context, and repeated with the context set if the
// driver says that there is none. All types may be used by several goroutines at once.
//
// # Faults and hangs
//
// A kernel that faults makes the CUDA context unusable for the rest of the process: the
// launch returns a [*LaunchError] that is [device.ErrLost], and all later calls return such
// an error too. A kernel that hangs cannot be stopped. Waiting is implemented by polling, so
// the wait ends when the context.Context ends. The error is then [device.ErrRunning]. Until
// the kernel ends, all calls return this error instead of blocking. The process can report
// the error and exit. The operating system then frees the GPU.
//
// # Compiling and caching
//
// By default, Load lets the driver compile a module as a whole. This gives the fastest code.
// The driver caches the result on disk (see CUDA_CACHE_PATH, CUDA_CACHE_MAXSIZE and
// CUDA_CACHE_DISABLE), but does not return it. Only the driver's linker returns machine
// code. The linker compiles PTX as relocatable code, with a stack, calls and a different
// register allocation, so a kernel must not be measured in this form. [JIT.Relocatable] is
// for many modules that are loaded often and need not be fast. The cache for this code is in
// the process and on disk, in attest's folder of [os.UserCacheDir] or in the folder that
// ATTEST_CACHE names. The key is a SHA-256 of the text, the options, the driver and the GPU.
// ATTEST_CACHE=off disables the cache.
package cuda
