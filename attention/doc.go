// Package attention computes FP8 attention in Go programs: O = softmax(Q·Kᵀ·scale)·V, on a
// GPU or on the emulator, without a C++ build and without the CUDA toolkit.
//
//	dev, err := device.Open("") // a GPU if there is one, otherwise the emulator
//	op, err := attention.New(dev, attention.Problem{Shape: attention.Square(1, 8, 512, 64)})
//	r, err := op.Run(ctx, attention.F32(q), attention.F32(k), attention.F32(v))
//
// [New] chooses the kernel. For e4m3 and e5m2 it is a design of kernels/attn/hopper on Hopper,
// and a design of kernels/attn/ada on other GPUs from Ampere on and for head dimensions that
// hopper does not support. Both also compute causal masks, grouped heads, and K and V of another
// length than Q. Problems with few queries and many keys get kernels/attn/decode, and other formats
// a stage of kernels/attn/stages. [Op.Kernel] returns the kernel that was chosen, and [Op.Explain]
// says why.
//
// [Op.Run] takes tensors in host memory. It quantises those that are not quantised yet,
// and copies the result back. A program whose tensors are in device memory calls
// [Op.Launch], or [Op.Queue] to put the kernel on its own stream. A server, whose batch changes
// from step to step, makes a [Plan] for each step. [NewAppend] and [NewMerge] prepare what else a step needs:
// storing new keys and values in the cache, and merging partial results.
package attention
