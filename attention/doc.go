// Package attention computes FP8 attention in Go programs: O = softmax(Q·Kᵀ·scale)·V, on a
// GPU or on the emulator, without a C++ build and without the CUDA toolkit.
//
//	dev, err := device.Open("") // a GPU if there is one, otherwise the emulator
//	op, err := attention.New(dev, attention.Problem{Shape: attention.Square(1, 8, 512, 64)})
//	r, err := op.Run(ctx, attention.F32(q), attention.F32(k), attention.F32(v))
//
// [New] chooses the kernel. On Hopper, for e4m3 and e5m2, it is a design of
// kernels/attn/hopper, which also computes causal masks, grouped heads, and K and V of
// another length than Q. On other GPUs, and for other formats, it is a stage of
// kernels/attn/stages. [Op.Kernel] returns the kernel that was chosen.
//
// [Op.Run] takes tensors in host memory. It quantises those that are not quantised yet,
// and copies the result back. A program whose tensors are in device memory calls
// [Op.Launch], or [Op.Queue] to put the kernel on its own stream.
package attention
