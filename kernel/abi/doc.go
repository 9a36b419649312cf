// Package abi reads JSON files that describe how a kernel is called: a [kernel.Kernel]
// without its PTX. With such a file, attest can judge PTX from any compiler.
//
// A file has one of two forms. The short form describes an attention kernel that needs one
// launch. This example describes a Triton kernel. It takes e5m2 inputs without scales,
// processes 128 rows per block, and multiplies the logits by log2(e) because it computes
// powers of two:
//
//	{
//	  "entry": "attn", "format": "e5m2", "scaling": "none", "p": "e5m2",
//	  "params": [
//	    {"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"},
//	    {"i32": "Sq"}, {"f32": "scale*1.4426950408889634"}, {"u64": "0"}, {"u64": "0"}
//	  ],
//	  "grid": ["cdiv(Sq, 128)", "B*H"], "block": [128], "shared": "200*1024",
//	  "require": ["D == 64", "Sq == Skv", "Sq % 128 == 0"]
//	}
//
// # Fields of the short form
//
//	"entry"        the name of the kernel in the PTX
//	"format"       the format of Q, K and V: e4m3, e5m2, u8, u8-legacy, f16, bf16 or f32
//	"scaling"      the factors of Q, K and V. "per-head": one float per head, [H] for Q
//	               and [Hkv] for K and V. "per-tensor": one float per tensor. "none": no
//	               factors. The default is "per-head" for formats of one byte and
//	               "none" for the others
//	"output"       the format of O: f16 (the default), bf16 or f32
//	"p"            the format to which the kernel rounds the softmax weights before it
//	               multiplies them by V: f32, f16 (the default), bf16, e4m3 or e5m2. The
//	               tolerance depends on it, so it must have at least as many bits as the
//	               inputs; f16 is also enough for f32 inputs
//	"accumulator"  the format of the sums of products: f32 (the default) or f16
//	"layout"       the layout of Q, K, V and O in memory: BHSD (the default) or BSHD
//	"causal"       true if each query sees only the keys up to its own position; the
//	               last query sees all keys. The default is false
//	"params"       the parameters of the kernel in their order; see below
//	"grid", "block", "cluster"
//	               one to three expressions each; a dimension that is left out is 1
//	"shared"       an expression: the bytes of dynamic shared memory. The default is 0
//	"require"      a list of conditions on the shape. The kernel runs only on shapes that
//	               meet all of them. A condition is an expression, or
//	               {"holds": expression, "why": a sentence for the user}
//	"declares"     special registers, such as "%smid", and module variables that differ
//	               between launches and that the kernel reads on purpose. Such a
//	               variable must be .visible: attest restores it between launches
//
// "entry", "format", "params", "grid" and "block" are required.
//
// # Parameters
//
// A parameter is an object with exactly one of these fields:
//
//	"pointer": name
//	           the address of q, k, v, o, lse (floats, [B,H,Sq]), the scales qs, ks, vs
//	           (floats), sinks (floats, one logit per head of Q), or a workspace. A workspace also has "bytes", an expression. Its
//	           contents are arbitrary, unless it has "zero": true; attest then fills it
//	           with zeros before each launch
//	"u8" … "u64", "i8" … "i64": expression
//	           an integer
//	"f16", "bf16", "f32", "f64": expression
//	           a floating-point number
//	"tensormap": object
//	           a tensor map with these fields:
//	           "pointer"  the tensor: q, k, v or o
//	           "type"     the type of the elements: u8, f16, bf16, …
//	           "dims"     the extents in elements, innermost first
//	           "box"      the extents of the box in elements, innermost first
//	           "strides"  the strides in bytes of all dimensions except the innermost. By
//	                      default the tensor is contiguous
//	           "swizzle"  "none", "32B", "64B" or "128B"
//	           "fill"     the value of elements outside the tensor: "zero" or "nan"
//
// # The whole form
//
// A file with "launches" describes a whole [kernel.Kernel]. It can have several launches,
// named workspaces, strides, and a list of the features that the kernel supports. [Write]
// writes this form, and so does every command that writes a kernel to a file. The fields are
// those of the Go types:
//
//	{
//	  "op": "attention", "fixed": {"D": "64", "format": "f16", "mask": "none"},
//	  "supports": ["lse"], "require": […], "let": [{"name": "parts", "value": "4"}],
//	  "operands": [{"name": "q", "type": "f16", "role": "input", "dims": ["B", "H", "Sq", "D"]}, …],
//	  "launches": [{"entry": "split", "args": […], "grid": […], "block": […]}, …],
//	  "claims": {"p": "f16"}
//	}
//
// # Expressions
//
// Package expr documents the grammar. An expression may use these names:
//
//	B, H, Hkv, Sq, Skv, D   the extents of the problem; S is another name for Sq
//	SMs                     the number of SMs of the device
//	BlocksPerSM             the number of blocks that fit on one SM; only in "grid"
//	scale                   the factor of the logits, a float
//	softcap                 the bound of the logits, a float; 0 is none. A kernel that
//	                        takes it as an argument supports it
//	window_left, window_right  how many keys a query sees before and after its own; -1 is
//	                        all. A kernel that takes one of them as an argument has a
//	                        sliding window, aligned so that the last query stands at the
//	                        last key
//	qs, ks, vs              the scales if "scaling" is "per-tensor", floats; only in
//	                        parameters
package abi
