// Package abi reads files that say how a kernel from elsewhere is called: a
// [kernel.Kernel] without its PTX, as JSON. With such a file, PTX of any origin can be
// judged.
//
// A file has one of two forms. The short form describes a kernel that computes attention
// with one launch. This is a kernel of Triton, which takes e5m2 without scales, in blocks
// of 128 rows, and computes with powers of two:
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
//	"entry"    the name of the kernel in the PTX
//	"format"   of Q, K and V: e4m3, e5m2, u8, u8-legacy, f16, bf16 or f32
//	"scaling"  what their values are multiplied by: "per-head" (one float per head, [H]
//	           for Q and [Hkv] for K and V), "per-tensor" (one float) or "none".
//	           The default is per-head for formats of one byte, else none
//	"output"   of O: f16, bf16 or f32; the default is f16
//	"p"        what the kernel rounds the weights of the softmax to before it
//	           multiplies them with V: f32, f16, bf16, e4m3 or e5m2; the default is
//	           f16. It decides which error is expected, so it must have at least the
//	           bits of the inputs (f16 is enough for f32)
//	"accumulator"  what sums of products are kept in: f32 or f16; the default is f32
//	"layout"   of Q, K, V and O in memory, BHSD or BSHD; the default is BHSD
//	"causal"   true when keys after the query are hidden; the last query sees all
//	"params"   the parameters in their order, see below
//	"grid", "block", "cluster"  one to three expressions each; what is left out is 1
//	"shared"   bytes of dynamic shared memory, an expression; the default is 0
//	"require"  what must hold of a shape for the kernel to serve it: an expression, or
//	           {"holds": expression, "why": the sentence that a user reads}
//	"declares" special registers such as "%smid" and variables of the module that the
//	           kernel reads on purpose although they differ between launches
//
// # Parameters
//
// A parameter is an object with exactly one of
//
//	"pointer": name    the address of q, k, v, qs, ks, vs (floats), o, lse (floats,
//	                   [B,H,Sq]) or workspace, which also has "bytes", an
//	                   expression, and perhaps "zero": true if it must be zeroed
//	                   before a launch; otherwise its contents are arbitrary
//	"u8" … "u64", "i8" … "i64": expression
//	"f16", "bf16", "f32", "f64": expression, which may have fractions
//	"tensormap": {…}   "pointer" says of what; "type" (u8, f16, bf16, …), "dims" and
//	                   "box" in elements, innermost first, "strides" in bytes of all
//	                   but the innermost (contiguous by default), "swizzle" ("none",
//	                   "32B", "64B", "128B") and "fill" ("zero" or "nan")
//
// # The whole form
//
// A file with "launches" is a whole [kernel.Kernel]: several launches, workspaces with
// names, strides, features that the kernel supports. [Write] writes it, and so do commands
// that write kernels. Its fields are those of the Go types:
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
// Package expr has the grammar. The names are
//
//	B, H, Hkv, Sq, Skv, D   the extents; S is Sq
//	SMs                     of the device
//	BlocksPerSM             how many blocks one SM holds; only in a grid
//	scale                   the factor of the logits, a float
//	qs, ks, vs              the scales with "per-tensor", floats; only in arguments
package abi
