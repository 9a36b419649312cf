// Package examples holds kernels that teach. Each shows one idea on at most a page. Read
// them in this order:
//
//	saxpy.go      threads, parameters, a bound check
//	reduce.go     a loop, shuffles, shared memory, a barrier
//	transpose.go  a shared tile, padded against bank conflicts
//	pipeline.go   cp.async into two buffers
//	matmul.go     ldmatrix and mma.sync: a 64x64 tile of a matrix product
//	ring.go       the copy engine, mbarriers, a producer and its consumers
//	wgmma.go      a warpgroup's FP8 matrix product from swizzled tiles
//
// Each function returns a kernel, and [All] lists the kernels. Their PTX is in testdata.
package examples
