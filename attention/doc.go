// Package attn is FP8 attention for Go programs: O = softmax(Q·Kᵀ·scale)·V on
// whatever device there is, with no C++ build and no toolkit.
//
//	dev, err := device.Open("") // a GPU if there is one, else the emulator
//	op, err := attn.New(dev, attn.Problem{Shape: Square(1, 8, 512, 64), Format: problem.E4M3})
//	r, err := op.Run(ctx, attn.F32(q), attn.F32(k), attn.F32(v))
//
// [New] picks the kernel: the first of [Preference] that can compute the problem on
// the device. On Hopper that is the family of kernels/attn/hopper for e4m3 and e5m2,
// which also has causal masks, heads that share K and V, and K and V of another length;
// elsewhere, and for the other formats, a stage of kernels/attn. [Op.Preset] and
// [Op.Config] say which it took. [Op.Run] takes numbers of the host, quantises them as far as they are
// not, and brings the result back. Programs whose numbers are on the device already
// call [Op.Launch], or [Op.Queue] to put the kernel on a stream among their own work.
//
// The kernels are written in kernels/attn and kernels/attn/hopper; nothing here knows how
// they work.
package attention
