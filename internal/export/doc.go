// Package export writes kernels for programs that are not written in Go: one file of Python for
// PyTorch or CuPy, one C header, or JSON with the PTX and its call.
//
// Every export carries a [Bundle]: the kernels with their calls, the choice between them, the
// licence, the versions, and the records in which the kernels were measured. The code around the
// bundle only reads it, so [Verify] can write the file again and compare every byte.
package export
